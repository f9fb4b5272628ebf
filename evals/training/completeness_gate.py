"""Making the files that the gate is shipped with: our calibrated model, and the classifier over the whole input."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from evals.commands import DataOption
from evals.contract import TaskContext
from evals.runner import data_sha256, local_settings, progress
from evals.sessions import encoders
from evals.tasks.completeness import TASK
from evals.tasks.completeness.cases import Arms, Pool, completeness_pool
from evals.tasks.completeness.gates import FORMS, whole_inputs
from evals.training.gate_calibration import calibrate, calibrated_head
from graphs.completeness.calibrated import SHIPPED, WHOLE_INPUT
from tools.files import write_atomic

SEED = 0
SOURCES = {
    "ddxplus": "validate rows of DDXPlus (CC BY 4.0, synthetic patients), one wording, four levels of information",
    "ddxplus_lay": "a hundred of them in lay language",
    "train": "98 train rows of DDXPlus, at four levels",
    "agentclinic": "AgentClinic's MedQA cases (MIT), each with weight 4",
    "written": "the project's own written cases, English and Chinese, at four levels",
}


def calibrate_gate(
    data: DataOption,
    out: Annotated[Path, typer.Option(help="The folder to write calibrated.json and whole_input.json into.")],
) -> None:
    """Fit the completeness gate again on all cases of `completeness` (5 minutes, 15 the first time)."""
    for line in ship(data, out):
        typer.echo(line)


def ship(data: Path, out: Path) -> list[str]:
    """Fit both on every row and write them into a folder; returns what was written, a line each.

    Raises:
        DataError: a file of the data is missing or damaged.
    """

    settings = local_settings()
    digest = data_sha256(data, TASK.inputs)
    context = TaskContext(data=data, limit=TASK.limit, seed=SEED, settings=settings, tick=progress)
    home = context.home
    with encoders(settings, home) as (_, cached):
        with closing(Arms(data, home.indexes, cached, home.cache / "evaluations")) as arms:
            pool = completeness_pool(context, arms)
        card = _card(pool, digest)
        model = calibrate(pool.examples, FORMS, seed=SEED, card=card)
        patients = pool.groups("patient")
        head = calibrated_head(whole_inputs(pool, cached), pool.right.tolist(), patients, cached.name)
    out.mkdir(parents=True, exist_ok=True)
    return [
        _written(out / SHIPPED.name, model.model_dump(mode="json")),
        _written(out / WHOLE_INPUT.name, head.model_copy(update={"card": card}).model_dump(mode="json")),
    ]


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
