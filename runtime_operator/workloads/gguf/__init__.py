"""Turn a GGUF file into a model folder that can be trained: safetensors, tokenizer, chat template.

`convert_gguf(file, folder)` is the whole of it; `python -m kfp_trainer.runtime_operator.workloads.gguf` is
the same as a command.
"""

from .convert import convert_gguf
from .facts import GgufFacts, find_gguf, read_facts

__all__ = ["GgufFacts", "convert_gguf", "find_gguf", "read_facts"]
