"""One module a kind of source; `schemes.py` says which serves what."""
