"""MedRGAG's released outputs as a baseline: what its summaries, gaps, selection and answers are like.

A selection names ten documents by number. 0 to 4 are the retrieved ones and 5 to 9 the generated ones: a retrieved
document is kept about three times as often when its own summary says something (``numbering``), and with 5 to 9 no such
thing is seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from evals.contract import Figure
from evals.datasets.medrgag import (
    RETRIEVED,
    Explored,
    Predicted,
    Selected,
    read_explored,
    read_predicted,
    read_selected,
)
from evals.statistics import paired_ratio, share

POINTS = 3  # code: the knowledge points that are asked for


def figures(data: Path, seed: int) -> list[Figure]:
    """All figures over all rows."""
    explored = read_explored(data)
    return [
        *summary_figures(explored, seed),
        *selection_figures(explored, read_selected(data), seed),
        *answer_figures(read_predicted(data)),
    ]


def summary_figures(rows: Sequence[Explored], seed: int) -> list[Figure]:
    """Useless summaries, and gaps after them; the interval of the first is drawn over questions."""
    useless = [float(row.useful.count(False)) for row in rows]
    nothing = [row for row in rows if not any(row.useful)]
    some = [row for row in rows if any(row.useful)]
    return [
        *paired_ratio("released.summaries.useless", useless, [float(len(row.useful)) for row in rows], seed),
        *share("released.summaries.all_useless", [not any(row.useful) for row in rows]),
        *share("released.gaps.empty_after_useless", [not _points(row) for row in nothing]),
        *share("released.gaps.empty_after_useful", [not _points(row) for row in some]),
        *share("released.gaps.always_three", [_points(row) == POINTS for row in rows]),
    ]


def selection_figures(explored: Sequence[Explored], selected: Sequence[Selected], seed: int) -> list[Figure]:
    """Generated documents in the selection, whole and by whether anything useful was retrieved."""
    useful = {row.id: row.useful for row in explored}
    rows = [row for row in selected if row.final_list and row.id in useful]
    arms = {
        "selection": rows,
        "selection_all_useless": [row for row in rows if not any(useful[row.id])],
        "selection_some_useful": [row for row in rows if any(useful[row.id])],
    }
    out: list[Figure] = []
    for name, arm in arms.items():
        generated = [float(sum(n not in RETRIEVED for n in row.final_list)) for row in arm]
        kept = [float(len(row.final_list)) for row in arm]
        out += paired_ratio(f"released.{name}.generated", generated, kept, seed)
    for said, name in ((True, "useful"), (False, "useless")):
        kept_of = [n in row.final_list for row in rows for n in RETRIEVED if useful[row.id][n] is said]
        out += share(f"released.numbering.kept_{name}", kept_of)
    return out


def answer_figures(rows: Sequence[Predicted]) -> list[Figure]:
    """Accuracy on PubMedQA without contexts, beside always the commonest answer, and how often "maybe" is said."""
    if not rows:
        return []
    commonest = Counter(row.answer for row in rows).most_common(1)[0][1]
    return [
        *share("released.pubmedqa.accuracy", [row.answer == row.model_answer for row in rows]),
        Figure(name="released.pubmedqa.majority", value=100 * commonest / len(rows), n=len(rows)),
        *share("released.pubmedqa.said_yes", [row.model_answer == "A" for row in rows]),
    ]


def _points(row: Explored) -> int:
    return sum(bool(point.strip()) for point in row.explore_snippets)
