"""The mirror's answers in the shapes of NCBI's E-utilities, and the server that gives them."""
