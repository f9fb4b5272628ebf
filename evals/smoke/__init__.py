"""The smoke set: a sample of what the project ships, and what its figures are expected to be."""
