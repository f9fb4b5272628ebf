"""Answering: extractive statements, differentials, choices, abstention."""
