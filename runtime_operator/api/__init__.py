"""The kinds we serve: models, defaults, validation, and the CRDs made from them. No I/O."""
