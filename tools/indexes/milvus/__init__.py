"""Milvus as the index of a collection: embedded in a file of this machine, or a cluster by its address."""
