"""Measures that more than one evaluation may use."""
