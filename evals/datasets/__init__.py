"""Readers of evaluation data: every row is checked, and a damaged one is named by its number."""
