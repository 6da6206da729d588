"""Fine-tune a language model, then compare it with its base."""
