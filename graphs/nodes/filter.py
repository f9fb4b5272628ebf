"""The differential filter's node: for a case only what supports stays, and conflicts are named."""

from __future__ import annotations

from typing import Any

from graphs.context import TurnContext, findings_of
from graphs.differential_filter.contract import DocumentFilter, Verdict
from graphs.judging.orders import REASON
from graphs.kads.contract import Selection
from graphs.nodes.left_out import left_out
from graphs.nodes.step import SUMMARY, Body
from graphs.state import State
from tools.contract import Differential


def filter_node(document_filter: DocumentFilter) -> Body:
    """The node's body around a filter."""

    async def body(state: State, context: TurnContext) -> dict[str, Any]:
        differential = context.load(Differential, state["differential_key"])
        documents = context.load_evidence(state, [*state.get("given", []), *kept_ids(state, context)])
        verdicts = await document_filter.judge(
            context.text(state["question_key"]),
            state["kind"],
            findings_of(state, differential),
            differential,
            documents,
        )
        context.recorder.event("filter", verdicts=[v.model_dump(mode="json") for v in verdicts])
        kept = sum(v.keep for v in verdicts)
        summary = f"kept {kept} of {len(verdicts)}"
        told = left_out(state, documents, {v.evidence_id for v in verdicts if v.reason == REASON})
        return {"verdicts_key": context.keep_list(Verdict, verdicts), SUMMARY: summary, **told}

    return body


def kept_ids(state: State, context: TurnContext) -> list[str]:
    """Ids that the selector kept."""
    selection = context.load(Selection, state["selection_key"])
    return [k.evidence_id for k in selection.kept] if selection is not None else []
