"""The player of `evals.scripted`, and a server that plays a whole conversation."""

from __future__ import annotations

from evals.scripted.player import in_form, play, reply_to, role_of, schema_of

__all__ = ["in_form", "play", "reply_to", "role_of", "schema_of"]
