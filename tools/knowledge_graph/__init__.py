"""The diagnostic knowledge graph (MedRAG, arXiv 2502.04413): four levels, votes, ranking, questions, look-up."""
