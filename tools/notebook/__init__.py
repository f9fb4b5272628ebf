"""What a notebook shows: elements, how they look, and a ranking of diseases as a table."""
