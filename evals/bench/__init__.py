"""Benchmarks: ratios and medians measured in one run."""
