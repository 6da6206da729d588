"""Runs the JobSet of a Plan as processes on this machine."""
