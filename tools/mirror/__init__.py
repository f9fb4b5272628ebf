"""A PubMed of one's own: the query language of PubMed and an engine for it on this machine."""
