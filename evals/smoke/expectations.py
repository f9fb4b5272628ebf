"""What the smoke set is expected to measure: a file with a value, a tolerance and a reason for every figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evals.contract import Figure
from prompts.errors import DataError
from tools.files import write_atomic

FILE = Path(__file__).with_name("expected.yaml")
ADVICE = "Restore the file, or write it anew with `anamnesis eval smoke --update`."
HEAD = """# What `anamnesis eval smoke` must measure. `--update` writes the values of a run; tolerances and reasons
# stay, and are written by hand. Look at what changed before you commit it.
"""
ONE_SAMPLE = "one sample may change, as where two scores lie close and the processor rounds otherwise"

State = Literal["ok", "left its tolerance", "not measured", "not expected"]


class Expected(BaseModel):
    """A figure's value, how far from it is still the same, and why that far."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: float
    tolerance: float = Field(ge=0)
    why: str = Field(min_length=1)


class SmokeRun(BaseModel):
    """A task of the smoke set; ``data_sha256`` is of the data that the values were measured on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str
    limit: int = Field(ge=1)
    seed: int = Field(default=0, ge=0)
    data_sha256: str = ""


class Expectations(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    runs: tuple[SmokeRun, ...] = Field(min_length=1)
    figures: dict[str, Expected] = Field(default_factory=dict)


class Held(BaseModel):
    """A figure held against what is expected of it."""

    name: str
    expected: Expected | None
    measured: Figure | None
    state: State


def read_expectations(path: Path = FILE) -> Expectations:
    """The file; raises DataError when it is damaged."""
    try:
        return Expectations.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        raise DataError(f"{path.name} cannot be read: {' '.join(str(error).split())[:300]}", ADVICE) from None


def held(expected: Mapping[str, Expected], measured: Mapping[str, Figure]) -> list[Held]:
    """Every figure that is expected or was measured, in the order of the names."""
    out: list[Held] = []
    for name in sorted({*expected, *measured}):
        wanted, figure = expected.get(name), measured.get(name)
        out.append(Held(name=name, expected=wanted, measured=figure, state=_state(wanted, figure)))
    return out


def _state(wanted: Expected | None, figure: Figure | None) -> State:
    if wanted is None:
        return "not expected"
    if figure is None:
        return "not measured"
    # a millionth: what a value loses by being written with four places
    return "ok" if abs(figure.value - wanted.value) <= wanted.tolerance + 1e-6 else "left its tolerance"


def updated(before: Expectations, measured: Mapping[str, Figure], hashes: Mapping[str, str]) -> Expectations:
    """The expectations with the values of a run. A new figure may change by one sample, until a person says else."""
    figures = {
        name: Expected(value=round(figure.value, 4), tolerance=old.tolerance, why=old.why)
        if (old := before.figures.get(name)) is not None
        else Expected(value=round(figure.value, 4), tolerance=_one(figure), why=ONE_SAMPLE)
        for name, figure in sorted(measured.items())
    }
    runs = tuple(run.model_copy(update={"data_sha256": hashes[run.task]}) for run in before.runs)
    return Expectations(runs=runs, figures=figures)


def write_expectations(expectations: Expectations, path: Path = FILE) -> None:
    """Write the file, a line a figure."""
    lines = [HEAD, "runs:"]
    lines += [f"  - {_line(run.model_dump())}" for run in expectations.runs]
    lines += ["figures:", *(f"  {n}: {_line(e.model_dump())}" for n, e in expectations.figures.items()), ""]
    write_atomic(path, "\n".join(lines).encode())


def _line(values: Mapping[str, object]) -> str:
    text: str = yaml.safe_dump(dict(values), default_flow_style=True, sort_keys=False, width=10_000, allow_unicode=True)
    return text.strip()


def _one(figure: Figure) -> float:
    """A sample's worth of a share, rounded up to a tenth."""
    return -(-1000 // max(figure.n, 1)) / 10


def failures(rows: Sequence[Held]) -> list[Held]:
    """What does not hold."""
    return [row for row in rows if row.state != "ok"]
