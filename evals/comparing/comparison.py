"""Figure by figure and sample by sample: what got better or worse beyond the interval, and what makes runs differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Literal

from evals.comparing.directions import direction
from evals.comparing.sides import Side
from evals.contract import Figure
from evals.statistics import exact_mcnemar, paired_difference
from tools.evidence import Frozen

Mark = Literal["better", "worse", "moved", "same", "only first", "only second"]
SURE = 0.05  # ours: a paired test below it is a difference, the usual level
ALL = "all"


class Compared(Frozen):
    """A figure of both runs. ``mark`` says whether each value lies outside the other's interval, and which way."""

    name: str
    first: Figure | None
    second: Figure | None
    mark: Mark


class Paired(Frozen):
    """The samples that both runs have, in one group.

    Attributes:
        n: how many. first, second: share that was right, in percent. points: second less first, ci95 by bootstrap.
        p: McNemar's exact test, two-sided.
        lost, gained: samples that were right only in the first run, only in the second.
    """

    group: str
    n: int
    first: float
    second: float
    points: float
    ci95: tuple[float, float]
    p: float
    mark: Mark
    lost: tuple[str, ...]
    gained: tuple[str, ...]


class Comparison(Frozen):
    """Two runs. ``differences`` are what makes them no repetition of each other; they are told first."""

    differences: tuple[str, ...]
    figures: tuple[Compared, ...]
    paired: tuple[Paired, ...]


def compare(first: Side, second: Side, seed: int = 0) -> Comparison:
    """All of it; ``seed`` is of the bootstrap."""
    return Comparison(
        differences=tuple(_differences(first, second)),
        figures=tuple(_figures(first, second)),
        paired=tuple(_paired(first.right, second.right, seed)),
    )


def _differences(first: Side, second: Side) -> Iterator[str]:
    if first.task != second.task:
        yield f"other evaluations: {first.task}, {second.task}"
    if first.data_sha256 != second.data_sha256:
        yield f"other data: {first.data_sha256[:12]}, {second.data_sha256[:12]}"
    for name in sorted({*first.settings, *second.settings}):
        a, b = first.settings.get(name), second.settings.get(name)
        if a != b:
            yield f"other {name}: {a}, {b}"
    alone = len(set(first.right) ^ set(second.right)) if first.right and second.right else 0
    if alone:
        yield f"{alone} samples are in one run alone"


def _figures(first: Side, second: Side) -> Iterator[Compared]:
    a, b = ({f.name: f for f in side.figures} for side in (first, second))
    for name in dict.fromkeys([*a, *b]):
        one, other = a.get(name), b.get(name)
        yield Compared(name=name, first=one, second=other, mark=_mark(name, one, other))


def _mark(name: str, first: Figure | None, second: Figure | None) -> Mark:
    if first is None or second is None:
        return "only second" if first is None else "only first"
    if _within(first.value, second) or _within(second.value, first):
        return "same"
    return _moved(second.value - first.value, direction(name))


def _within(value: float, figure: Figure) -> bool:
    low, high = figure.ci95 or (figure.value, figure.value)
    return low <= value <= high


def _moved(change: float, way: int) -> Mark:
    if way == 0:
        return "moved"
    return "better" if change * way > 0 else "worse"


def _paired(first: dict[str, bool], second: dict[str, bool], seed: int) -> Iterator[Paired]:
    groups: dict[str, list[str]] = defaultdict(list)
    for sample in first:
        if sample in second:
            groups[ALL].append(sample)
            groups[sample.rpartition("/")[0]].append(sample)
    for group, samples in groups.items():
        if len(groups) > 2 or group == ALL:  # a single group is all
            yield _pair(group, samples, first, second, seed)


def _pair(group: str, samples: list[str], first: dict[str, bool], second: dict[str, bool], seed: int) -> Paired:
    a, b = [first[s] for s in samples], [second[s] for s in samples]
    shares = [100.0 * sum(side) / len(side) for side in (a, b)]
    points = paired_difference("a.b.c", [100.0 * x for x in b], [100.0 * x for x in a], seed)[0]
    p = exact_mcnemar(a, b)
    return Paired(
        group=group,
        n=len(samples),
        first=shares[0],
        second=shares[1],
        points=points.value,
        ci95=points.ci95 or (points.value, points.value),
        p=p,
        mark=_moved(points.value, 1) if p < SURE else "same",
        lost=tuple(s for s in samples if first[s] and not second[s]),
        gained=tuple(s for s in samples if second[s] and not first[s]),
    )
