"""The completeness gate: units, labels, score, thresholds (ICA-RAG)."""
