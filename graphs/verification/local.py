"""The local verifier: citations exact, statements supported; mended once, else dropped."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence, Set

from graphs.answering.contract import Choice, Draft
from graphs.judging.relevance import Relevance
from graphs.verification.support import SupportSettings, check
from tools.contract import Notice, Severity
from tools.encoders import Encoder
from tools.evidence import Citation, Evidence, Origin, Statement, cite, verify_citation
from tools.text.language import language_of
from tools.text.sentences import sentences
from tools.text.tokens import tokens

TRIED = 2  # ours: sentences of the cited evidence that a mended statement may be quoted from
DROPPED = {
    "en": "{n} statement(s) that the cited evidence does not support were left out.",
    "zh": "有 {n} 条陈述得不到所引证据的支持，已删去。",
}


class VerifierLocal:
    """Verifies without a service."""

    def __init__(self, encoder: Encoder, settings: SupportSettings | None = None) -> None:
        self._relevance = Relevance(encoder)
        self._settings = settings or SupportSettings()

    async def verify(self, draft: Draft, evidence: Mapping[str, Evidence]) -> Draft:
        """The draft with unsupported statements mended once or dropped with the notice ``statement_dropped``."""
        return await asyncio.to_thread(self._verify, draft, evidence)

    def _verify(self, draft: Draft, evidence: Mapping[str, Evidence]) -> Draft:
        known = {**evidence, **{e.id: e for e in draft.evidence if e.id not in evidence}}
        statements = [s for s in (self._kept(s, known) for s in draft.statements) if s is not None]
        dropped = len(draft.statements) - len(statements)
        cited = {c.evidence_id for s in statements for c in s.citations}
        notices = list(draft.notices)
        if dropped:
            notices.append(_notice(dropped, draft))
        return draft.model_copy(
            update={
                "statements": tuple(statements),
                "choice": _standing(draft.choice, cited),
                "notices": tuple(notices),
                "abstained": draft.abstained or (dropped > 0 and not statements),
            }
        )

    def _kept(self, statement: Statement, known: Mapping[str, Evidence]) -> Statement | None:
        """The statement as it stands or mended, None when nothing supports it."""
        if statement.origin is Origin.PARAMETRIC:
            return statement
        exact = _exact(statement, known)
        if exact is not None and self._supported(exact, known):
            return exact
        mended = self._requoted(statement, known)
        return mended if mended is not None and self._supported(mended, known) else None

    def _supported(self, statement: Statement, known: Mapping[str, Evidence]) -> bool:
        cited = [known[i] for i in dict.fromkeys(c.evidence_id for c in statement.citations)]
        found = check(statement, cited)
        if found.disagrees:
            return False
        if found.share >= self._settings.words:
            return True
        if found.share < self._settings.least:
            return False
        dense = self._relevance.score([statement.text], [" ".join(c.quote for c in statement.citations)]).dense
        return float(dense[0, 0]) >= self._settings.dense

    def _requoted(self, statement: Statement, known: Mapping[str, Evidence]) -> Statement | None:
        """The statement with its citations put right: quoted anew from the evidence that it cites."""
        items = [known[i] for i in dict.fromkeys(c.evidence_id for c in statement.citations) if i in known]
        best = [c for item in items if item.citable for c in best_quotes(statement.text, item)]
        best.sort(key=lambda pair: (-pair[0], pair[1].evidence_id, pair[1].start))
        citations = tuple(citation for share, citation in best[:TRIED] if share > 0)
        return statement.model_copy(update={"citations": citations}) if citations else None


def best_quotes(text: str, item: Evidence) -> list[tuple[float, Citation]]:
    """Sentences of a piece of evidence with the share of the text's words that each holds."""
    wanted = set(tokens(text))
    spans = sentences(item.text)
    shares = [len(wanted & set(tokens(s.of(item.text)))) / max(len(wanted), 1) for s in spans]
    return [(share, cite(item, s.start, s.end)) for share, s in zip(shares, spans, strict=True)]


def _standing(choice: Choice | None, cited: Set[str]) -> Choice | None:
    """The choice while something that it rests on is still cited."""
    if choice is None or not cited:
        return None
    return choice if not choice.evidence_ids or cited & set(choice.evidence_ids) else None


def _exact(statement: Statement, known: Mapping[str, Evidence]) -> Statement | None:
    """The statement with each citation exact: a quote found elsewhere in its evidence is moved there; else None."""
    citations = [_placed(c, known.get(c.evidence_id)) for c in statement.citations]
    placed = tuple(c for c in citations if c is not None)
    if len(placed) < len(citations):
        return None
    return statement if placed == statement.citations else statement.model_copy(update={"citations": placed})


def _placed(citation: Citation, item: Evidence | None) -> Citation | None:
    if item is None or not item.citable:
        return None
    if verify_citation(citation, item):
        return citation
    at = item.text.find(citation.quote)
    return cite(item, at, at + len(citation.quote)) if at >= 0 else None


def _notice(dropped: int, draft: Draft) -> Notice:
    texts: Sequence[str] = [s.text for s in draft.statements] or [""]
    language = language_of(" ".join([*texts, *(n.text for n in draft.notices)]))
    return Notice(code="statement_dropped", text=DROPPED[language].format(n=dropped), severity=Severity.WARNING)
