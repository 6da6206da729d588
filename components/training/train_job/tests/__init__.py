"""Tests of `train_job`."""
