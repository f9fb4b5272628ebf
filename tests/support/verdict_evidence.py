"""Pieces of evidence for tests of verdicts, and the quotes that a judge gives of them."""

from __future__ import annotations

from typing import Any

from graphs.verdicts.contract import Ruling, Sentence
from tools.evidence import Evidence, Origin


def piece(text: str, name: str = "1", collection: str = "pubmed", **more: Any) -> Evidence:
    fields: dict[str, Any] = {"kind": "abstract", "origin": Origin.RETRIEVED, **more}
    return Evidence(id=f"{collection}:{name}@0-{len(text)}", text=text, **fields)


def sentence(text: str, more: str = "", **fields: Any) -> Sentence:
    """A sentence at the head of a piece of evidence that goes on with ``more``."""
    return Sentence(piece(f"{text} {more}".strip(), **fields), 0, len(text))


def quote(item: Evidence, text: str) -> Sentence:
    """A sentence of a piece of evidence."""
    start = item.text.index(text)
    return Sentence(item, start, start + len(text))


def carrying(ruling: Ruling) -> list[str]:
    return [s.text for s in ruling.carrying]
