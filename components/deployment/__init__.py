"""Components that take a model to where it is used."""
