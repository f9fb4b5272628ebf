"""The gates of `completeness`: ours, its comparators, its parts, and what it takes.

Names are gate, setting, figure. ``ddxplus``: all levels, every gate fitted on other patients; ``ddxplus_diseases``: on
patients with other diseases; ``shipped``: as it is shipped, on the rows that it was fitted on. ``ours_over_X`` is
paired and positive where ours is better.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from evals.completeness_gates import (
    ByNumber,
    Constant,
    Gate,
    Ours,
    WholeInput,
    as_fitted,
    crossed,
    forms_with,
    forms_without,
    scored,
)
from evals.completeness_measures import Setting, compared_gates
from evals.completeness_pool import Pool
from evals.contract import Figure, TaskContext
from evals.datasets.degraded import LEVELS
from evals.statistics import median
from graphs.completeness.calibrated import load_model
from graphs.completeness.features import KEPT, PARTS
from graphs.completeness.labels import units
from graphs.completeness.local import CompletenessGateLocal
from graphs.completeness.score import GateSettings, information_score
from graphs.completeness.whole_input import inputs
from tools.encoders import Encoder
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.text.sentences import sentences

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
