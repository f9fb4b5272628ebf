"""Evidence and citations: the contract between every tool, every judgement and every answer.

An evidence id names a span of a stored document and stays the same when the document is cut differently:
``library:copd-exacerbation@120-348``, ``pubmed:12345678@0-210``, ``pmc:PMC123@...``, ``graph:starter/gerd``,
``record:...``, ``generated:<hash>``. The span counts characters of the stored document.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from prompts.errors import InputError

ID_PATTERN = re.compile(r"^(?P<collection>[a-z][a-z0-9_-]*):(?P<name>[^@\s]+)(?:@(?P<start>\d+)-(?P<end>\d+))?$")


class Origin(StrEnum):
    """Where a text comes from. Shown wherever the text is shown."""

    RETRIEVED = "retrieved"
    KNOWLEDGE_GRAPH = "knowledge_graph"
    GENERATED = "generated"
    PARAMETRIC = "parametric"
    CASE = "case"


class Status(StrEnum):
    """The editorial status of a publication. What is not `usable` never reaches an answer."""

    OK = "ok"
    CORRECTED = "corrected"
    CONCERN = "concern"
    RETRACTED = "retracted"
    RETRACTION_NOTICE = "retraction_notice"
    PREPRINT = "preprint"

    @property
    def usable(self) -> bool:
        """Whether it may support a statement: a retracted work may not, nor may the notice that retracts one."""
        return self not in (Status.RETRACTED, Status.RETRACTION_NOTICE)


class Frozen(BaseModel):
    """A value: immutable, and strict about unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SameWork(Frozen):
    """Documents of one work, in order of rank, and how that is known; ``preprints`` are those of them that are."""

    ids: tuple[str, ...]
    why: str
    preprints: tuple[str, ...] = ()


class EvidenceId(Frozen):
    """The parts of an evidence id."""

    collection: str
    name: str
    start: int | None = None
    end: int | None = None

    @classmethod
    def parse(cls, text: str) -> EvidenceId:
        """Read an id; raises InputError for anything that is not one."""
        match = ID_PATTERN.match(text)
        if match is None:
            raise InputError(f"{text!r} is no evidence id.", "Ids look like library:gerd@120-348.")
        start, end = match["start"], match["end"]
        return cls(
            collection=match["collection"],
            name=match["name"],
            start=None if start is None else int(start),
            end=None if end is None else int(end),
        )

    @property
    def document_id(self) -> str:
        """The id of the whole document."""
        return f"{self.collection}:{self.name}"

    def __str__(self) -> str:
        span = "" if self.start is None else f"@{self.start}-{self.end}"
        return self.document_id + span


class Found(Frozen):
    """One way in which a piece of evidence was found.

    Attributes:
        tool: the tool that found it.
        stream: the retrieval stream (``bm25``, ``dense``, ``pubmed``, ``graph``, ``question``, ...).
        rung: the rung of the Boolean ladder, where there is one.
        query: the exact query.
        rank: position in that stream, from 1.
        score: the stream's own score; comparable within the stream only.
    """

    tool: str
    stream: str
    query: str = ""
    rung: str | None = None
    rank: int | None = None
    score: float | None = None


class Evidence(Frozen):
    """A piece of text that may support a statement, with all that a reader needs to judge it.

    ``start`` and ``end`` are characters of the stored document; ``text`` is that slice. ``level`` is the level of
    evidence in words (``systematic review``, ``randomised trial``, ``monograph``, ...). ``source`` and ``licence``: the
    published set that an imported document belongs to (``anamnesis knowledge``), and its terms; of a document that a
    user put into a session, ``source`` is its file's name. ``reference``: how a publication is cited, in a line.
    """

    id: str
    text: str = Field(min_length=1)
    title: str = ""
    kind: str
    origin: Origin
    publication_types: tuple[str, ...] = ()
    level: str | None = None
    status: Status = Status.OK
    date: str | None = None
    review_by: str | None = None
    section: str | None = None
    language: str = "en"
    source: str | None = None
    licence: str | None = None
    reference: str = ""
    neighbours: tuple[str, ...] = ()
    found: tuple[Found, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> Self:
        parts = EvidenceId.parse(self.id)
        if parts.start is not None and (parts.end or 0) - parts.start != len(self.text):
            raise ValueError(f"{self.id}: the span and the text differ in length")
        if (parts.collection == "generated") != (self.origin is Origin.GENERATED):
            raise ValueError(f"{self.id}: only generated text has a generated id")
        return self

    @property
    def document_id(self) -> str:
        """The id of the document that the text is a slice of."""
        return EvidenceId.parse(self.id).document_id

    @property
    def content_key(self) -> str:
        """sha256 of the whole record: the address under which the content store keeps it."""
        return content_key(self.model_dump_json())

    @property
    def citable(self) -> bool:
        """Whether a statement may cite it: not retracted work, its notice, or generated text."""
        return self.status.usable and self.origin in (
            Origin.RETRIEVED,
            Origin.KNOWLEDGE_GRAPH,
            Origin.CASE,
        )


class Citation(Frozen):
    """A quote that supports a statement: ``evidence.text[start:end] == quote``, checked by `verify_citation`."""

    evidence_id: str
    quote: str = Field(min_length=1)
    start: int = Field(ge=0)
    end: int = Field(ge=1)


class Statement(Frozen):
    """One sentence of an answer: cited, or marked ``parametric``.

    ``named``: exact quotes that a model named for a parametric statement and that no check finds to bear it out: they
    are shown beside it, and support nothing.
    """

    text: str = Field(min_length=1)
    origin: Origin
    citations: tuple[Citation, ...] = ()
    named: tuple[Citation, ...] = ()

    @model_validator(mode="after")
    def _cited_or_parametric(self) -> Self:
        if bool(self.citations) == (self.origin is Origin.PARAMETRIC):
            raise ValueError("a statement is either cited or parametric, never both or neither")
        if self.named and self.citations:
            raise ValueError("only a parametric statement names quotes that do not bear it out")
        return self

    @property
    def quoted(self) -> tuple[Citation, ...]:
        """The quotes that are shown with it: those that it cites, else those that are only named for it."""
        return self.citations or self.named


def content_key(text: str) -> str:
    """sha256 of a text in UTF-8, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


FACTS = ("title", "language", "publication_types", "status", "reference")
OR_UNKNOWN = ("level", "date", "review_by", "source", "licence")


def facts_of(document: Any) -> dict[str, Any]:
    """What a document, or evidence of it, says of itself beside its text, as fields of `Evidence`: None is unknown."""
    unknown = {name: getattr(document, name) or None for name in OR_UNKNOWN}
    return {name: getattr(document, name) for name in FACTS} | unknown


def cite(evidence: Evidence, start: int, end: int) -> Citation:
    """A citation of a slice of a piece of evidence, exact by construction."""
    return Citation(evidence_id=evidence.id, quote=evidence.text[start:end], start=start, end=end)


def verify_citation(citation: Citation, evidence: Evidence) -> bool:
    """Whether the quote is exactly the slice that the citation names, of evidence that may be cited."""
    return (
        citation.evidence_id == evidence.id
        and evidence.citable
        and evidence.text[citation.start : citation.end] == citation.quote
    )


def merge_evidence(items: Iterable[Evidence]) -> list[Evidence]:
    """One record an id, in order of first appearance, keeping every way in which it was found."""
    merged: dict[str, Evidence] = {}
    for item in items:
        known = merged.get(item.id)
        if known is None:
            merged[item.id] = item
        else:
            found = known.found + tuple(f for f in item.found if f not in known.found)
            merged[item.id] = known.model_copy(update={"found": found})
    return list(merged.values())
