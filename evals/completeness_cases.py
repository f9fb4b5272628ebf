"""The cases of `completeness`: DDXPlus with information removed, in lay language, and AgentClinic's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evals.contract import TaskContext
from evals.datasets.cases import DIFFERENTIAL, DifferentialCase, read_cases
from evals.datasets.clinical import read_clinic
from evals.datasets.ddxplus import LEVELS, TextPatient, degraded, read_conditions, read_lay, split_texts, validate_texts
from evals.tasks.cases import SHIPPED
from tools.icd10 import ICD10
from tools.knowledge_graph.formats import key_of
from tools.knowledge_graph.names import DiagnosisNames
from tools.knowledge_graph.record_ranking import OWN
from tools.knowledge_graph.schema import Graph
from tools.text.sentences import sentences


@dataclass(frozen=True)
class ArmCase:
    """A case as both arms are given it.

    Attributes:
        id: of the case. level: percent of its statements that were removed. text: what is left.
        right: ids under which a ranking may hold the right disease: the graph's, and a record's diagnosis by its name;
            none where neither has it, which counts as wrong for both arms.
        names_gold: the whole text names the diagnosis.
        language: of the text.
    """

    id: str
    level: int
    text: str
    right: frozenset[str]
    names_gold: bool
    language: str = "en"


def ddxplus_cases(context: TaskContext) -> list[ArmCase]:
    """The validate rows at every level."""
    rows = context.sample(validate_texts(context.data))
    return [c for level in LEVELS for c in _at(rows, level, context.seed)]


def train_cases(context: TaskContext) -> list[ArmCase]:
    """The train rows at every level."""
    rows = split_texts(context.data, "train")
    return [c for level in LEVELS for c in _at(rows, level, context.seed)]


def lay_cases(context: TaskContext) -> list[ArmCase]:
    """The rows that were reworded in lay language, whole."""
    rows = {r.id: r for r in context.sample(validate_texts(context.data))}
    return [
        ArmCase(lay.id, 0, lay.text, right_of(rows[lay.id].pathology), rows[lay.id].names_gold)
        for lay in read_lay()
        if lay.id in rows
    ]


def written_cases(context: TaskContext) -> list[ArmCase]:
    """The project's own written cases at every level, English and Chinese."""
    out = []
    for case in read_cases(SHIPPED, DIFFERENTIAL, DifferentialCase):
        first = next(iter(sentences(case.text)), None)
        row = TextPatient(
            id=case.id,
            text=case.text,
            initial_text=first.of(case.text) if first is not None else "",
            pathology=case.disease,
            age=0,
            sex="M",
            names_gold=False,
        )
        out += [
            ArmCase(case.id, n, degraded(row, n, context.seed), frozenset({case.disease}), False, case.language)
            for n in LEVELS
        ]
    return out


def clinic_cases(context: TaskContext, graph: Graph, table: ICD10) -> list[ArmCase]:
    """AgentClinic's cases, whole; the diagnosis is the graph's disease of that name or ICD-10 code."""
    names = DiagnosisNames(graph, table)
    out = []
    for case in context.sample(read_clinic(context.data)):
        disease = names.disease(case.gold_diagnosis)
        named = case.gold_diagnosis.casefold() in case.text.casefold()
        out.append(ArmCase(case.id, 0, case.text, frozenset({disease} if disease else ()), named))
    return out


def right_of(pathology: str) -> frozenset[str]:
    """Ids of a condition of the release: the starter graph's disease, and the records' own diagnosis."""
    return frozenset({read_conditions()[pathology], OWN + key_of(pathology)})


def conditions() -> frozenset[str]:
    """Every id of every condition of the release."""
    return frozenset(i for pathology in read_conditions() for i in right_of(pathology))


def _at(rows: Sequence[TextPatient], level: int, seed: int) -> list[ArmCase]:
    right = {p: right_of(p) for p in {r.pathology for r in rows}}
    return [ArmCase(r.id, level, degraded(r, level, seed), right[r.pathology], r.names_gold) for r in rows]
