"""The differential filter's node: for a case only what supports stays, and conflicts are named.

What the selector judged in the same call is taken over; the filter judges the rest. Where the settings say so, what was
read raises and lowers the diagnoses of the differential.
"""

from __future__ import annotations

from typing import Any

from graphs.context import TurnContext, findings_of
from graphs.differential_filter.contract import DocumentFilter, Verdict
from graphs.differential_filter.local import is_case
from graphs.differential_filter.weighing import weighed
from graphs.judging.orders import REASON
from graphs.kads.contract import Selection
from graphs.nodes.left_out import left_out
from graphs.nodes.step import SUMMARY, Body
from graphs.state import State
from tools.contract import Differential


def filter_node(document_filter: DocumentFilter, *, weighs: bool = False) -> Body:
    """The node's body around a filter. ``weighs``: by its stance what was read changes the ranking."""

    async def body(state: State, context: TurnContext) -> dict[str, Any]:
        differential = context.load(Differential, state["differential_key"])
        selection = context.load(Selection, state["selection_key"])
        kept = [k.evidence_id for k in selection.kept] if selection is not None else []
        documents = context.load_evidence(state, [*state.get("given", []), *kept])
        judged = {v.evidence_id: v for v in selection.verdicts} if selection is not None else {}
        left = [d for d in documents if d.id not in judged]
        findings = findings_of(state, differential)
        question = context.text(state["question_key"])
        fresh = await document_filter.judge(question, state["kind"], findings, differential, left) if left else []
        judged |= {v.evidence_id: v for v in fresh}
        verdicts = [judged[d.id] for d in documents]
        context.recorder.event("filter", verdicts=[v.model_dump(mode="json") for v in verdicts])
        summary = f"kept {sum(v.keep for v in verdicts)} of {len(verdicts)}"
        told = left_out(state, documents, {v.evidence_id for v in verdicts if v.reason == REASON})
        if weighs and differential is not None and is_case(state["kind"], findings, differential):
            after = weighed(differential, documents, verdicts)
            context.recorder.event("weighed", raised=after.raised, lowered=after.lowered)
            told["differential_key"] = context.keep(after.differential)
        return {"verdicts_key": context.keep_list(Verdict, verdicts), SUMMARY: summary, **told}

    return body
