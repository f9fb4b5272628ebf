"""Fitting the model of the graph's edge (`tools.knowledge_graph.edge`) on the half *fit* of its cases.

Beside cases whose disease the graph lacks, every inside case is taken a second time with its own disease taken out of
the graph. The threshold is set on predictions for cases whose disease had no part in the fit, so that of the inside
cases of no source more than ``FALSE`` are called outside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import typer
from numpy.typing import NDArray

from agent.knowledge_graph import open_graph
from evals.commands import DataOption
from evals.contract import TaskContext
from evals.runner import data_sha256, local_settings, progress
from evals.sessions import encoders
from evals.tasks.outside import INPUTS, SidedCase, fitted_cases
from evals.training.gate_calibration import folds_of, short
from tools.files import write_atomic
from tools.icd10 import load_icd10
from tools.knowledge_graph.edge import BY_GRAPH, BY_TEXT, FARTHEST, SHIPPED, EdgeModel, EdgeWeights
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.knowledge_graph.names import DiagnosisNames
from tools.text.language import language_of

FALSE = 0.05  # ours: share of a source's inside cases called outside that the threshold allows
FOLDS, SEED = 5, 0
PENALTY = 10.0  # ours: of a squared weight, the features being standardised and the rows' mean weight being 1
TAKEN_OUT = 0.2  # ours: weight of a case with its disease taken out of the graph: a neighbour often explains it well
WEIGHTS = {"short": 3.0, "agentclinic": 2.0, "written": 2.0, "ddxplus": 2.0, "phenopackets_lay": 1.5}  # ours; else 1
PHENOPACKETS = 150  # ours: of the phenopackets that may be fitted on, so many are
DIGITS = 4  # of the weights that are kept
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """A case as the model sees it. ``inside``: the graph, as it was asked, holds the disease."""

    case: SidedCase
    inside: bool
    features: Mapping[str, float]

    @property
    def source(self) -> tuple[str, bool, bool]:
        """What is weighed together: the set, the side, and whether a disease was taken out."""
        return self.case.source, self.inside, self.case.inside and not self.inside


def calibrate_outside(
    data: DataOption,
) -> None:
    """Fit again where the starter graph's knowledge ends, on the half of the cases kept for it (5 minutes)."""
    typer.echo(ship(data))


def ship(data: Path, out: Path = SHIPPED) -> str:
    """Fit on every case of the half and write the model; returns what was written.

    Raises:
        DataError: a file of the data is missing or damaged.
    """

    settings = local_settings()
    context = TaskContext(data=data, limit=PHENOPACKETS, seed=SEED, settings=settings, tick=progress)
    home = context.home
    with encoders(settings, home) as (_, cached):
        graph = open_graph(settings, home, cached)
        rows = rows_of(context, graph, DiagnosisNames(graph.graph, load_icd10(home.indexes / "icd10.json")))
    languages = {}
    for language, names in (("en", (*BY_GRAPH, *BY_TEXT)), ("zh", BY_GRAPH)):
        own = [r for r in rows if language_of(r.case.text) == language]
        languages[language] = fit(own, names)
    counts = Counter(f"{r.source[0]}, {'inside' if r.inside else 'outside'}" for r in rows)
    card = {
        "what": "probability that a disease of the starter graph explains a case",
        "origin": "ours",
        "fitted_on": dict(sorted(counts.items())),
        "data_sha256": data_sha256(data, INPUTS),
        "seed": SEED,
        "limits": "vignettes of a few sentences, records of an examination, synthetic patients; little Chinese",
    }
    model = EdgeModel(graph=graph.graph.about.name, encoder=cached.name, languages=languages, card=card)
    write_atomic(out, (model.model_dump_json(indent=1) + "\n").encode())
    return f"{out}: {len(rows)} rows"


def rows_of(context: TaskContext, graph: KnowledgeGraph, names: DiagnosisNames) -> list[Row]:
    """Every case in which anything is read; an inside one also with its disease taken out."""
    cases = fitted_cases(context, names)
    out: list[Row] = []
    for case in context.each(cases, "cases"):
        without = ("", case.disease) if case.inside else ("",)
        found = graph.edge_features(case.text, without)
        out += [Row(case, case.inside and not left, f) for left, f in zip(without, found, strict=False)]
    return out


def fit(rows: Sequence[Row], names: Sequence[str]) -> EdgeWeights:
    """The model of one language, with its threshold."""
    values = np.array([[r.features[n] for n in names] for r in rows])
    inside = np.array([r.inside for r in rows])
    weight = _weights(rows)
    fold = np.array(folds_of([r.case.disease or r.case.id for r in rows], FOLDS, SEED))
    held_out = np.zeros(len(rows))
    for held in range(FOLDS):
        model = _fitted(values[fold != held], inside[fold != held], weight[fold != held], names, 0.5)
        held_out[fold == held] = [model.probability(r.features) for r, f in zip(rows, fold, strict=True) if f == held]
    return _fitted(values, inside, weight, names, _threshold(rows, held_out))


def _weights(rows: Sequence[Row]) -> Matrix:
    counts = Counter(r.source for r in rows)
    each = [WEIGHTS.get(r.source[0], 1.0) * (TAKEN_OUT if r.source[2] else 1.0) / counts[r.source] for r in rows]
    weights: Matrix = np.asarray(each) / np.mean(each)
    return weights


def _threshold(rows: Sequence[Row], probabilities: Matrix) -> float:
    """The highest probability below which at most ``FALSE`` of the inside cases of each source lie."""
    sources = sorted({r.case.source for r in rows if r.inside and r.case.source != "agentclinic"})  # too few of these
    told = [probabilities[[r.inside and r.case.source == s for r in rows]] for s in sources]
    return max(
        (t for t in np.unique(np.concatenate(told)).round(DIGITS) if max((p < t).mean() for p in told) <= FALSE),
        default=0.0,
    )


def _fitted(x: Matrix, inside: NDArray[np.bool_], weight: Matrix, names: Sequence[str], least: float) -> EdgeWeights:
    """Penalised maximum likelihood."""
    from scipy.optimize import minimize

    means, scales = x.mean(axis=0), x.std(axis=0)
    scales = np.where(scales > 0, scales, 1.0)
    design = np.column_stack([np.clip((x - means) / scales, -FARTHEST, FARTHEST), np.ones(len(x))])
    side = np.where(inside, 1.0, -1.0)

    def loss(w: Matrix) -> tuple[float, Matrix]:
        margins = side * (design @ w)
        kept = np.append(w[:-1], 0.0)  # the constant is not penalised
        slope = -side * weight / (1 + np.exp(np.clip(margins, -500, 500)))
        return float((weight * np.logaddexp(0, -margins)).sum() + PENALTY / 2 * (kept**2).sum()), (
            design.T @ slope + PENALTY * kept
        )

    w = minimize(loss, np.zeros(design.shape[1]), jac=True, method="L-BFGS-B").x
    return EdgeWeights(
        names=tuple(names),
        means=tuple(map(short, means)),
        scales=tuple(map(short, scales)),
        weights=tuple(map(short, w[:-1])),
        constant=short(w[-1]),
        least=float(least),
    )
