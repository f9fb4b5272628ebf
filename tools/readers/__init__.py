"""Readers: files of several formats to records with title, text, sections and what a publication says of itself."""
