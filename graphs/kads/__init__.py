"""KADS: the knowledge-aware document selector (MedRGAG)."""
