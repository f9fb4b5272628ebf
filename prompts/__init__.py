"""Everything said to a language model, and the shape of its reply. The lowest layer: it imports none of the others."""
