"""Two runs of an evaluation held against each other."""
