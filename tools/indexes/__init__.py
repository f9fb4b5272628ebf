"""Indexes that search by words and by meaning: the contract, the embedded engine, the one in memory, and Milvus."""
