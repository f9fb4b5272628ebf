"""The Boolean ladder: strict, then abstraction, then relaxed, until enough is found (CoMeta, Adapt-E)."""

from __future__ import annotations

import time
from collections.abc import Sequence

from pydantic import Field

from prompts.errors import ServiceError
from tools.contract import Tell, untold
from tools.evidence import Frozen
from tools.literature.adapt_e.contract import Expression, QueryPlanner, SearchPlan
from tools.literature.client import PubMed
from tools.literature.failures import EUtilitiesError, Reason

ENOUGH = 60  # ours: as many as are read; CoMeta does not publish its number; the setting `enough` changes it


class Step(Frozen):
    """What a rung gave: PubMed's count and ids, how it read the query, its warnings, and why the ladder went on."""

    rung: str
    query: str
    why: str = ""
    count: int
    ids: tuple[str, ...]
    translation: str
    warnings: tuple[str, ...]
    seconds: float
    next: str


class Place(Frozen):
    """Where an id stood: in which step of the ladder (from 0), its rung and query, and its rank there from 1."""

    step: int
    rung: str
    query: str
    rank: int


class Climb(Frozen):
    """The whole ladder: ids in the order found, each with every place where it stood, the first one first.

    ``failure`` is what stopped the ladder after at least one rung had answered.
    """

    steps: tuple[Step, ...] = ()
    ids: tuple[str, ...] = ()
    places: dict[str, tuple[Place, ...]] = Field(default_factory=dict)
    failure: str = ""


class AdaptE(Frozen):
    """What Adapt-E came to: PMIDs, best first, with the plan and the ladder that found them."""

    ids: tuple[str, ...]
    plan: SearchPlan
    climb: Climb


async def adapt_e(
    question: str, pubmed: PubMed, planner: QueryPlanner, *, case: bool = False, enough: int = ENOUGH
) -> AdaptE:
    """Plan and climb: the stream ``adapt_e`` of the method. Nothing but the plan's expressions reaches ``pubmed``.

    Raises:
        ServiceError: the first rung failed.
    """
    plan = await planner.plan(question, case=case)
    found = await climb(pubmed, plan.expressions, enough)
    return AdaptE(ids=found.ids, plan=plan, climb=found)


async def climb(
    pubmed: PubMed, rungs: Sequence[Expression], enough: int, tell: Tell = untold, most: int | None = None
) -> Climb:
    """Run the rungs in order until at least ``enough`` ids are found; a rung lists ``most`` of them, else ``enough``.

    Raises:
        ServiceError: the first rung failed. A later failure ends the ladder with what was found and `Climb.failure`.
    """
    steps: list[Step] = []
    found: set[str] = set()
    failure = ""
    for at, rung in enumerate(rungs):
        started = time.monotonic()
        tell("rung", n=at + 1, of=len(rungs))
        try:
            result = await pubmed.search(rung.query, most or enough)
        except ServiceError as error:
            if isinstance(error, EUtilitiesError) and error.reason is Reason.HELD and rung is not rungs[-1]:
                continue  # the gate let one rung not pass; the others may
            if not steps:
                raise
            failure = error.what
            break
        found |= set(result.ids)
        steps.append(
            Step(
                rung=rung.rung.value,
                query=rung.query,
                why=rung.why,
                count=result.count,
                ids=result.ids,
                translation=result.translation,
                warnings=result.warnings,
                seconds=round(time.monotonic() - started, 3),
                next=_reason(len(found), enough, last=at == len(rungs) - 1),
            )
        )
        if len(found) >= enough:
            break
    return climbed(steps, failure)


def climbed(steps: Sequence[Step], failure: str = "") -> Climb:
    """The ladder out of its steps."""
    places: dict[str, list[Place]] = {}
    for at, step in enumerate(steps):
        for rank, pmid in enumerate(step.ids, 1):
            places.setdefault(pmid, []).append(Place(step=at, rung=step.rung, query=step.query, rank=rank))
    return Climb(
        steps=tuple(steps), ids=tuple(places), places={p: tuple(v) for p, v in places.items()}, failure=failure
    )


def _reason(found: int, enough: int, *, last: bool) -> str:
    if found >= enough:
        return f"stop: {found} found, {enough} are enough"
    return f"stop: no rung is left, {found} found" if last else f"go on: {found} found, fewer than {enough}"
