"""The collect node: artefacts of this round's tool calls become state."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import ToolMessage

from graphs.context import TurnContext
from graphs.nodes.step import SUMMARY, Body
from graphs.state import State
from tools.contract import AnsweredQuestion, DocumentReading, Gap, Outcome, ToolArtifact, unique
from tools.evidence import Evidence, merge_evidence
from tools.notices import noted


def collect_node() -> Body:
    """The node's body."""

    async def body(state: State, context: TurnContext) -> dict[str, Any]:
        fresh = state["calls"][state["merged"] :]
        artifacts = [_artifact(m, context) for m in fresh if isinstance(m, ToolMessage)]
        earlier = context.load_evidence(state, state["found"])
        evidence = [e for e in merge_evidence([*earlier, *_evidence(artifacts)]) if e.status.usable]
        found = [e.id for e in evidence]
        update: dict[str, Any] = {
            "merged": len(state["calls"]),
            "evidence": context.keep_evidence(evidence),
            "found": found,
            "outcomes": [*state["outcomes"], *([a.tool, a.outcome.value] for a in artifacts)],
            "notices": _notices(state, artifacts),
            "seconds": {"tools": state["seconds"].get("tools", 0.0) + _longest(fresh)},
            SUMMARY: f"{len(found)} pieces of evidence, {len(found) - len(earlier)} of them new",
        }
        update |= _kept(state, context, artifacts)
        return update

    return body


def _longest(messages: list[Any]) -> float:
    """Seconds of the round's longest call: they run at once."""
    return max((m.artifact["seconds"] for m in messages if isinstance(m, ToolMessage) and m.artifact), default=0.0)


def _artifact(message: ToolMessage, context: TurnContext) -> ToolArtifact:
    if message.artifact is not None:
        artifact = context.load(ToolArtifact, message.artifact["key"])
        if artifact is not None:
            return artifact
    return ToolArtifact(tool=message.name or "", outcome=Outcome.REFUSED, remarks=[str(message.content)[:300]])


def _evidence(artifacts: list[ToolArtifact]) -> list[Evidence]:
    items: list[Evidence] = []
    for artifact in artifacts:
        items += artifact.evidence
        items += [a.evidence for a in artifact.answered]
    return items


def _kept(state: State, context: TurnContext, artifacts: list[ToolArtifact]) -> dict[str, Any]:
    update: dict[str, Any] = {}
    differentials = [a.differential for a in artifacts if a.differential is not None]
    if differentials:
        update["differential_key"] = context.keep(differentials[-1])
    answered = [q for a in artifacts for q in a.answered]
    if answered:
        known = context.load_list(AnsweredQuestion, state["answered_key"])
        update["answered_key"] = context.keep_list(AnsweredQuestion, [*known, *answered])
    gaps = [g for a in artifacts for g in a.gaps]
    if gaps:
        update["gaps_key"] = context.keep_list(Gap, gaps)
    readings = [r for a in artifacts for r in a.readings]
    if readings:
        known_readings = context.load_list(DocumentReading, state.get("readings_key", ""))
        update["readings_key"] = context.keep_list(DocumentReading, [*known_readings, *readings])
    return update


def _notices(state: State, artifacts: list[ToolArtifact]) -> list[dict[str, str]]:
    """What the reader must know. A refusal is for whoever made the call; the reader is told that one was left out."""
    known = {(n["code"], n["text"]) for n in state["notices"]}
    left_out = noted("tool_refused", state["language"])
    told = [n for a in artifacts for n in ([left_out] if a.outcome is Outcome.REFUSED else a.notices)]
    fresh = [n for n in told if (n.code, n.text) not in known]
    return [n.model_dump(mode="json") for n in unique(fresh)]
