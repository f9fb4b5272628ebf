"""Every piece of evidence of a run: found where, kept or dropped by whom and why, and quoted where in its text.

Statements point at the quotes in their sources, and the quotes point back.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from agent.trace_page.happened import Happened, Kept
from graphs.answering.contract import Answer
from graphs.answering.presentation import source_facts
from tools.evidence import Citation, Evidence, Found, Statement

FATES = {  # in the order of the page; what each means
    "quoted": "a statement quotes it",
    "kept": "kept by selector and filter, but no statement quotes it",
    "dropped by the filter": "the differential filter dropped it",
    "dropped by KADS": "the selector did not take it",
    "not judged": "found, and neither selected nor filtered: entries of the graph, records, a run that was cut off",
}


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


class Document(NamedTuple):
    """A piece of evidence. ``evidence``: None when its text is gone; ``selected``, ``filtered``: the reasons."""

    id: str
    title: str
    fate: str
    found: tuple[Found, ...]
    selected: str
    filtered: str
    evidence: Evidence | None
    pieces: tuple[Piece, ...]
    quotes: tuple[Quote, ...]

    @property
    def origin(self) -> str:
        """Where its text comes from; by its id when the text is gone."""
        if self.evidence is not None:
            return self.evidence.origin.value
        collection = self.id.partition(":")[0]
        known = {"graph": "knowledge_graph", "generated": "generated", "given": "case", "calculation": "case"}
        return known.get(collection, "retrieved")

    @property
    def facts(self) -> tuple[str, ...]:
        """Level, section, date, status: what there is of them."""
        return source_facts(self.evidence) if self.evidence is not None else ()


def documents_of(happened: Happened, kept: Kept, told: Sequence[Told]) -> list[Document]:
    """Every piece of evidence of a run, by its fate, in the order in which it was found."""
    texts = {e.id: e for e in kept.evidence()}
    ways: dict[str, list[Found]] = {}
    titles: dict[str, str] = {}
    for piece in (p for call in happened.tools for p in call.evidence):
        known = ways.setdefault(piece.id, [])
        known += [f for f in piece.found if f not in known]
        titles.setdefault(piece.id, piece.title)
    quotes: dict[str, list[Quote]] = {}
    for quote in (q for t in told for q in t.quotes):
        quotes.setdefault(quote.citation.evidence_id, []).append(quote)
    judged = [*_selected(happened), *(v.evidence_id for v in happened.verdicts)]
    ids = dict.fromkeys([*ways, *texts, *quotes, *judged])
    found = [_document(i, happened, texts.get(i), ways.get(i, []), titles.get(i, ""), quotes.get(i, [])) for i in ids]
    order = list(FATES)
    return sorted(found, key=lambda d: order.index(d.fate))


def counts(documents: Sequence[Document]) -> list[tuple[str, int, str]]:
    """Fate, how many pieces of evidence have it, what it means; only those that some have."""
    fates = [d.fate for d in documents]
    return [(fate, fates.count(fate), means) for fate, means in FATES.items() if fate in fates]


def _document(
    id: str, happened: Happened, evidence: Evidence | None, ways: list[Found], title: str, quotes: list[Quote]
) -> Document:
    selected, taken = _selected(happened).get(id, ("", None))
    verdict = next((v for v in happened.verdicts if v.evidence_id == id), None)
    filtered = f"{verdict.stance.value} ({verdict.support:.2f}): {verdict.reason}" if verdict is not None else ""
    fate = "not judged"
    if quotes:
        fate = "quoted"
    elif verdict is not None:
        fate = "kept" if verdict.keep else "dropped by the filter"
    elif taken is not None:
        fate = "kept" if taken else "dropped by KADS"
    return Document(
        id=id,
        title=title or (evidence.title if evidence is not None else "") or id.partition("@")[0],
        fate=fate,
        found=tuple(ways) or (evidence.found if evidence is not None else ()),
        selected=selected,
        filtered=filtered,
        evidence=evidence,
        pieces=tuple(pieces(evidence, quotes)) if evidence is not None else (),
        quotes=tuple(quotes),
    )


def _selected(happened: Happened) -> dict[str, tuple[str, bool]]:
    """Of each document that the selector was asked about: its reason, and whether it took the document."""
    if happened.selection is None:
        return {}
    covers = {k.evidence_id: f"; covers: {', '.join(k.covers)}" if k.covers else "" for k in happened.selection.kept}
    kept = {k.evidence_id: (f"kept: {k.reason}{covers[k.evidence_id]}", True) for k in happened.selection.kept}
    return {**{d.evidence_id: (f"dropped: {d.reason}", False) for d in happened.selection.dropped}, **kept}
