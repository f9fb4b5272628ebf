"""When an answer asks for a clinician's review."""
