"""Triage by transparent rules (local); the model twin comes beside it."""
