"""What the measurements of the operator share: planes, managers, load."""
