"""Indexes that search by words and by meaning: the contract, and the local one (FAISS and bm25s)."""
