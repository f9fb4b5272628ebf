"""The KADS node: candidates to knowledge requirements; a small set that covers most with least redundancy."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from graphs.context import Limits, TurnContext, findings_of
from graphs.judging.orders import REASON
from graphs.kads.contract import SelectionContext, Selector
from graphs.nodes.step import SUMMARY, Body
from graphs.state import State
from tools.contract import Differential, DocumentReading, Gap, Severity, unique
from tools.evidence import Evidence, Origin
from tools.notices import noted

LEADING = 3  # diseases whose requirements count; ours


def select_node(selector: Selector, requirements: Any, limits: Limits) -> Body:
    """The node's body around a selector."""

    async def body(state: State, context: TurnContext) -> dict[str, Any]:
        question = context.asked(state)
        candidates = documents(context.load_evidence(state, state["found"]))
        wanted = _requirements(state, context, question, requirements)
        differential = context.load(Differential, state["differential_key"])
        read = context.load_list(DocumentReading, state.get("readings_key", ""))
        known = SelectionContext(
            kind=state["kind"],
            findings=tuple(findings_of(state, differential)),
            differential=differential,
            readings=tuple(read),
            gaps=tuple(context.load_list(Gap, state["gaps_key"])),
        )
        selection = await selector.select(question, wanted, candidates, limits.selected, known)
        context.recorder.event("selection", **selection.model_dump(mode="json"))
        summary = f"kept {len(selection.kept)} of {len(candidates)}"
        told = left_out(state, candidates, {d.evidence_id for d in selection.dropped if d.reason == REASON})
        if selection.readings:
            told["readings_key"] = context.keep_list(DocumentReading, [*read, *selection.readings])
        return {"selection_key": context.keep(selection), SUMMARY: summary, **told}

    return body


def documents(evidence: list[Evidence]) -> list[Evidence]:
    """What KADS and the filter judge: entries of the graph and similar records are no documents."""
    return [e for e in evidence if e.origin in (Origin.RETRIEVED, Origin.GENERATED) and e.kind != "record"]


def _requirements(state: State, context: TurnContext, question: str, requirements: Any) -> list[str]:
    gaps = context.load_list(Gap, state["gaps_key"])
    if gaps:
        return unique([g.requirement for g in gaps])
    differential = context.load(Differential, state["differential_key"])
    diseases = [d.name for d in differential.ranking[:LEADING]] if differential is not None else []
    wanted: list[str] = requirements(question, state["kind"], state["language"], state["options"], diseases)
    return wanted


def left_out(state: State, documents: Sequence[Evidence], ids: Collection[str]) -> dict[str, Any]:
    """The channel ``notices`` with the one that names the documents of these ids, which speak to machines."""
    titles = unique([d.title or d.document_id for d in documents if d.id in ids])
    if not titles:
        return {}
    notice = noted("speaks_to_machines", state["language"], Severity.WARNING, detail="; ".join(titles))
    return {"notices": [notice.model_dump(mode="json")]}
