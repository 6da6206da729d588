"""Components that train a model."""
