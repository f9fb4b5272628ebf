"""MeSH descriptors: entry terms and the tree. None are shipped; an import may provide them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Descriptors(Protocol):
    """A table of MeSH descriptors. Names are compared as `tools.mirror.words.key` makes them."""

    def heading(self, name: str) -> str | None:
        """The heading that a heading or entry term names, as MeSH writes it; None when it is neither."""

    def narrower(self, name: str) -> Sequence[str]:
        """All headings below a heading, as MeSH writes them; none when it is not known."""
