"""QB-RAG's question tool: questions that the collection is known to answer, found by question."""
