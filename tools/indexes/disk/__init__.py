"""The index of a collection of millions on one machine: BM25 memory-mapped, compressed vectors, rows in SQLite."""
