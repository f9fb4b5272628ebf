"""Sessions in both databases."""

from support.places import place

__all__ = ["place"]
