"""Components that measure a model."""
