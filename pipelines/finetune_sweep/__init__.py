"""Fine-tune with several settings; the best model goes on."""

from .pipeline import finetune_sweep

__all__ = ["finetune_sweep"]
