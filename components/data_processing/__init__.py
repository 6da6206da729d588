"""Components that bring and check what is trained on."""
