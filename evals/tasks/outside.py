"""`outside`: does an answer say where its knowledge ends? Cases of diseases that the graph lacks, or holds.

``told`` is the share of outside cases that were headed "no disease that I know explains these findings well",
``said_wrongly`` the same of inside cases; ``direct`` is the share that was answered without research. ``curve`` trades
one against the other: the share of outside cases that would be told if 2, 5 or 10 % of the inside cases were told
wrongly, over all sources of a side together.

A case's side is found at run time: its diagnosis is looked for among the names, other names and ICD-10 codes of the
graph's diseases, so that a graph that grows moves cases from one side to the other. What the score of
`tools.knowledge_graph.outside` is fitted on (`evals.training.edge`) is the half *fit*; figures are of the half *judge*,
of DDXPlus's validate rows and of the strangers' cases, which are never fitted on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from evals.contract import AgentEvaluation, Figure, Item, Judged, Reply, Task, TaskContext, Told
from evals.datasets.cases import DIFFERENTIAL, FIRST, SECOND, DifferentialCase, read_cases, read_chinese
from evals.datasets.clinical import CASES as CLINIC
from evals.datasets.clinical import read_clinic
from evals.datasets.ddxplus import CODES, TEXTS, TextPatient, read_conditions, split_texts, validate_texts
from evals.datasets.phenopackets import LEAST_TERMS, PATIENTS, Patient, read_lay
from evals.datasets.rows import read_jsonl, read_yaml_rows
from evals.statistics import share
from evals.tasks.cases import SHIPPED
from graphs.answering.contract import Answer
from graphs.completeness.contract import Decision
from tools.evidence import Frozen
from tools.icd10 import load_icd10
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.names import DiagnosisNames

Half = Literal["fit", "judge"]
STRANGERS_OUTSIDE, STRANGERS_INSIDE = "strangers/outside_graph.jsonl", "strangers/inside_graph.jsonl"
INPUTS = (CLINIC, PATIENTS, TEXTS, CODES)
SHORT = Path(__file__).parents[1] / "resources" / "short_cases.yaml"
FALSE = (2, 5, 10)  # asked: percent of inside cases told wrongly at which the curve is told


@dataclass(frozen=True)
class SidedCase:
    """A case and where its disease is.

    Attributes:
        source: the set that it is from. disease: id of the graph's disease, "" where the graph lacks it.
    """

    source: str
    id: str
    text: str
    disease: str

    @property
    def inside(self) -> bool:
        """Whether the graph holds the disease."""
        return bool(self.disease)


class ShortCase(Frozen):
    """A short vignette of our own, and its diagnosis: an id of the graph, or a name."""

    id: str = Field(min_length=1)
    diagnosis: str = Field(min_length=1)
    text: str = Field(min_length=1)


class Stranger(BaseModel):
    """A vignette by a writer who saw neither the code nor the rules."""

    model_config = ConfigDict(frozen=True)

    text: str = Field(min_length=1)
    disease: str = Field(min_length=1)
    icd10: str = ""


def items(context: TaskContext) -> list[Item]:
    """Every case, first those whose disease the graph lacks."""
    names = DiagnosisNames(read_graph(), load_icd10(context.home.indexes / "icd10.json"))
    ordered = sorted(judged_cases(context, names), key=lambda c: (c.inside, c.source))
    return [Item(f"{c.source}/{c.id}", c.source, (c.text,), c.disease or "outside", c) for c in ordered]


def judge(item: Item, reply: Reply) -> Judged:
    """Whether the edge is told where the disease lies beyond it, and only there."""
    answer = reply.answer
    first = answer.differential[0].name if answer.differential else "nothing"
    said = f"{'outside' if answer.outside else 'inside'}, {first} first{', direct' if _direct(answer) else ''}"
    return Judged(answer.outside != item.row.inside, said, f"The disease is {item.target}.")


def _direct(answer: Answer) -> bool:
    return answer.gate is not None and answer.gate.decision is Decision.DIRECT


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """The figures of each source and of each side, then the curve."""
    del context
    out: list[Figure] = []
    scores: dict[str, list[float]] = {}
    for side, named in (("outside", "told"), ("inside", "said_wrongly")):
        rows = [(item.group, reply.answer) for item, reply in told if item.row.inside == (side == "inside")]
        for source in ("all", *dict.fromkeys(group for group, _ in rows)):
            answers = [a for group, a in rows if source in ("all", group)]
            out += share(f"{side}.{source}.direct", [_direct(a) for a in answers])
            out += share(f"{side}.{source}.{named}", [a.outside for a in answers])
        scores[side] = [1 - a.gate.parts.get("explained", 1.0) if a.gate is not None else 0.0 for _, a in rows]
    for percent in FALSE if scores["inside"] else ():
        out += share(f"outside.curve.told@{percent}", above(scores["outside"], scores["inside"], percent))
    return out


def above(outside: Sequence[float], inside: Sequence[float], percent: float) -> list[bool]:
    """Which outside scores lie above the least threshold that at most this share of the inside ones is above."""
    threshold = float(np.sort(inside)[::-1][int(len(inside) * percent / 100)])
    return [score > threshold for score in outside]


def half_of(key: str) -> Half:
    """The half of a case, by the hash of its key (all patients of a paper have one key)."""
    return "fit" if hashlib.sha256(key.encode()).digest()[0] % 2 == 0 else "judge"


def judged_cases(context: TaskContext, names: DiagnosisNames) -> list[SidedCase]:
    """What the figures are of; of DDXPlus and the phenopackets at most ``limit`` cases each."""
    clinic, phenopackets, lay = _of_half(context, names, "judge")
    return [
        *clinic,
        *phenopackets,
        *lay,
        *_strangers(context, STRANGERS_OUTSIDE, "strangers_outside", names),
        *_ddxplus(context.sample(validate_texts(context.data))),
        *_strangers(context, STRANGERS_INSIDE, "strangers_inside", names),
    ]


def fitted_cases(context: TaskContext, names: DiagnosisNames) -> list[SidedCase]:
    """What the score may be fitted on: the other halves, DDXPlus's train rows, the project's own written cases."""
    clinic, phenopackets, lay = _of_half(context, names, "fit")
    train = _ddxplus(split_texts(context.data, "train"))
    return [*clinic, *phenopackets, *lay, *train, *written_cases(), *short_cases(names)]


def _of_half(context: TaskContext, names: DiagnosisNames, half: Half) -> list[list[SidedCase]]:
    """Of a half: AgentClinic's cases; the first patient of each paper with enough terms, told as prose; and patients
    that were worded as a patient or a parent might."""
    clinic = [
        SidedCase("agentclinic", c.id, c.text, names.disease(c.gold_diagnosis) or "")
        for c in read_clinic(context.data)
        if half_of(c.id) == half
    ]

    def told(source: str, patients: Iterable[tuple[Patient, str]]) -> list[SidedCase]:
        return [SidedCase(source, p.id, text, names.disease(p.gold_diagnosis.label) or "") for p, text in patients]

    patients = read_jsonl(context.data / PATIENTS, Patient)
    first: dict[str, Patient] = {}
    for row in patients:
        if len(row.observed) >= LEAST_TERMS and half_of(row.pmid) == half:
            first.setdefault(row.pmid, row)
    lay = [(p, text) for p, text in read_lay(patients) if half_of(p.pmid) == half]
    prose = context.sample(told("phenopackets", [(p, p.prose()) for p in first.values()]))
    return [clinic, prose, told("phenopackets_lay", lay)]


def written_cases() -> list[SidedCase]:
    """The project's own cases of the graph's diseases, English and Chinese."""
    rows = read_cases(SHIPPED, DIFFERENTIAL, DifferentialCase)
    own = [SidedCase("written", c.id, c.text, c.disease) for c in rows]
    return own + [SidedCase("chinese", c.id, c.text, c.disease) for p in (FIRST, SECOND) for c in read_chinese(p)]


def short_cases(names: DiagnosisNames) -> list[SidedCase]:
    """The short vignettes."""
    rows = read_yaml_rows(SHORT, ShortCase)
    return [SidedCase("short", c.id, c.text, names.disease(c.diagnosis) or "") for c in rows]


def _ddxplus(rows: Sequence[TextPatient]) -> list[SidedCase]:
    conditions = read_conditions()
    return [SidedCase("ddxplus", row.id, row.text, conditions[row.pathology]) for row in rows]


def _strangers(context: TaskContext, file: str, source: str, names: DiagnosisNames) -> Iterator[SidedCase]:
    for number, row in enumerate(read_jsonl(context.data / file, Stranger) if context.has(file) else ()):
        known = names.disease(row.disease) or (names.disease(row.icd10) if row.icd10 else None) or ""
        yield SidedCase(source, f"{source}-{number}", row.text, known)


TASK = Task(
    name="outside",
    what="where the graph's knowledge ends: cases of diseases that it lacks, and of diseases that it holds",
    inputs=INPUTS,
    optional=(STRANGERS_OUTSIDE, STRANGERS_INSIDE),
    expected="6 minutes",
    limit=100,
    by_agent=True,
    asks=AgentEvaluation(items, judge, counted),
)
