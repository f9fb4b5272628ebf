"""The gates of `completeness`: ours, its comparators, its parts, and what it takes.

Names are gate, setting, figure. ``ddxplus``: all levels, every gate fitted on other patients; ``ddxplus_diseases``: on
patients with other diseases; ``shipped``: as it is shipped, on the rows that it was fitted on. ``ours_over_X`` is
paired and positive where ours is better.

A gate is one kind of thing: fitted on some rows, it scores others. A score is higher, the surer a gate is that the
direct answer is right. Every gate has its probability and its threshold by one rule: calibrated on the rows that it is
fitted on (Platt), and above the threshold at most `RISK` of these rows wrong, by the upper bound
(`evals.training.gate_calibration`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from evals.contract import Figure, TaskContext
from evals.datasets.ddxplus import LEVELS
from evals.statistics import aurc, ends, grouped, median
from evals.tasks.completeness.cases import Pool
from evals.training.gate_calibration import FOLDS, Form, calibrate, calibrated_head, folds_of, platt, risk_table
from graphs.completeness.calibrated import KEPT, PARTS, CalibratedModel, inputs, load_model, sigmoid, threshold_of
from graphs.completeness.labels import units
from graphs.completeness.local import CompletenessGateLocal
from graphs.completeness.score import GateSettings, information_score
from tools.encoders import Encoder
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.text.sentences import sentences

RISK = 0.05  # asked: of direct answers at most this share may be wrong
FORMS = (Form(), Form(leaders=False))  # what our gate chooses from
DRAWS = 2000  # ours: resamples; the ends of the intervals move by about 0.1 points with the seed
BINS = 10  # asked: bins of the calibration error, of equal width
BY_DISEASE = 10  # ours: folds of the split by disease; with fewer, many more diseases are unknown to the gate
TIMED, SENTENCES = 20, 30  # ours: cases timed; asked: their sentences
PERCENT = 100.0
SELF_JUDGED = "self_judgement"
CONSTANT = ("always", "never")

Matrix = NDArray[np.float64]
Bools = NDArray[np.bool_]
Positions = Sequence[int] | NDArray[np.int64]
Measure = Callable[[Matrix], Matrix]


class Fitted(NamedTuple):
    """A fitted gate: score and probability of a row by its position, and the threshold of the probability."""

    score: Callable[[int], float]
    probability: Callable[[int], float]
    theta1: float


class Gate(Protocol):
    """A gate that can be fitted on rows of a pool, which ``groups`` hold together."""

    def fitted(self, pool: Pool, rows: Positions, groups: Sequence[str]) -> Fitted:
        """The gate fitted on these rows."""


@dataclass(frozen=True)
class Ours:
    """The calibrated gate, of whichever form predicts held-out groups best."""

    forms: tuple[Form, ...] = FORMS

    def fitted(self, pool: Pool, rows: Positions, groups: Sequence[str]) -> Fitted:
        """Fitted and calibrated on these rows."""
        examples = [pool.examples[i] for i in rows]
        return as_fitted(calibrate(examples, self.forms, groups=[groups[i] for i in rows]), pool)


def as_fitted(model: CalibratedModel, pool: Pool) -> Fitted:
    """A calibrated model over a pool."""

    def probability(row: int) -> float:
        return model.probability(pool.examples[row].features)

    return Fitted(probability, probability, model.threshold(RISK))


@dataclass(frozen=True)
class ByNumber:
    """A gate that is one number of each row."""

    values: Matrix

    def fitted(self, pool: Pool, rows: Positions, groups: Sequence[str]) -> Fitted:
        """Its probability and threshold by these rows; the score is the number itself."""
        at = np.asarray(rows)
        mean, scale = self.values[at].mean(), self.values[at].std() or 1.0
        slope, offset = platt((self.values[at] - mean) / scale, pool.right[at].astype(float), np.ones(len(at)))

        def probability(row: int) -> float:
            return sigmoid(slope * (self.values[row] - mean) / scale + offset)

        table = risk_table([probability(i) for i in at], pool.right[at].tolist(), [groups[i] for i in at])
        return Fitted(lambda row: float(self.values[row]), probability, threshold_of(table, RISK))


@dataclass(frozen=True)
class Constant:
    """Retrieve always (0), or never (1)."""

    value: float

    def fitted(self, pool: Pool, rows: Positions, groups: Sequence[str]) -> Fitted:
        """Nothing is fitted."""
        del pool, rows, groups
        return Fitted(lambda _: self.value, lambda _: self.value, 0.5)


@dataclass(frozen=True)
class WholeInput:
    """One small classifier of the whole text; ``values``: (rows, dimension + 1), what it sees of each."""

    values: Matrix
    encoder: str

    def fitted(self, pool: Pool, rows: Positions, groups: Sequence[str]) -> Fitted:
        """Fitted and calibrated on these rows."""
        at = np.asarray(rows)
        head = calibrated_head(self.values[at], pool.right[at].tolist(), [groups[i] for i in at], self.encoder)

        def probability(row: int) -> float:
            return head.probability(self.values[row].tolist())

        return Fitted(probability, probability, head.threshold(RISK))


def whole_inputs(pool: Pool, encoder: Encoder) -> Matrix:
    """Array (rows, dimension + 1): what a classifier of the whole text sees of each row."""
    texts = [r.case.text for r in pool.rows]
    vectors = encoder.encode_queries(texts)
    return np.array([inputs(t, v.tolist()) for t, v in zip(texts, vectors, strict=True)])


def gates_of(pool: Pool, encoder: Encoder) -> dict[str, Gate]:
    """Our gate and its comparators."""
    settings = GateSettings(method="published")
    looks = [r.direct.differential for r in pool.rows]
    labelled = [[u.label for u in units(r.case.text, look)] for r, look in zip(pool.rows, looks, strict=True)]
    return {
        "ours": Ours(),
        "i_norm": ByNumber(np.array([information_score(labels, settings) for labels in labelled])),
        "margin": ByNumber(np.array([look.margin for look in looks])),
        "sentence_count": ByNumber(np.array([float(len(labels)) for labels in labelled])),
        "whole_input": WholeInput(whole_inputs(pool, encoder), encoder.name),
        "always": Constant(0.0),
        "never": Constant(1.0),
    }


class Scored(NamedTuple):
    """Every row of a pool by models that saw nothing of its group: score, probability, and whether it goes direct."""

    score: Matrix
    probability: Matrix
    direct: Bools


def crossed(gate: Gate, pool: Pool, split: str, seed: int, folds: int = FOLDS) -> Scored:
    """All rows, each scored by the gate fitted on the other folds of a split."""
    groups = pool.groups(split)
    fold = np.array(folds_of(groups, folds, seed))
    score, probability, direct = np.zeros(len(groups)), np.zeros(len(groups)), np.zeros(len(groups), dtype=bool)
    for held in range(folds):
        rows, others = np.flatnonzero(fold == held), np.flatnonzero(fold != held)
        if len(rows) == 0 or len(others) == 0:
            continue
        fitted = gate.fitted(pool, others, groups)
        for i in rows:
            score[i], probability[i] = fitted.score(int(i)), fitted.probability(int(i))
            direct[i] = probability[i] > fitted.theta1
    return Scored(score, probability, direct)


def scored(fitted: Fitted, count: int) -> Scored:
    """All rows by one fitted gate."""
    probability = np.array([fitted.probability(i) for i in range(count)])
    return Scored(np.array([fitted.score(i) for i in range(count)]), probability, probability > fitted.theta1)


def forms_without(part: str) -> tuple[Form, ...]:
    """The forms of our gate without a part: one of the features, what leaders differ by, or confirming findings."""
    if part == "leaders":
        return (Form(leaders=False),)
    if part == "findings":
        return (Form(findings=False), Form(leaders=False))
    return _forms([p for p in KEPT if p != part])


def _forms(parts: Sequence[str]) -> tuple[Form, ...]:
    names = tuple(n for p in parts for n in PARTS[p])
    return (Form(names=names), Form(names=names, leaders=False))


class Setting:
    """Some rows of a pool, measured together; patients are drawn again, all levels of one together, for every gate.

    Args:
        name: in the figures' names. at: positions of the rows in the pool. seed: of the draws.
    """

    def __init__(self, name: str, pool: Pool, at: Positions, seed: int) -> None:
        self.name, self.at = name, np.asarray(at, dtype=np.int64)
        self._right, self._retrieve = pool.right[self.at], pool.retrieve_right[self.at]
        ids = [pool.rows[i].case.id for i in self.at]
        patients = {p: n for n, p in enumerate(dict.fromkeys(ids))}
        where, count = np.array([patients[p] for p in ids], dtype=np.int64), len(patients)
        rng = np.random.default_rng(seed)
        drawn = rng.multinomial(count, np.full(count, 1 / count), DRAWS) if count else np.zeros((DRAWS, 0), np.int64)
        self._weights = np.vstack([np.ones(len(ids)), drawn[:, where]]).astype(np.float64)

    def measures(self, scored: Scored) -> dict[str, Measure]:
        """The measures of a gate, each of weights."""
        score, told, direct = scored.score[self.at], scored.probability[self.at], scored.direct[self.at]
        every = np.ones(len(self.at), dtype=bool)
        answered = np.where(direct, self._right, self._retrieve)
        return {
            "accuracy": lambda w: PERCENT * share_of(answered, every, w),
            "retrieval_rate": lambda w: PERCENT * share_of(~direct, every, w),
            "wrong_enough": lambda w: PERCENT * share_of(~self._right, direct, w),
            "auroc": lambda w: auroc(score, self._right, w),
            "aurc": lambda w: aurc(score, self._right, w),
            "ece": lambda w: calibration_error(told, self._right, w),
        }

    def figures(self, gate: str, scored: Scored) -> list[Figure]:
        """Every figure of a gate; those that nothing is behind are left out."""
        out: list[Figure] = []
        for m, measure in self.measures(scored).items() if len(self.at) else ():
            if gate not in CONSTANT or m not in ("auroc", "ece"):
                n = int(scored.direct[self.at].sum()) if m == "wrong_enough" else len(self.at)
                out += self._figure(f"{gate}.{self.name}.{m}", measure(self._weights), n)
        return out

    def over(self, name: str, ours: Scored, other: Scored, measures: Sequence[str]) -> list[Figure]:
        """How much better the first gate is than the second: paired differences, positive where the first is better."""
        first, second = self.measures(ours), self.measures(other)
        out: list[Figure] = []
        for m in measures if len(self.at) else ():
            better = first[m](self._weights) - second[m](self._weights)
            out += self._figure(f"{name}.{self.name}.{m}", -better if m in ("aurc", "ece") else better, len(self.at))
        return out

    def reliability(self, gate: str, scored: Scored) -> list[Figure]:
        """In each bin of the probability: its mean, and the share of direct answers that are right."""
        told, out = scored.probability[self.at], []
        bins = bin_of(told)
        for b in sorted(set(bins.tolist())):
            inside = bins == b
            mean = PERCENT * (self._weights @ (told * inside)) / np.maximum(self._weights @ inside.astype(float), 1e-9)
            name, n = f"{gate}.{self.name}_bin_{b}", int(inside.sum())
            out += self._figure(f"{name}.probability", mean, n)
            out += self._figure(f"{name}.right", PERCENT * share_of(self._right, inside, self._weights), n)
        return out

    def _figure(self, name: str, values: Matrix, n: int) -> list[Figure]:
        if n == 0 or np.isnan(values[0]):
            return []
        return [Figure(name=name, value=float(values[0]), n=n, ci95=ends(values[1:]))]


def compared_gates(setting: Setting, scored: Mapping[str, Scored]) -> list[Figure]:
    """The figures of every gate in a setting, and what ``ours`` is over each other one."""
    out = [f for name, s in scored.items() for f in setting.figures(name, s)]
    for name, other in scored.items():
        measures = ["accuracy"] if name in CONSTANT else ["auroc", "aurc"] if name != "ours" else []
        out += setting.over(f"ours_over_{name}", scored["ours"], other, measures)
    return out


def gate_figures(context: TaskContext, pool: Pool, encoder: Encoder) -> list[Figure]:
    """Every figure of the gates that needs no more than the pool."""
    gates, seed = gates_of(pool, encoder), context.seed
    context.not_run[SELF_JUDGED] = "needs a language model: the arm `self-judging` of `--config ica-rag`"
    by_patient = {n: crossed(g, pool, "patient", seed) for n, g in gates.items()}
    shipped = {**by_patient, "shipped": scored(as_fitted(load_model(), pool), len(pool.rows))}
    ddxplus = pool.of("ddxplus")

    def setting(name: str, at: Positions) -> Setting:
        return Setting(name, pool, at, seed)

    out = compared_gates(setting("ddxplus", ddxplus), shipped)
    out += compared_gates(setting("agentclinic", pool.of("agentclinic")), shipped)
    out += compared_gates(setting("ddxplus_lay", pool.of("ddxplus_lay")), by_patient)
    by_disease = {n: crossed(g, pool, "disease", seed, BY_DISEASE) for n, g in gates.items()}
    out += compared_gates(setting("ddxplus_diseases", ddxplus), by_disease)
    ours = by_patient["ours"]
    out += setting("ddxplus", ddxplus).reliability("ours", ours)
    # by how much was removed, and those whose text does not name the diagnosis
    parts = {f"ddxplus_{n}": [int(i) for i in ddxplus if pool.rows[i].case.level == n] for n in LEVELS}
    parts["ddxplus_clean"] = [int(i) for i in ddxplus if not pool.rows[i].case.names_gold]
    return out + [f for name, at in parts.items() for f in setting(name, at).figures("ours", ours)]


def part_figures(context: TaskContext, pool: Pool) -> list[Figure]:
    """Our gate without each of its parts, and with each that was not kept; split by patient."""
    whole = crossed(Ours(), pool, "patient", context.seed)
    forms = {f"ours_without_{p}": forms_without(p) for p in (*KEPT, "leaders", "findings")}
    forms |= {f"ours_with_{p}": _forms((*KEPT, p)) for p in PARTS if p not in KEPT}
    settings = [Setting(s, pool, pool.of(s), context.seed) for s in ("ddxplus", "agentclinic", "written")]
    out: list[Figure] = []
    for name, form in context.each(list(forms.items()), "parts of the gate"):
        without = crossed(Ours(form), pool, "patient", context.seed)
        for setting in settings:
            out += [f for f in setting.figures(name, without) if f.name.endswith(("auroc", "aurc", "ece"))]
            out += setting.over(f"ours_over_{name}", whole, without, ["auroc", "aurc"])
    return out


def gate_time(context: TaskContext, pool: Pool, graph: KnowledgeGraph) -> list[Figure]:
    """Milliseconds of the gate beyond the first look-up, for cases of thirty sentences, in processor time."""
    rows = [pool.rows[i] for i in pool.of("ddxplus") if pool.rows[i].case.level == 0]
    said = [s.of(r.case.text) for r in rows for s in sentences(r.case.text)]
    gate, took = CompletenessGateLocal(), []
    for n in range(min(TIMED + 1, len(said) // SENTENCES)):
        text = " ".join(said[n * SENTENCES : (n + 1) * SENTENCES])
        look = graph.look_up(text, "en")
        started = time.process_time()
        gate.assess_now(text, "case", look)
        took.append(1000 * (time.process_time() - started))
    return median("gate.units_30.ms", took[1:], context.seed)


# How well a score tells right answers from wrong ones, under many weightings of the rows at once: each function takes
# weights as an array (resamples, rows), how often a resample of a bootstrap holds each row. One row of ones gives the
# figure itself. Rows with equal scores are taken together.


def auroc(scores: Matrix, right: Bools, weights: Matrix) -> Matrix:
    """Array (resamples,): the chance that a right row scores higher than a wrong one; NaN where one kind is absent."""
    good, bad = grouped(scores, weights * right), grouped(scores, weights * ~right)
    below = np.cumsum(bad, axis=1) - bad
    with np.errstate(invalid="ignore", divide="ignore"):
        area: Matrix = (good * (below + bad / 2)).sum(axis=1) / (good.sum(axis=1) * bad.sum(axis=1))
    return area


def calibration_error(probabilities: Matrix, right: Bools, weights: Matrix) -> Matrix:
    """Array (resamples,): expected calibration error over bins of equal width (Naeini et al. 2015)."""
    bins, off = bin_of(probabilities), weights * (probabilities - right)
    error: Matrix = np.sum([np.abs(off[:, bins == b].sum(axis=1)) for b in range(BINS)], axis=0) / weights.sum(axis=1)
    return error


def bin_of(probabilities: Matrix) -> NDArray[np.int64]:
    """Array (rows,): the bin of each probability, 1 in the last."""
    return np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)


def share_of(hits: Bools, among: Bools, weights: Matrix) -> Matrix:
    """Array (resamples,): the share of hits among some rows; NaN where there are none."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share: Matrix = (weights @ (hits & among).astype(float)) / (weights @ among.astype(float))
    return share
