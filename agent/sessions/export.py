"""A session as a file: JSON with a version, or Markdown for people. docs/sessions.md describes both."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.sessions.contract import SessionRecord, TurnRecord
from agent.sessions.searches import CALLS, Call
from agent.sessions.times import now
from agent.sessions.turns import TurnRow
from prompts.errors import DataError
from tools.contract import ToolArtifact
from tools.literature.strategy import SearchStrategy, strategies_of
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
    from agent.sessions.markdown import as_markdown

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
