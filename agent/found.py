"""How an answer was found, out of its trace: what was done, where was searched with how many hits, what is not used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel

from agent.trace_page.evidence import Document, documents_of, statements_of
from agent.trace_page.happened import Happened, Kept, StepRun, Texts, ToolRun, happened
from tools.contract import Outcome
from tools.evidence import EvidenceId, Origin

Fate = Literal["not_quoted", "filtered", "not_selected", "not_judged", "excluded"]
FATES: dict[str, Fate] = {
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
    order = list(FATES)
    for document, found in pieces.items():
        best = min(found, key=lambda d: order.index(d.fate))
        reasons = [r for d in found for r in (d.filtered, d.selected) if r]
        yield Unused(id=document, title=best.title, fate=FATES[best.fate], reasons=list(dict.fromkeys(reasons)))


def _excluded(seen: Happened) -> Iterator[Unused]:
    """Records that a search listed and left out itself."""
    for step in (s for call in seen.tools for s in call.strategy if s.get("step") == "records"):
        for record in step.get("excluded") or ():
            why = str(record.get("reason", "")).replace("_", " ")
            yield Unused(id=str(record.get("id")), title=str(record.get("id")), fate="excluded", reasons=[why])
