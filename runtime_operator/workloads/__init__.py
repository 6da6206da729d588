"""What runs inside the containers. Knows nothing of Kubernetes."""
