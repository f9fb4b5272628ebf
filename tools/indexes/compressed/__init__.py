"""The parts of an index for millions of vectors: stored rows, plan, training, inverted lists, tuning, building."""
