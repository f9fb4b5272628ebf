"""MedCPT as retrieval streams: long queries, long articles, the cross-encoder, the published vectors of PubMed."""
