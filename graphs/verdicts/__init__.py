"""Verdicts on closed questions: only what a cited sentence entails."""
