"""Decides what happens next to a TrainJob and reports it in its status."""
