"""Verification by a language model, after the local one: it may only drop. Quotes stay exact by the local check."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from graphs.answering.contract import Draft
from graphs.verification.contract import Verifier
from graphs.verification.local import STATEMENT_DROPPED, remaining
from graphs.verification.support import identical
from prompts.answer import VerificationReply
from prompts.language_model import LanguageModel
from prompts.metering import or_local
from prompts.shown import one_line
from tools.evidence import Evidence, Statement

AT_ONCE = 12  # ours: statements of a call; weak models lose count of longer lists
TEXT, QUOTE, TITLE = 600, 1200, 120  # ours: characters of a statement, of a quote and of a title that are shown
CASE = 4_000  # ours: characters of the case that statements may repeat


class VerifierByModel:
    """Checks by a language model what the local verifier let stand.

    Args:
        model: who checks. local: who checks first, and alone when the model fails.
    """

    def __init__(self, model: LanguageModel, local: Verifier) -> None:
        self._model, self._local = model, local

    async def verify(self, draft: Draft, evidence: Mapping[str, Evidence]) -> Draft:
        """The draft as the local verifier leaves it, without what the model finds unsupported.

        A statement that is its quote word for word, or rests on no quote, is not asked about.
        """
        verified = await self._local.verify(draft, evidence)
        known = {**evidence, **{e.id: e for e in draft.evidence if e.id not in evidence}}
        asked = [
            s for s in verified.statements if s.citations and not identical(s.text, [c.quote for c in s.citations])
        ]
        groups = [asked[at : at + AT_ONCE] for at in range(0, len(asked), AT_ONCE)]
        found = await asyncio.gather(*(self._unsupported(group, known, draft.told) for group in groups))
        dropped = [statement for group in found for statement in group]
        if not dropped:
            return verified
        notices = tuple(n for n in verified.notices if n.code != STATEMENT_DROPPED)  # told anew, with all of them
        kept = [s for s in verified.statements if s not in dropped]
        return remaining(
            draft.model_copy(update={"notices": notices, "verdict": verified.verdict, "choice": verified.choice}), kept
        )

    async def _unsupported(
        self, statements: Sequence[Statement], known: Mapping[str, Evidence], told: str
    ) -> list[Statement]:
        async def by_model() -> list[Statement]:
            shown = "\n\n".join(_shown(n, s, known) for n, s in enumerate(statements, start=1))
            case = f"Case: {one_line(told, CASE)}\n" if told else ""
            reply, _ = await self._model.structured("verification", VerificationReply, case=case, statements=shown)
            refused = {v.number for v in reply.verdicts if not v.supported}
            return [s for n, s in enumerate(statements, start=1) if n in refused]

        async def as_it_is() -> list[Statement]:
            return []

        return await or_local("verification", by_model, as_it_is)


def _shown(number: int, statement: Statement, known: Mapping[str, Evidence]) -> str:
    quotes = [
        f'   Quote from "{one_line(known[c.evidence_id].title, TITLE)}": {one_line(c.quote, QUOTE)}'
        for c in statement.citations
    ]
    return "\n".join([f"{number}. {one_line(statement.text, TEXT)}", *quotes])
