"""Kubernetes manifests and training runtimes, shipped as package data."""
