"""Builds the Containerfiles of this project without a container engine, and runs what they make."""
