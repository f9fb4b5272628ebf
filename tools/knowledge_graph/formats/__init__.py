"""Graphs as plain files: a folder of YAML, JSON, triples as CSV, GraphML; each holds everything of a graph."""
