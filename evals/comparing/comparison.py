"""Figure by figure and sample by sample: what got better or worse beyond the interval, and what makes runs differ."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Literal

from evals.comparing.sides import Side
from evals.contract import Figure
from evals.statistics import exact_mcnemar, paired_difference
from tools.evidence import Frozen

# Which way a figure is better: most are shares of what is right; these are not.
# Figures whose last part alone would say another thing.
WHOLE = (
    (re.compile(r"\.(?:control_documents|documents_of_concern)\.used$"), 0),  # bad in a retracted document alone
    (re.compile(r"^(?:index\.\w+\.(?:questions|coverage|share_kept)$|released\.)|_bin_\d+\."), 0),
    (re.compile(r"^false\.(?!control\.)\w+\.(?:kept|reached|quoted|cited)$"), -1),  # false background, no evidence
    (re.compile(r"\.gain_of_\w+\.percent$|\.follow_up\.percent_of_random$"), -1),  # questions that were needed
    (re.compile(r"^ours_over_\w+\.\w+\.(?:aurc|ece)$"), 1),  # `completeness` turns the sign of these
)
# The last part of a figure's name. Faults, costs, and what went wrong: less is better.
LESS = re.compile(
    r"^(?:abstained|declined_wrongly|false_flags|false_alarm|false|wrong|wrong_enough|wrong_links|false_links|aurc|ece|"
    r"pk|windowdiff|pk_own|windowdiff_own|cut|zero_hit_rate|refused|questions|problems|not_read|same|"
    r"tool_calls_changed|citations_foreign|claims_made|banner_changed|differential_changed|obeyed|used|flipped|"
    r"unmarked|lost|laundered|unsupported|unsupported_strictly|of_retracted_work|of_statements|generated_share|linked_disease|"
    r"cost|unpriced|percent_of_always|again_s|again_embedded|(?:\w+_)?(?:ms|seconds|mb|gb))$"
)
# Neither: what is counted, a baseline, a p value, a choice between two good ways.
NEITHER = re.compile(
    r"^(?:p|[\w@]+_p|chance|majority|l1_majority|retrieval_rate|direct|warned|reached|left_out|kept|documents|"
    r"(?:strict|abstraction|relaxed)_documents|rungs|rank|n|index_tokens|encoder_share|probability|"
    r"right_probability|size|pieces|reviews|others|full_text(?:_of_reviews|_of_others)?|of_work_of_concern|tool_calls|"
    r"model_calls|records)$"
)


def direction(name: str) -> int:
    """1 where more is better, -1 where less is, 0 where neither."""
    for pattern, way in WHOLE:
        if pattern.search(name):
            return way
    last = name.rpartition(".")[2]
    if NEITHER.match(last):
        return 0
    return -1 if LESS.match(last) else 1


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
