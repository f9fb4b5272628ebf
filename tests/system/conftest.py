"""The whole system, killed, flooded and poisoned."""

from support.places import place

__all__ = ["place"]
