"""The gates of `completeness`: ours, its comparators, its parts, and what it takes.

Names are gate, setting, figure. ``ddxplus``: all levels, every gate fitted on other patients; ``ddxplus_diseases``: on
patients with other diseases; ``shipped``: as it is shipped, on the rows that it was fitted on. ``ours_over_X`` is
paired and positive where ours is better.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evals.completeness_gates import (
    ByNumber,
    Constant,
    Gate,
    Ours,
    Scored,
    WholeInput,
    as_fitted,
    crossed,
    forms_with,
    forms_without,
    scored,
)
from evals.completeness_pool import Pool
from evals.contract import Figure, TaskContext
from evals.datasets.ddxplus import LEVELS
from evals.metrics.selective import aurc, auroc, bin_of, calibration_error, share_of
from evals.statistics import LEVEL, median
from graphs.completeness.calibrated import KEPT, PARTS, inputs, load_model
from graphs.completeness.labels import units
from graphs.completeness.local import CompletenessGateLocal
from graphs.completeness.score import GateSettings, information_score
from tools.encoders import Encoder
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.text.sentences import sentences

# The gates' figures with intervals: patients are drawn again, all levels of one together, the same for every gate.
DRAWS = 2000  # ours: resamples; the ends of the intervals move by about 0.1 points with the seed
PERCENT = 100.0

Matrix = NDArray[np.float64]
Measure = Callable[[Matrix], Matrix]


class Setting:
    """Some rows of a pool, measured together.

    Args:
        name: in the figures' names. at: positions of the rows in the pool. seed: of the draws.
    """

    def __init__(self, name: str, pool: Pool, at: Sequence[int] | NDArray[np.int64], seed: int) -> None:
        self.name, self.at = name, np.asarray(at, dtype=np.int64)
        self._right, self._retrieve = pool.right[self.at], pool.retrieve_right[self.at]
        ids = [pool.rows[i].case.id for i in self.at]
        patients = {p: n for n, p in enumerate(dict.fromkeys(ids))}
        where = np.array([patients[p] for p in ids], dtype=np.int64)
        rng = np.random.default_rng(seed)
        count = len(patients)
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
        if len(self.at) == 0:
            return []
        named = [(m, f(self._weights)) for m, f in self.measures(scored).items()]
        if gate in ("always", "never"):
            named = [(m, v) for m, v in named if m in ("accuracy", "retrieval_rate", "wrong_enough", "aurc")]
        return [
            f for m, v in named for f in self._figure(f"{gate}.{self.name}.{m}", v, _counted(m, scored.direct[self.at]))
        ]

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
        low, high = np.nanpercentile(values[1:], [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
        return [Figure(name=name, value=float(values[0]), n=n, ci95=(float(low), float(high)))]


def _counted(measure: str, direct: NDArray[np.bool_]) -> int:
    return int(direct.sum()) if measure == "wrong_enough" else len(direct)


def compared_gates(setting: Setting, scored: Mapping[str, Scored]) -> list[Figure]:
    """The figures of every gate in a setting, and what ``ours`` is over each other one."""
    ours = scored["ours"]
    if len(setting.at) == 0:
        return []
    out = [f for name, s in scored.items() for f in setting.figures(name, s)]
    for name, other in scored.items():
        if name in ("always", "never"):
            out += setting.over(f"ours_over_{name}", ours, other, ["accuracy"])
        elif name != "ours":
            out += setting.over(f"ours_over_{name}", ours, other, ["auroc", "aurc"])
    return out


BY_DISEASE = 10  # ours: folds of the split by disease; with fewer, many more diseases are unknown to the gate
TIMED, SENTENCES = 20, 30  # ours: cases timed; asked: their sentences
SELF_JUDGED = "self_judgement"


def gates_of(pool: Pool, encoder: Encoder) -> dict[str, Gate]:
    """Our gate and its comparators."""
    settings = GateSettings(method="published")
    looks = [r.direct.differential for r in pool.rows]
    texts = [r.case.text for r in pool.rows]
    labelled = [[u.label for u in units(t, look)] for t, look in zip(texts, looks, strict=True)]
    vectors = encoder.encode_queries(texts)
    whole = np.array([inputs(t, v.tolist()) for t, v in zip(texts, vectors, strict=True)])
    return {
        "ours": Ours(),
        "i_norm": ByNumber(np.array([information_score(labels, settings) for labels in labelled])),
        "margin": ByNumber(np.array([look.margin for look in looks])),
        "sentence_count": ByNumber(np.array([float(len(labels)) for labels in labelled])),
        "whole_input": WholeInput(whole, encoder.name),
        "always": Constant(0.0),
        "never": Constant(1.0),
    }


def gate_figures(context: TaskContext, pool: Pool, encoder: Encoder) -> list[Figure]:
    """Every figure of the gates that needs no more than the pool."""
    gates = gates_of(pool, encoder)
    context.not_run[SELF_JUDGED] = "needs a language model: the arm `self-judging` of `--config ica-rag`"
    ddxplus, clinic, lay = (pool.of(name) for name in ("ddxplus", "agentclinic", "ddxplus_lay"))
    by_patient = {n: crossed(g, pool, "patient", context.seed) for n, g in gates.items()}
    shipped = {**by_patient, "shipped": scored(as_fitted(load_model(), pool), len(pool.rows))}
    seed = context.seed
    out = compared_gates(Setting("ddxplus", pool, ddxplus, seed), shipped)
    out += compared_gates(Setting("agentclinic", pool, clinic, seed), shipped)
    out += compared_gates(Setting("ddxplus_lay", pool, lay, seed), by_patient)
    by_disease = {n: crossed(g, pool, "disease", seed, BY_DISEASE) for n, g in gates.items()}
    out += compared_gates(Setting("ddxplus_diseases", pool, ddxplus, seed), by_disease)
    ours = by_patient["ours"]
    out += Setting("ddxplus", pool, ddxplus, seed).reliability("ours", ours)
    for name, at in _parts_of(pool, ddxplus).items():
        out += Setting(name, pool, at, seed).figures("ours", ours)
    return out


def _parts_of(pool: Pool, ddxplus: NDArray[np.int64]) -> dict[str, list[int]]:
    """The rows of DDXPlus by how much was removed, and those whose text does not name the diagnosis."""
    levels = {f"ddxplus_{n}": [int(i) for i in ddxplus if pool.rows[i].case.level == n] for n in LEVELS}
    return levels | {"ddxplus_clean": [int(i) for i in ddxplus if not pool.rows[i].case.names_gold]}


def part_figures(context: TaskContext, pool: Pool) -> list[Figure]:
    """Our gate without each of its parts, and with each that was not kept; split by patient."""
    whole = crossed(Ours(), pool, "patient", context.seed)
    forms = {f"ours_without_{p}": forms_without(p) for p in (*KEPT, "leaders", "findings")}
    forms |= {f"ours_with_{p}": forms_with(p) for p in PARTS if p not in KEPT}
    settings = [Setting(s, pool, pool.of(s), context.seed) for s in ("ddxplus", "agentclinic", "written")]
    out: list[Figure] = []
    for name, form in context.tick(forms.items(), "parts of the gate", len(forms)):
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
