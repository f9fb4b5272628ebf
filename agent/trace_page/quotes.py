"""Quotes inside the text of their source: statements point at them, and they point back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from graphs.answering.contract import Answer
from tools.evidence import Citation, Evidence, Statement


class Quote(NamedTuple):
    """A citation of a statement. ``id`` is its place in the page, ``exact`` whether it is the slice that it names."""

    id: str
    statement: str
    number: str
    citation: Citation
    exact: bool


class Told(NamedTuple):
    """A statement of the answer (``S1``) or of the report (``R1``), with its quotes."""

    id: str
    number: str
    part: str
    statement: Statement
    quotes: tuple[Quote, ...]


def parts_of(told: Sequence[Told]) -> list[tuple[str, list[Told]]]:
    """The statements of the report by part, in order of first appearance."""
    parts: dict[str, list[Told]] = {}
    for line in (t for t in told if t.part):
        parts.setdefault(line.part, []).append(line)
    return list(parts.items())


class Piece(NamedTuple):
    """A piece of a source's text with the quotes that cover it; ``begin`` are those that begin with it."""

    text: str
    quotes: tuple[Quote, ...]
    begin: tuple[Quote, ...]
    end: tuple[Quote, ...]


def statements_of(answer: Answer | None, evidence: Sequence[Evidence], prefix: str) -> list[Told]:
    """The statements of an answer and of its report, in order. ``prefix`` sets two runs of one page apart."""
    if answer is None:
        return []
    known = {e.id: e for e in evidence}
    told = [_told(f"S{n}", "", s, known, prefix) for n, s in enumerate(answer.statements, 1)]
    if answer.report is not None:
        lines = enumerate(answer.report.statements, 1)
        told += [_told(f"R{n}", _part(s.part, s.discipline), s.statement, known, prefix) for n, s in lines]
    return told


def pieces(evidence: Evidence, quotes: Sequence[Quote]) -> list[Piece]:
    """The text cut wherever a quote begins or ends, so that quotes may overlap."""
    size = len(evidence.text)
    inside = [q for q in quotes if q.citation.start < min(q.citation.end, size)]
    cuts = {0, size, *(q.citation.start for q in inside), *(min(q.citation.end, size) for q in inside)}
    ends = sorted(cuts)
    out = []
    for start, end in pairwise(ends):
        over = tuple(q for q in inside if q.citation.start <= start and end <= q.citation.end)
        begin = tuple(q for q in over if q.citation.start == start)
        out.append(Piece(evidence.text[start:end], over, begin, tuple(q for q in over if q.citation.end == end)))
    return out


def _told(number: str, part: str, statement: Statement, known: dict[str, Evidence], prefix: str) -> Told:
    place = f"{prefix}{number}"
    quotes = tuple(
        Quote(f"{place}-{n}", place, f"{number}.{n}" if len(statement.citations) > 1 else number, c, _exact(c, known))
        for n, c in enumerate(statement.citations, 1)
    )
    return Told(place, number, part, statement, quotes)


def _exact(citation: Citation, known: dict[str, Evidence]) -> bool:
    source = known.get(citation.evidence_id)
    return source is not None and source.text[citation.start : citation.end] == citation.quote


def _part(part: str, discipline: str | None) -> str:
    return f"{part}: {discipline.replace('_', ' ')}" if discipline else part
