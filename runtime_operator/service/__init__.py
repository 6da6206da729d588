"""The operator as one process: controller, admission, progress, leadership, metrics, probes and logs."""
