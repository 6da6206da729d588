"""Measure a model on held-out data, base and tuned side by side."""
