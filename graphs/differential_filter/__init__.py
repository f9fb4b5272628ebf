"""The differential document filter (ICA-RAG)."""
