"""Adapt-E: a question or a narrative becomes a typed search plan with Boolean rungs (CoMeta)."""
