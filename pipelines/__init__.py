"""Pipelines made of our components."""
