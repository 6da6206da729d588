"""Fine-tune a causal language model on a folder of data."""
