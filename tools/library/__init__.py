"""The local library: monographs with questions that they answer, searched by words and by meaning."""
