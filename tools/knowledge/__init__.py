"""Open sources of medical knowledge: a catalogue of them, readers of their formats, what is imported and how."""
