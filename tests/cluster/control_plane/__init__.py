"""A real Kubernetes control plane without containers: built, started, broken and stopped by tests."""
