"""Fetch a dataset or a model: whole, verified, pinned to a revision, and once.

`source.py` is the protocol a scheme's module is written against, `engine.py` what is the same for all.
`python -m kfp_trainer.runtime_operator.workloads.fetch dataset|model` is what initializers run.
"""
