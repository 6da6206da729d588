"""Fine-tune a language model as a TrainJob."""
