"""Components for Kubeflow Pipelines: one folder a component, each a short typed function over the library."""
