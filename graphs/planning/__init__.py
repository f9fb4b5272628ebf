"""Research planning."""
