"""A model server by a script: it plays whole conversations and every fault, for benchmarks and tests."""
