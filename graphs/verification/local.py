"""The local verifier: citations exact, statements supported; mended once, else dropped."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from graphs.answering.contract import Choice, Draft
from graphs.verdicts.contract import Verdict
from graphs.verification.quoted import QuoteCheck, Says
from graphs.verification.support import SupportSettings
from tools.contract import Notice, Severity
from tools.encoders import Encoder
from tools.evidence import Evidence, Origin, Statement, verify_citation
from tools.notices import noted
from tools.text.language import language_of

STATEMENT_DROPPED = "statement_dropped"


class VerifierLocal:
    """Verifies without a service."""

    def __init__(
        self, encoder: Encoder, settings: SupportSettings | None = None, says: Says = lambda _text, _quotes: False
    ) -> None:
        self._check = QuoteCheck(encoder, settings, says)

    async def verify(self, draft: Draft, evidence: Mapping[str, Evidence]) -> Draft:
        """The draft with unsupported statements mended once or dropped with the notice ``statement_dropped``."""
        return await asyncio.to_thread(self._verify, draft, evidence)

    def _verify(self, draft: Draft, evidence: Mapping[str, Evidence]) -> Draft:
        known = {**evidence, **{e.id: e for e in draft.evidence if e.id not in evidence}}
        statements = [s for s in (self._kept(s, known, draft) for s in draft.statements) if s is not None]
        return remaining(draft, statements)

    def _kept(self, statement: Statement, known: Mapping[str, Evidence], draft: Draft) -> Statement | None:
        """The statement as it stands or mended, None when nothing supports it; of a parametric one only the quotes that
        it names are checked, which must be exact."""
        if statement.origin is not Origin.PARAMETRIC:
            return self._check.kept(statement, known, draft.told, draft.asked)
        held = tuple(c for c in statement.named if c.evidence_id in known and verify_citation(c, known[c.evidence_id]))
        return statement.model_copy(update={"named": held})


def remaining(draft: Draft, statements: Sequence[Statement]) -> Draft:
    """A draft with what is left of its statements; how many were dropped is told."""
    dropped = len(draft.statements) - len(statements)
    return draft.model_copy(
        update={
            "statements": tuple(statements),
            "verdict": _carried(draft.verdict, statements),
            "choice": _standing(draft.choice, statements),
            "notices": (*draft.notices, *([_notice(dropped, draft)] if dropped else [])),
            "abstained": draft.abstained or (dropped > 0 and not statements),
        }
    )


def _carried(verdict: Verdict | None, statements: Sequence[Statement]) -> Verdict | None:
    """The verdict while every statement that carries it is left."""
    held = {s.text for s in statements}
    return verdict if verdict is not None and held >= set(verdict.statements) else None


def _standing(choice: Choice | None, statements: Sequence[Statement]) -> Choice | None:
    """The choice while something that it rests on is left; one of a model's own knowledge rests on none of them."""
    if choice is None or not statements or choice.parametric:
        return choice if statements else None
    cited = {c.evidence_id for s in statements for c in s.citations}
    return choice if cited and (not choice.evidence_ids or cited & set(choice.evidence_ids)) else None


def _notice(dropped: int, draft: Draft) -> Notice:
    texts: Sequence[str] = [s.text for s in draft.statements] or [""]
    language = language_of(" ".join([*texts, *(n.text for n in draft.notices)]))
    return noted(STATEMENT_DROPPED, language, Severity.WARNING, said="notice.statement_unsupported", detail=dropped)
