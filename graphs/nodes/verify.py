"""The verify node: every cited statement against its evidence; then the turn's answer is complete."""

from __future__ import annotations

from typing import Any

from graphs.answering.contract import Draft
from graphs.context import TurnContext
from graphs.differential_filter.contract import Verdict
from graphs.nodes.answer import kept_evidence
from graphs.nodes.finish import finish
from graphs.nodes.step import SUMMARY, Body
from graphs.state import State
from graphs.verification.contract import Verifier
from tools.contract import AnsweredQuestion


def verify_node(verifier: Verifier) -> Body:
    """The node's body around a verifier."""

    async def body(state: State, context: TurnContext) -> dict[str, Any]:
        draft = context.load(Draft, state["draft_key"]) or Draft(abstained=True)
        kept = kept_evidence(state, context, context.load_list(Verdict, state["verdicts_key"]))
        answered = [a.evidence for a in context.load_list(AnsweredQuestion, state["answered_key"])]
        known = {e.id: e for e in [*answered, *draft.evidence, *kept]}
        verified = await verifier.verify(draft, known)
        dropped = len(draft.statements) - len(verified.statements)
        context.recorder.event("verified", statements=len(verified.statements), dropped=dropped)
        evidence = _shown(verified, known, [e.id for e in kept])
        summary = f"{len(verified.statements)} statements verified, {dropped} dropped"
        return {**finish(state, context, verified, evidence), SUMMARY: summary}

    return body


def _shown(draft: Draft, known: dict[str, Any], kept: list[str]) -> list[Any]:
    """Cited evidence in order of first citation, then what was kept beside."""
    cited = [c.evidence_id for s in draft.statements for c in s.citations]
    return [known[key] for key in dict.fromkeys([*cited, *kept]) if key in known]
