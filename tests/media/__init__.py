"""The pictures of our pages, made from real runs: `python -m tests.media`."""
