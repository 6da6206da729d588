"""Compare a tuned model with its base."""
