"""The web page: static files of our own, served beside the API that they call. It loads nothing from elsewhere."""

from __future__ import annotations

from agent.web.serving import mount

__all__ = ["mount"]
