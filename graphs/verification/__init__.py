"""Verification of statements against their evidence."""
