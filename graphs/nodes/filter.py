"""The KADS node and the differential filter: few documents that cover what is needed, and for a case what supports it.

KADS: candidates to knowledge requirements; a small set that covers most with least redundancy. The filter: for a case
only what supports stays, and conflicts are named. What the selector judged in the same call is taken over; the filter
judges the rest. Where the settings say so, what was read raises and lowers the diagnoses of the differential.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from graphs.context import Limits, TurnContext, findings_of
from graphs.differential_filter.contract import DocumentFilter, Stance, Verdict
from graphs.differential_filter.local import is_case
from graphs.differential_filter.mentions import about
from graphs.judging.orders import REASON
from graphs.kads.contract import Selection, SelectionContext, Selector
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
        question = context.asked(state)
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


# What was read raises and lowers the diagnoses that it is about: the local reader of ICA-RAG's configuration
# (ours).
# In the source a language model reads the documents that stayed and names the diagnosis. Without one the direction
# is this, stated before it was measured: the belief in the disease that a document is about is doubled where the
# document supports the case, or was handed on without a judgement, and halved where it conflicts with it. A
# document that is irrelevant, or about no disease of the ranking, changes nothing. A disease counts once, whatever
# number of documents is about it; one that supports and one that conflicts cancel out. The belief of all diseases
# together stays what it was.

FACTORS = {Stance.SUPPORTS: 2.0, Stance.RELEVANT: 2.0, Stance.CONFLICTS: 0.5}  # ours


class Weighed(NamedTuple):
    """A differential after the reading, and the ids of the diseases that were raised and lowered."""

    differential: Differential
    raised: tuple[str, ...]
    lowered: tuple[str, ...]


def weighed(differential: Differential, documents: Sequence[Evidence], verdicts: Sequence[Verdict]) -> Weighed:
    """The differential in the order of the belief after the reading; equal ones stay in their order.

    Args:
        documents, verdicts: what was read, and what it does to the case, in the same order.
    """
    read: dict[str, set[float]] = {}
    for document, verdict in zip(documents, verdicts, strict=True):
        disease = about(document, differential.ranking)
        if disease is not None and verdict.stance in FACTORS:
            read.setdefault(disease.disease, set()).add(FACTORS[verdict.stance])
    factors = {disease: math.prod(own) for disease, own in read.items()}
    belief = [d.score * factors.get(d.disease, 1.0) for d in differential.ranking]
    before, after = sum(d.score for d in differential.ranking), sum(belief)
    if not factors or not after:
        return Weighed(differential, (), ())
    scored = [
        d.model_copy(update={"score": own * before / after})
        for d, own in zip(differential.ranking, belief, strict=True)
    ]
    ranking = tuple(sorted(scored, key=lambda d: -d.score))
    margin = ranking[0].score - (ranking[1].score if len(ranking) > 1 else 0.0)
    return Weighed(
        differential.model_copy(update={"ranking": ranking, "margin": margin}),
        tuple(d for d, factor in factors.items() if factor > 1),
        tuple(d for d, factor in factors.items() if factor < 1),
    )
