"""What the processes of `forks.py` have loaded when they begin."""

from importlib import import_module

from kfp_trainer.runtime_operator.workloads.finetune.torchtune.shims import import_torchtune
from kfp_trainer.runtime_operator.workloads.quiet import quiet_libraries

quiet_libraries()
import_torchtune()
PARTS = {
    "torchtune.training": ("FullModelHFCheckpointer",),
    "torchtune.datasets": ("PackedDataset",),
    "torchtune.models.llama3_2": ("lora_llama3_2",),
    "peft": ("PeftModel",),
    "trl": ("SFTTrainer",),
    "lm_eval.models.huggingface": ("HFLM",),
    "transformers": ("AutoModelForCausalLM", "AutoTokenizer", "LlamaForCausalLM"),
}
LOADED = [getattr(import_module(name), part) for name, parts in PARTS.items() for part in parts]
