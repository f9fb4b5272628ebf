"""Judges of answer text: by a language model, and local twins that say what they measure."""
