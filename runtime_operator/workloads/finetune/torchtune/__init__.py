"""The second back end: TorchTune's recipes behind the same settings, outputs and progress.

`train.py` runs a recipe for a settings document; `python -m …finetune.torchtune run …` is TorchTune's own
command `tune run …` with the same repairs, for the runtimes of Trainer's built-in trainer.
"""
