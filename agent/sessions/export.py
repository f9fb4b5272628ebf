"""A session as a file: JSON with a version, or Markdown for people; its references. docs/sessions.md describes them."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.mirror import searched
from agent.sessions.contract import Review, SessionRecord, TurnRecord
from agent.sessions.ids import now
from agent.sessions.turns import CALLS, Call, TurnRow
from graphs.answering.contract import Answer
from graphs.answering.presentation import statements_of
from graphs.answering.rendering import escaped, markdown_of
from prompts.errors import AnamnesisError, DataError
from tools.contract import ToolArtifact
from tools.evidence import Origin
from tools.literature.article import Article
from tools.literature.client import EUtilities
from tools.literature.report import account
from tools.literature.settings import LiteratureSettings
from tools.literature.strategy import SearchStrategy, strategies_of
from tools.references.contract import Collected, collected
from tools.store import TextStore

FORMATS = ("json", "markdown")
EXPORT_SCHEMA = 1  # raised with every change of a field's meaning


class Search(BaseModel):
    """What a tool was asked in a turn, and how it went about it.

    Attributes:
        found: ids of the evidence that came back, in order.
        strategies: each search of PubMed or of a mirror, whole: saved in a file, `anamnesis search --rerun` repeats it.
        steps: what other sources did (the library, stored questions, gaps), as the tool tells it.
    """

    model_config = ConfigDict(extra="forbid")

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    outcome: str
    found: list[str] = Field(default_factory=list)
    strategies: list[SearchStrategy] = Field(default_factory=list)
    steps: list[dict[str, Any]] = Field(default_factory=list)


class ExportedTurn(TurnRecord):
    """A turn with what was searched for it."""

    searches: list[Search] = Field(default_factory=list)


class SessionExport(BaseModel):
    """A whole session."""

    model_config = ConfigDict(extra="forbid")

    format: Literal["anamnesis-session"] = "anamnesis-session"
    schema_version: int = EXPORT_SCHEMA
    program: str
    exported_at: str
    session: SessionRecord
    turns: list[ExportedTurn]


def exported(format: str, whole: SessionExport) -> str:
    """The session in one of the `FORMATS`."""
    if format == "json":
        return whole.model_dump_json(indent=2) + "\n"

    return as_markdown(whole)


def gathered(
    record: SessionRecord, turns: Sequence[TurnRecord], rows: Sequence[TurnRow], texts: TextStore
) -> SessionExport:
    """The session with what was searched in each turn."""
    keys = {row.turn: row.searches for row in rows}
    return SessionExport(
        program=f"anamnesis {version('anamnesis')}",
        exported_at=now(),
        session=record,
        turns=[ExportedTurn(**dict(turn), searches=_searches(keys.get(turn.turn, ""), texts)) for turn in turns],
    )


def _searches(key: str, texts: TextStore) -> list[Search]:
    return [_search(call, texts) for call in CALLS.validate_json(texts.get(key))] if key else []


def _search(call: Call, texts: TextStore) -> Search:
    plain = Search(tool=call.tool, arguments=call.arguments, outcome=call.outcome)
    if not call.key:
        return plain
    try:
        artifact = ToolArtifact.model_validate_json(texts.get(call.key))
    except (DataError, ValueError):  # another version's, or gone: the call itself is still told
        return plain
    strategies, steps = strategies_of(artifact.strategy)
    found = [item.id for item in artifact.evidence]
    return plain.model_copy(update={"found": found, "strategies": strategies, "steps": steps})


# The references of answers and searches, filled in from the records of PubMed that this machine holds.


async def references_of(turns: Sequence[ExportedTurn], settings: LiteratureSettings) -> Collected:
    """What the answers of some turns cite, each document once, in the order of the turns."""
    answers = [turn.answer for turn in turns if turn.answer is not None]
    cited = {c.evidence_id for a in answers for s in statements_of(a) for c in s.citations}
    items = [item for answer in answers for item in answer.evidence if item.id in cited]
    found = [d for turn in turns for search in turn.searches for s in search.strategies for d in s.documents]
    copies = {d.text: d.id.partition(":")[2] for d in found if d.text and d.text != d.id}
    named = [item.document_id.partition(":")[2] for item in items if item.id.startswith("pubmed:")]
    pmids = [*named, *(copies[item.document_id] for item in items if item.document_id in copies)]
    held, failed = await _held(pmids, settings)
    return collected(items, held, copies, failed)


async def _held(pmids: Sequence[str], settings: LiteratureSettings) -> tuple[dict[str, Article], str]:
    """Records by PMID out of the mirror of the settings and of what PubMed's answers left here; PubMed is not asked.

    A mirror that fails costs fields and not the export: what went wrong stands beside the records.
    """
    held: dict[str, Article] = {}
    if not pmids:
        return held, ""
    failed = ""
    if settings.mirror is not None:
        try:
            mirror = searched(settings).pubmed
            if mirror is not None:
                with contextlib.closing(mirror):
                    held = {a.pmid: a for a in await mirror.fetch(list(dict.fromkeys(pmids)))}
        except AnamnesisError as error:
            failed = str(error)
    return await EUtilities(settings).kept(pmids) | held, failed


# A session as Markdown: each turn with its message, answer, quotes, differential, notices, review and searches.

RESEARCH = "This is research software. It is no medical device, and its answers are no medical advice."
VERDICTS = {"accepted": "Accepted", "corrected": "Corrected", "rejected": "Rejected"}


def as_markdown(session: SessionExport) -> str:
    """The session, ending in a line break."""
    record = session.session
    times = f"begun {_time(record.created)}, last used {_time(record.updated)}, {_turns(record.turns)}"
    told = [
        f"# {escaped(record.title) or 'Session'}",
        f"Session `{record.id}`, {times}. Exported {_time(session.exported_at)} by {session.program}.",
        RESEARCH,
    ]
    for turn in session.turns:
        told += _turn(turn)
    return "\n\n".join(part for part in told if part) + "\n"


def turn_alone(session: SessionExport) -> str:
    """The one turn of an export, as a reader wants it: the question, the answer, when, and by what."""
    (turn,) = session.turns
    made = (
        f"Session {session.session.id}, turn {turn.turn}, asked {_time(turn.asked_at)}; {session.program}. {RESEARCH}"
    )
    answer = "*No answer: the turn was cut off.*" if turn.answer is None else markdown_of(turn.answer, kept=True)
    review = list(_review(None, turn.review))
    return "\n\n".join([f"# {' '.join(escaped(turn.asked).split())}", answer, *review, f"*{made}*"]) + "\n"


def _turn(turn: ExportedTurn) -> Iterable[str]:
    yield f"## Turn {turn.turn}"
    yield f"Asked {_time(turn.asked_at)}:"
    yield _quoted(turn.asked)
    if turn.answer is None:
        yield "*No answer: the turn was cut off.*"
    else:
        yield "### Answer"
        yield markdown_of(turn.answer, whole=True, kept=True)
        yield from _generated(turn.answer)
    yield from _review(turn.answer, turn.review)
    yield from _told_searches(turn.searches)


def _generated(answer: Answer) -> Iterable[str]:
    texts = [e for e in answer.evidence if e.origin is Origin.GENERATED]
    own = [s for s in statements_of(answer) if s.origin is Origin.PARAMETRIC]
    if texts or own:
        yield "### Generated text"
        yield f"{len(own)} of {len(statements_of(answer))} statements rest on no source."
        yield from (f"`{e.id}`, written by a model, not literature:\n\n{_quoted(e.text)}" for e in texts)


def _review(answer: Answer | None, review: Review | None) -> Iterable[str]:
    asked = answer.review_reasons if answer is not None else []
    if asked or review is not None:
        yield "### Review"
    if asked:
        yield "A clinician's review is asked for:\n\n" + "\n".join(f"- {escaped(r.text)}" for r in asked)
    if review is not None:
        by = f" by {escaped(review.reviewer)}" if review.reviewer else ""
        yield f"**{VERDICTS[review.verdict]}**{by}, {_time(review.at)}."
        if review.correction:
            yield _quoted(review.correction)
    elif asked:
        yield "*Not reviewed yet.*"


def _told_searches(searches: Sequence[Search]) -> Iterable[str]:
    if searches:
        yield "### How it was searched"
    for number, search in enumerate(searches, start=1):
        asked = json.dumps(search.arguments, ensure_ascii=False)
        yield f"{number}. `{search.tool}`: {search.outcome.replace('_', ' ')}, {len(search.found)} pieces of evidence."
        yield _code(asked)
        for step in search.steps:
            yield _code(json.dumps(step, ensure_ascii=False))
        for strategy in search.strategies:
            yield re.sub(r"^#", "####", account(strategy), flags=re.M).strip()  # below the turn's own headings


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in map(escaped, text.splitlines()))


def _code(text: str) -> str:
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"{fence}\n{text}\n{fence}"


def _time(at: str) -> str:
    return f"{at[:16].replace('T', ' ')} UTC" if at else "at an unknown time"


def _turns(count: int) -> str:
    return "1 turn" if count == 1 else f"{count} turns"
