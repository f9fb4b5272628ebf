"""Every piece of evidence of a run: found where, kept or dropped by whom and why, quoted where; and how that was found.

Statements point at the quotes in their sources, and the quotes point back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from agent.trace_page.happened import Happened, Kept, StepRun, Texts, ToolRun, happened
from graphs.answering.contract import Answer
from graphs.answering.presentation import source_facts
from tools.contract import Outcome
from tools.evidence import Citation, Evidence, EvidenceId, Found, Origin, Statement

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


# How an answer was found, out of its trace: what was done, where was searched with how many hits, what is not used.

Fate = Literal["not_quoted", "filtered", "not_selected", "not_judged", "excluded"]
FATE_OF: dict[str, Fate] = {
    "kept": "not_quoted",
    "dropped by the filter": "filtered",
    "dropped by KADS": "not_selected",
    "not judged": "not_judged",
}  # of the trace page, the nearest to the answer first
AWAY = ("pubmed_off", "pubmed_unreachable", "pubmed_failed")  # notices that say why PubMed gave nothing
OWN = ("graph", "generated", "case", "calculation", "calculator", "given")  # collections that were not searched for


class Done(BaseModel):
    """A step, or a call of a tool, that ended. ``summary``: what came of it."""

    step: str
    tool: str = ""
    seconds: float
    summary: str = ""


class Place(BaseModel):
    """A place that was searched: ``library``, ``graph``, ``questions`` (those whose answers are known), ``pubmed`` or
    ``mirror``, which has a name.

    Attributes:
        searches: how often. hits: what was listed there, each document once.
        queries: what was searched for, each text once; at PubMed and a mirror as it was sent.
        failed: why it gave nothing, or not all; "" where nothing went wrong.
    """

    place: str
    name: str = ""
    searches: int = 0
    hits: int = 0
    queries: list[str] = []
    failed: str = ""


class Unused(BaseModel):
    """A document that was found and that no sentence of the answer cites: how far it came, and the whole reason."""

    id: str
    title: str
    fate: Fate
    reasons: list[str]


class HowFound(BaseModel):
    """How an answer was found."""

    done: list[Done]
    places: list[Place]
    unused: list[Unused]


def how_found(run: str, events: list[dict[str, Any]], texts: Texts) -> HowFound:
    """What a finished run tells of itself.

    Args:
        run: its name. events: its trace. texts: where what it kept lies.
    """
    seen = happened(run, events)
    kept = Kept(seen, texts)
    documents = documents_of(seen, kept, statements_of(kept.answer, kept.evidence(), ""))
    away = {n.code: n.text for n in (kept.answer.notices if kept.answer is not None else ())}
    return HowFound(done=list(_done(seen)), places=_places(seen, away), unused=[*_unused(documents), *_excluded(seen)])


def _done(seen: Happened) -> Iterator[Done]:
    for timed in seen.timed:
        if isinstance(timed, ToolRun):
            count = len(timed.evidence)
            summary = f"{timed.outcome}, {count} pieces of evidence" if count else timed.outcome
            yield Done(step="tools", tool=timed.tool, seconds=timed.seconds, summary=summary.replace("_", " "))
        elif isinstance(timed, StepRun) and timed.step != "tools":
            yield Done(step=timed.step, seconds=timed.seconds, summary=timed.summary)


def _places(seen: Happened, notices: Mapping[str, str]) -> list[Place]:
    found: dict[tuple[str, str], tuple[Place, set[str]]] = {}

    def note(
        place: str,
        ids: Iterable[str],
        name: str = "",
        failed: str = "",
        queries: Sequence[str] = (),
        searches: int = 1,
    ) -> None:
        held, hits = found.setdefault((place, name), (Place(place=place, name=name), set()))
        held.searches += searches
        held.failed = held.failed or failed
        held.queries += [q for q in queries if q not in held.queries]
        hits |= set(ids)

    for call in seen.tools:
        if call.tool == "lookup_differential":
            note("graph", (p.id for p in call.evidence))
        failed = call.outcome == Outcome.UNAVAILABLE and not call.strategy
        if failed:
            note(call.tool, (), failed="; ".join(n.text for n in call.notices))
        asked = str(call.arguments.get("query") or call.arguments.get("question") or "")
        for searched in _searched(call.strategy, asked):
            note(*searched)
        if call.tool == "find_answered_question" and not call.strategy:
            note("questions", (), queries=[asked])
    away = next((notices[code] for code in AWAY if code in notices), "")
    if away and ("pubmed", "") not in found:
        note("pubmed", (), failed=away, searches=0)
    return [place.model_copy(update={"hits": len(hits)}) for place, hits in found.values()]


def _searched(strategy: Sequence[Mapping[str, Any]], text: str) -> Iterator[tuple[str, list[str], str, str, list[str]]]:
    """Each search of a tool call for a text: the place, the ids that it listed, its name, what went wrong, and what was
    searched for: the text, that of a gap, or what was sent."""
    rungs: list[str] = []
    queries: list[str] = []
    asked = [str(s.get("document")) for s in strategy if s.get("step") == "questions"]
    if asked:
        yield "questions", asked, "", "", [text]
    for step in strategy:
        text = str(step.get("gap") or text)
        match step.get("step"):
            case "library":
                yield "library", [str(d.get("id")) for d in step.get("documents") or ()], "", "", [text]
            case "rung":
                rungs += [str(i) for i in step.get("ids") or ()]
                queries.append(str(step.get("query", "")))
            case "records":
                source = step.get("source") or {}
                kind = str(source.get("kind", "pubmed"))
                listed = [str(d.get("id")) for d in step.get("documents") or ()] or rungs
                name = str(source.get("name", "")) if kind == "mirror" else ""
                yield kind, listed, name, str(step.get("failure") or ""), queries
                rungs, queries = [], []


def _unused(documents: Sequence[Document]) -> Iterator[Unused]:
    used = {EvidenceId.parse(d.id).document_id for d in documents if d.fate == "quoted"}
    pieces: dict[str, list[Document]] = {}
    for piece in documents:
        named = EvidenceId.parse(piece.id)
        if named.document_id not in used and named.collection not in OWN and piece.origin != Origin.GENERATED:
            pieces.setdefault(named.document_id, []).append(piece)
    order = list(FATE_OF)
    for document, found in pieces.items():
        best = min(found, key=lambda d: order.index(d.fate))
        reasons = [r for d in found for r in (d.filtered, d.selected) if r]
        yield Unused(id=document, title=best.title, fate=FATE_OF[best.fate], reasons=list(dict.fromkeys(reasons)))


def _excluded(seen: Happened) -> Iterator[Unused]:
    """Records that a search listed and left out itself."""
    for step in (s for call in seen.tools for s in call.strategy if s.get("step") == "records"):
        for record in step.get("excluded") or ():
            why = str(record.get("reason", "")).replace("_", " ")
            yield Unused(id=str(record.get("id")), title=str(record.get("id")), fate="excluded", reasons=[why])
