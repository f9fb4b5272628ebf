"""The Boolean ladder: strict, then abstraction, then relaxed, until enough is found (CoMeta, Adapt-E)."""

from __future__ import annotations

import time
from collections.abc import Sequence

from prompts.errors import ServiceError
from tools.contract import unique
from tools.evidence import Frozen
from tools.literature.client import PubMed
from tools.literature.terms import Term

STRICT_TERMS = 4  # ours: terms that the strict rung asks for together
RELAXED_TERMS = 4  # ours: terms of which the relaxed rung asks for any two: six pairs


class Rung(Frozen):
    """A query of the ladder."""

    name: str
    query: str


class Step(Frozen):
    """What a rung gave: PubMed's count and ids, how it read the query, its warnings, and why the ladder went on."""

    rung: str
    query: str
    count: int
    ids: tuple[str, ...]
    translation: str
    warnings: tuple[str, ...]
    seconds: float
    next: str


class Climb(Frozen):
    """The whole ladder: ids in the order found, each with the rung and rank where it first stood.

    ``failure`` is what stopped the ladder after at least one rung had answered.
    """

    steps: tuple[Step, ...] = ()
    ids: tuple[str, ...] = ()
    places: dict[str, tuple[str, str, int]]
    failure: str = ""


def rungs(terms: Sequence[Term]) -> list[Rung]:
    """The rungs for some terms, the most important term first; none without terms.

    Strict asks for up to four terms in title or abstract; abstraction for half as many; relaxed for any two of
    them, or for the only one, in the way PubMed itself reads them (its term mapping adds MeSH).
    """
    strict = list(terms[:STRICT_TERMS])
    if not strict:
        return []
    found = [Rung(name="strict", query=" AND ".join(_tagged(t) for t in strict))]
    if len(strict) > 2:
        found.append(
            Rung(
                name="abstraction", query=" AND ".join(_tagged(t) for t in strict[: len(strict) // 2 + len(strict) % 2])
            )
        )
    loose = [f"({t.text})" for t in terms[:RELAXED_TERMS]]
    pairs = [f"({a} AND {b})" for n, a in enumerate(loose) for b in loose[n + 1 :]]
    found.append(Rung(name="relaxed", query=" OR ".join(pairs) if pairs else terms[0].text))
    return found


async def climb(pubmed: PubMed, terms: Sequence[Term], enough: int) -> Climb:
    """Run the rungs in order until at least ``enough`` ids are found.

    Raises:
        ServiceError: the first rung failed. A later failure ends the ladder with what was found and `Climb.failure`.
    """
    steps: list[Step] = []
    places: dict[str, tuple[str, str, int]] = {}
    failure = ""
    ladder = rungs(terms)
    for at, rung in enumerate(ladder):
        started = time.monotonic()
        try:
            result = await pubmed.search(rung.query, enough)
        except ServiceError as error:
            if not steps:
                raise
            failure = error.what
            break
        for rank, pmid in enumerate(result.ids, 1):
            places.setdefault(pmid, (rung.name, rung.query, rank))
        reason = _reason(len(places), enough, last=at == len(ladder) - 1)
        steps.append(
            Step(
                rung=rung.name,
                query=rung.query,
                count=result.count,
                ids=result.ids,
                translation=result.translation,
                warnings=result.warnings,
                seconds=round(time.monotonic() - started, 3),
                next=reason,
            )
        )
        if len(places) >= enough:
            break
    return Climb(steps=tuple(steps), ids=tuple(unique(list(places))), places=places, failure=failure)


def _tagged(term: Term) -> str:
    forms = [f'"{form}"[tiab]' for form in (term.text, *term.also)]
    return forms[0] if len(forms) == 1 else f"({' OR '.join(forms)})"


def _reason(found: int, enough: int, *, last: bool) -> str:
    if found >= enough:
        return f"stop: {found} found, {enough} are enough"
    return f"stop: no rung is left, {found} found" if last else f"go on: {found} found, fewer than {enough}"
