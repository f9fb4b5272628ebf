"""Benchmarks and evaluations, as commands of `anamnesis`."""
