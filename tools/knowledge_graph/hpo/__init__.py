"""Rare diseases: the Human Phenotype Ontology, its annotations, phenotype terms in text, and a ranking."""
