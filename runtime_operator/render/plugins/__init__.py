"""One file a framework or scheduler: what it adds to a TrainJob's pods."""
