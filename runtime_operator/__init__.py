"""Turns TrainJobs into JobSets, on a cluster or on one machine, and holds what runs in their containers."""
