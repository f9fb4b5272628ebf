"""Making the files that the gate is shipped with: our calibrated model, and the classifier over the whole input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from evals.completeness_arms import Arms
from evals.completeness_gates import FORMS
from evals.completeness_pool import Pool
from evals.contract import TaskContext
from evals.runner import data_sha256, progress
from evals.tasks.completeness import TASK, completeness_pool
from evals.training.gate_calibration import calibrate, calibrated_head
from graphs.completeness.calibrated import SHIPPED, WHOLE_INPUT, inputs
from tools.encoders import Encoder
from tools.files import write_atomic
from tools.icd10 import load_icd10

SEED = 0
SOURCES = {
    "ddxplus": "validate rows of DDXPlus (CC BY 4.0, synthetic patients), one wording, four levels of information",
    "ddxplus_lay": "a hundred of them in lay language",
    "train": "98 train rows of DDXPlus, at four levels",
    "agentclinic": "AgentClinic's MedQA cases (MIT), each with weight 4",
    "written": "the project's own written cases, English and Chinese, at four levels",
}


def ship(data: Path, out: Path) -> list[str]:
    """Fit both on every row and write them into a folder; returns what was written, a line each.

    Raises:
        DataError: a file of the data is missing or damaged.
    """
    from agent.sessions import Home
    from agent.settings import load_settings
    from evals.agent_runs import evaluation_encoders

    settings = load_settings(model="", literature={"live": "off", "mirror": None}).without_models()
    digest = data_sha256(data, TASK.inputs)
    home = Home(settings.home).prepare()
    plain, cached = evaluation_encoders(settings, home)
    context = TaskContext(data=data, limit=TASK.limit, seed=SEED, settings=settings, tick=progress)
    arms = Arms(data, home.indexes, cached, home.cache / "evaluations")
    pool = completeness_pool(context, arms, load_icd10(home.indexes / "icd10.json"))
    arms.close()
    card = _card(pool, digest)
    model = calibrate(pool.examples, FORMS, seed=SEED, card=card)
    head = whole_input_head(pool, cached).model_copy(update={"card": card})
    cached.close()
    plain.close()
    out.mkdir(parents=True, exist_ok=True)
    return [
        _written(out / SHIPPED.name, model.model_dump(mode="json")),
        _written(out / WHOLE_INPUT.name, head.model_dump(mode="json")),
    ]


def whole_input_head(pool: Pool, encoder: Encoder) -> Any:
    """The classifier over the whole input, fitted and calibrated on every row of a pool."""
    texts = [r.case.text for r in pool.rows]
    vectors = encoder.encode_queries(texts)
    values = np.array([inputs(t, v.tolist()) for t, v in zip(texts, vectors, strict=True)])
    return calibrated_head(values, pool.right.tolist(), pool.groups("patient"), encoder.name)


def _card(pool: Pool, digest: str) -> dict[str, Any]:
    counts = {name: len(pool.of(name)) for name in dict.fromkeys(pool.sources)}
    return {
        "what": "probability that the leader of the starter graph's first look-up is the right disease",
        "fitted_on": {SOURCES[name]: n for name, n in counts.items()},
        "data_sha256": digest,
        "seed": SEED,
        "limits": "synthetic patients, equally many of each disease; leaders outside DDXPlus have few cases",
        "figures": "docs/completeness.md",
    }


def _written(path: Path, model: dict[str, Any]) -> str:
    text = json.dumps(model, ensure_ascii=False, separators=(",", ":"))
    write_atomic(path, f"{text}\n".encode())
    return f"{path}: {len(text) // 1024 + 1} KB"
