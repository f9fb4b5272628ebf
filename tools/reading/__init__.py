"""The trained reader: what a sentence says of a question."""
