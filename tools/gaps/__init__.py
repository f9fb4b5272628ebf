"""Knowledge gaps: what one must know to answer, what covers it, and one targeted search for each gap (KGCC)."""
