"""A proxy between any client and the API server that breaks what it is told to break."""
