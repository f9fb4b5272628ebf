"""Building a graph from records: diagnoses to L3, topics to L2 and L1, statements to L4, what tells them apart."""
