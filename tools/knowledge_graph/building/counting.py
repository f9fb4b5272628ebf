"""Presence rates of findings in diseases, counted from records: the edges of role d."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tools.knowledge_graph.building.contract import Record, Told
from tools.knowledge_graph.building.findings import Findings, key_of
from tools.knowledge_graph.schema import Ages, HowCommon, HowOften, Manifestation

Side = Literal["left", "right", "one", "both"]

# ours: the ranges of docs/knowledge-format.md, from the top
HOW_OFTEN: tuple[tuple[float, HowOften], ...] = ((0.9, "always"), (0.6, "usual"), (0.3, "common"), (0.1, "occasional"))
DENIED = 0.5  # ours: share of a disease's records that must deny what others have, for an edge against it
# ours: a disease's records against the mean of all diseases
HOW_COMMON: tuple[tuple[float, HowCommon], ...] = (
    (3.0, "very_common"),
    (0.7, "common"),
    (0.3, "uncommon"),
    (0.1, "rare"),
)
FEW = 10  # ours: records below which ages tell nothing of a disease
OLDEST = 120.0  # the schema's bound
TYPICAL = (10, 90)  # ours: percentiles of the ages that are called typical


@dataclass
class Tally:
    """What the records of one disease say of one finding."""

    present: int = 0
    denied: int = 0
    sides: Counter[Side] = field(default_factory=Counter)
    values: list[float] = field(default_factory=list)


def tallies(records: Sequence[Record], told: Mapping[str, Sequence[Told]], findings: Findings) -> dict[int, Tally]:
    """For each finding (by position) what the records of one disease say; a record counts once for a finding."""
    out: dict[int, Tally] = defaultdict(Tally)
    for record in records:
        by_finding: dict[int, list[Told]] = defaultdict(list)
        for t in told[record.id]:
            by_finding[findings.of[key_of(t)]].append(t)
        for at, items in by_finding.items():
            tally = out[at]
            stated = [t for t in items if t.present is not False]
            tally.present += bool(stated)
            tally.denied += not stated
            sides = {t.side for t in stated if t.side is not None}
            if sides:
                tally.sides["both" if len(sides) > 1 else sides.pop()] += 1
            tally.values += [
                float(t.value.replace(",", ".")) for t in stated if t.value is not None and _number(t.value)
            ]
    return out


def edges(tally: Mapping[int, Tally], findings: Findings, n: int, ever: frozenset[int]) -> list[Manifestation]:
    """The edges of role d of a disease with ``n`` records, most frequent first; ``ever``: found in some record."""
    out: list[Manifestation] = []
    for at, t in sorted(tally.items(), key=lambda item: (-item[1].present, item[0])):
        node = findings.nodes[at]
        if t.present:
            rate = t.present / n
            out.append(
                Manifestation(
                    finding=node.id,
                    how_often=how_often(rate),
                    roles=("d",),
                    rate=round(rate, 4),
                    records=n,
                    side=_one_side(t, node.sided),
                    value=_range(t.values),
                    source="records",
                )
            )
        elif at in ever and t.denied / n >= DENIED:
            out.append(
                Manifestation(finding=node.id, how_often="absent", roles=("d",), rate=0.0, records=n, source="records")
            )
    return out


def how_often(rate: float) -> HowOften:
    """The word for a presence rate above 0."""
    return next((word for least, word in HOW_OFTEN if rate > least), "rare")


def how_common(n: int, mean: float) -> HowCommon:
    """How common a disease is among the records, against the mean disease."""
    return next((word for least, word in HOW_COMMON if n >= least * mean), "very_rare")


def ages(records: Sequence[Record]) -> Ages:
    """The ages of a disease: no limits, and the usual range where there are records enough."""
    told = [r.age for r in records if r.age is not None]
    if len(told) < FEW:
        return Ages(min=0, max=OLDEST, typical=(0, OLDEST))
    low, high = np.percentile(told, TYPICAL)
    return Ages(min=0, max=OLDEST, typical=(round(float(low), 1), min(round(float(high), 1), OLDEST)))


def _one_side(tally: Tally, sided: bool) -> Side | None:
    """The side that all records with the finding name; ``one`` when they name different ones; None for no rule."""
    named = sum(tally.sides.values())
    if not sided or named < tally.present or not named:
        return None
    if len(tally.sides) == 1:
        return next(iter(tally.sides))
    return "one" if "both" not in tally.sides else None


def _range(values: Sequence[float]) -> str | None:
    if not values:
        return None
    low, high = min(values), max(values)
    return f"{low:g}" if low == high else f"{low:g}-{high:g}"


def _number(text: str) -> bool:
    return text.replace(",", ".").replace(".", "", 1).isdigit()
