"""Collections of publications built at scale: files to publications, passages, vectors, parts on disk, an index."""
