"""Medicines by their names: generic names, brands, classes and everyday words for one another."""
