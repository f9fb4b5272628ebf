"""The literature tool: the local library always, and live PubMed when it is on and can be reached (CoMeta)."""
