"""What the passage tool needs of the rooms that hold documents, and the passage itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal, Protocol

from tools.contract import ToolContext
from tools.evidence import Evidence, Frozen, Status

# ours: tokens of all passages of a call, in the encoder's own. Six passages of 128 with an overlap take some 900; the
# rest is room for neighbours and for longer passages.
ROOM = 2048

# how passages are sought: CoMeta's two stages, or ICA-RAG's count of chunks and its arms (`CountedReader`)
Strategy = Literal["two_stage", "chunk_counted", "chunk_reranked", "whole_documents"]


class Passage(Frozen):
    """A passage of a document: ``text[start:end]`` of the stored text.

    Attributes:
        start, end: characters of the document, overlap included.
        core_start, core_end: the passage without the sentences it shares with the one before; cores never overlap.
        section: the heading it stands under, None before the first heading.
        context: title and section, put before the text when it is embedded or searched in; "" when too long.
        lead: characters of the sentence that opens the block of which this is a later part, put between context and
            text when it is embedded or searched in; None for a passage that needs none.
        neighbours: ids of the passages before and after it in the document.
    """

    start: int
    end: int
    core_start: int
    core_end: int
    section: str | None = None
    context: str = ""
    lead: tuple[int, int] | None = None
    neighbours: tuple[str, ...] = ()

    def id(self, document_id: str) -> str:
        """The evidence id of the passage."""
        return f"{document_id}@{self.start}-{self.end}"

    def prefix(self, text: str) -> str:
        """What stands before the passage when it is embedded: its context and its lead, each on a line."""
        lead = text[slice(*self.lead)] if self.lead else ""
        return "".join(f"{part}\n" for part in (self.context, lead) if part)

    def embedded_text(self, text: str) -> str:
        """What is embedded and searched for the passage, of the document's text."""
        return self.prefix(text) + text[self.start : self.end]


class StoredDocument(Frozen):
    """A document as it is stored; every span of an evidence id counts characters of ``text``.

    ``passages``: as its collection was cut when it was built; () where it is cut when it is read.
    """

    id: str
    title: str = ""
    text: str
    kind: str = "document"
    language: str = "en"
    date: str | None = None
    review_by: str | None = None
    publication_types: tuple[str, ...] = ()
    level: str | None = None
    status: Status = Status.OK
    source: str | None = None
    licence: str | None = None
    reference: str = ""
    passages: tuple[Passage, ...] = ()


class DocumentSource(Protocol):
    """Where documents come from. A failure raises; it is never an empty result."""

    def get_document(self, id: str) -> StoredDocument | None:
        """The document with this id, or None when there is none."""

    def find_documents(self, query: str, limit: int) -> list[str]:
        """Ids of at most ``limit`` documents for a query, best first."""

    def every_document(self, most: int) -> list[str] | None:
        """Ids of all documents; None where there are more than ``most``, or they cannot be listed."""


FullTexts = Callable[[Sequence[Evidence], ToolContext], Awaitable[Mapping[str, list[Evidence] | str]]]
"""Gives the full texts of documents of which pieces were found, by the document's id: all its pieces, or what went
wrong; nothing of one that has none. A source that fails raises nothing."""


def evidence_text(item: Evidence) -> str:
    """A piece of evidence as it is embedded and compared: its title and section, then its text."""
    context = context_of(item.title, item.section)
    return f"{context}\n{item.text}" if context else item.text


def context_of(title: str, section: str | None) -> str:
    """The line that tells what a text is about: title and section, whichever there is."""
    return ". ".join(part for part in (title.strip(), (section or "").strip()) if part)


def with_neighbours(document_id: str, passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """The passages of a document, each with the ids of those before and after it."""
    ids = [p.id(document_id) for p in passages]
    return tuple(
        p.model_copy(update={"neighbours": tuple(ids[j] for j in (i - 1, i + 1) if 0 <= j < len(ids))})
        for i, p in enumerate(passages)
    )
