"""The cases of `completeness`, the two arms that its gate chooses between run on each, and what the gate sees of them.

Cases are DDXPlus's with information removed and in lay language, AgentClinic's, and the project's own. Direct: the
starter graph's first look-up on the text as given, nothing else. Retrieve: the same case researched, with the 98 train
rows of DDXPlus as the user's records, from which the ranking learns. Library and passages are retrieved too, but change
no rank, so they are not run here.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from evals.contract import TaskContext
from evals.datasets.cases import DIFFERENTIAL, DifferentialCase, read_cases
from evals.datasets.clinical import read_clinic
from evals.datasets.ddxplus import LEVELS, TextPatient, degraded, read_conditions, read_lay, split_texts, validate_texts
from evals.tasks.cases import SHIPPED
from evals.tasks.differential.graphs import train_records
from evals.training.gate_calibration import Example
from evals.training.gate_diagnosers import code_sha256
from graphs.completeness.calibrated import case_features
from graphs.completeness.labels import units
from graphs.completeness.local import told_of
from tools.contract import Differential
from tools.encoders import Encoder
from tools.evidence import Frozen
from tools.icd10 import ICD10, load_icd10
from tools.knowledge_graph.loader import STARTER, content_hash
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.knowledge_graph.names import DiagnosisNames
from tools.knowledge_graph.record_ranking import OWN, RecordCollection
from tools.knowledge_graph.schema import Graph, key_of
from tools.text.sentences import sentences

Kept = TypeVar("Kept", bound=BaseModel)
WAIT = 60.0  # ours: seconds that a write waits for another run of the same evaluation
SHOWN = 10  # lines of the first look-up that a gate sees, as the agent's gate does (`KnowledgeGraph.look_up`)
EXPLAINED = 2  # ours: of these, the lines whose findings a gate's labels read
WEIGHTS = {"agentclinic": 4.0}  # ours: a case told at one level weighs as much as one told at four
SOURCES = ("ddxplus", "ddxplus_lay", "agentclinic", "train", "written")


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


def right_of(pathology: str) -> frozenset[str]:
    """Ids of a condition of the release: the starter graph's disease, and the records' own diagnosis."""
    return frozenset({read_conditions()[pathology], OWN + key_of(pathology)})


def conditions() -> frozenset[str]:
    """Every id of every condition of the release."""
    return frozenset(i for pathology in read_conditions() for i in right_of(pathology))


def cases_of(context: TaskContext, graph: Graph, table: ICD10) -> dict[str, list[ArmCase]]:
    """Every case by its source, in the order of `SOURCES`: DDXPlus's validate and train rows and the written cases at
    every level, the others whole. AgentClinic's diagnosis is the graph's disease of that name or ICD-10 code."""

    def at_every_level(rows: Sequence[TextPatient]) -> list[ArmCase]:
        right = {p: right_of(p) for p in {r.pathology for r in rows}}
        return [
            ArmCase(r.id, level, degraded(r, level, context.seed), right[r.pathology], r.names_gold)
            for level in LEVELS
            for r in rows
        ]

    validate = context.sample(validate_texts(context.data))
    rows = {r.id: r for r in validate}
    lay = [
        ArmCase(own.id, 0, own.text, right_of(rows[own.id].pathology), rows[own.id].names_gold)
        for own in read_lay()
        if own.id in rows
    ]
    names = DiagnosisNames(graph, table)
    clinic = []
    for case in context.sample(read_clinic(context.data)):
        disease = names.disease(case.gold_diagnosis)
        named = case.gold_diagnosis.casefold() in case.text.casefold()
        clinic.append(ArmCase(case.id, 0, case.text, frozenset({disease} if disease else ()), named))
    written = []
    for own in read_cases(SHIPPED, DIFFERENTIAL, DifferentialCase):
        first = next(iter(sentences(own.text)), None)
        initial = first.of(own.text) if first is not None else ""
        row = TextPatient(
            id=own.id, text=own.text, initial_text=initial, pathology=own.disease, age=0, sex="M", names_gold=False
        )
        right = frozenset({own.disease})
        written += [
            ArmCase(own.id, n, degraded(row, n, context.seed), right, False, own.language) for n in LEVELS
        ]  # fmt: skip
    found = (at_every_level(validate), lay, clinic, at_every_level(split_texts(context.data, "train")), written)
    return dict(zip(SOURCES, found, strict=True))


class KeptOutcomes:
    """Outcomes of look-ups kept in one SQLite file, so that a second run of an evaluation is quick. A damaged row is
    computed again.

    Args:
        path: the file. setting: names all that an outcome depends on beside its text.
    """

    def __init__(self, path: Path, setting: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._setting = setting
        self._table = sqlite3.connect(path, timeout=WAIT, isolation_level=None)  # each outcome is on disk at once
        self._table.execute("PRAGMA journal_mode = WAL")
        self._table.execute("PRAGMA synchronous = NORMAL")
        self._table.execute("CREATE TABLE IF NOT EXISTS outcomes (key TEXT PRIMARY KEY, value BLOB NOT NULL)")

    def get(self, arm: str, text: str, model: type[Kept], compute: Callable[[], Kept]) -> Kept:
        """An arm's outcome for a text, computed when it is not known."""
        key = hashlib.sha256(f"{arm}\0{self._setting}\0{text}".encode()).hexdigest()
        row = self._table.execute("SELECT value FROM outcomes WHERE key = ?", (key,)).fetchone()
        if row is not None:
            try:
                return model.model_validate_json(zlib.decompress(row[0]))
            except (zlib.error, ValidationError):
                pass  # an outcome of another form is computed again
        value = compute()
        blob = zlib.compress(value.model_dump_json().encode())
        self._table.execute("INSERT OR REPLACE INTO outcomes VALUES (?, ?)", (key, blob))
        return value

    def close(self) -> None:
        """Close the file."""
        self._table.close()


class ArmOutcome(Frozen):
    """What an arm made of a case: all that it ranked, and its first lines with findings and questions."""

    ranking: tuple[tuple[str, float], ...]
    differential: Differential

    @property
    def first(self) -> str:
        """The disease that stands first; "" where nothing was ranked."""
        return self.ranking[0][0] if self.ranking else ""


@dataclass(frozen=True)
class ArmRow:
    """A case at one level, and what both arms made of it."""

    case: ArmCase
    direct: ArmOutcome
    retrieve: ArmOutcome

    @property
    def direct_right(self) -> bool:
        """Whether the first disease of the direct arm is the right one."""
        return self.direct.first in self.case.right

    @property
    def retrieve_right(self) -> bool:
        """The same of the retrieve arm."""
        return self.retrieve.first in self.case.right


class Arms:
    """Both arms over one graph and one collection.

    Args:
        data: the data folder. indexes: of the agent's data folder. encoder: of both.
        folder: where outcomes are kept.
    """

    def __init__(self, data: Path, indexes: Path, encoder: Encoder, folder: Path) -> None:
        self.records, self.table = train_records(data), load_icd10(indexes / "icd10.json")
        own = RecordCollection(self.records, encoder)
        self.graph = KnowledgeGraph(encoder, indexes, records=own, table=self.table)
        told = "\n".join(f"{r.id}\0{r.diagnosis}\0{r.age}\0{r.text}" for r in self.records)
        setting = f"{code_sha256()} {content_hash(STARTER)} {encoder.name} {hashlib.sha256(told.encode()).hexdigest()}"
        self._kept = KeptOutcomes(folder / "completeness.sqlite", setting)

    def rows(self, context: TaskContext, cases: Sequence[ArmCase], label: str) -> Iterator[ArmRow]:
        """Both outcomes of each case."""
        for case in context.each(cases, label):
            yield ArmRow(case, *(self._outcome(case, arm) for arm in ("direct", "retrieve")))

    def _outcome(self, case: ArmCase, arm: str) -> ArmOutcome:
        def compute() -> ArmOutcome:
            limit = 2 * len(self.graph.graph.diseases)  # more than there are, those that only records have among them
            found = self.graph.look_up(
                case.text, case.language, limit, explained=EXPLAINED, learn=arm == "retrieve"
            )  # fmt: skip
            shown = found.model_copy(update={"ranking": found.ranking[:SHOWN], "similar": (), "contrasts": ()})
            return ArmOutcome(ranking=tuple((r.disease, r.score) for r in found.ranking), differential=shown)

        key = arm if case.language == "en" else f"{arm} {case.language}"
        return self._kept.get(key, case.text, ArmOutcome, compute)

    def close(self) -> None:
        """Close the file of outcomes."""
        self._kept.close()


@dataclass(frozen=True)
class Pool:
    """The rows that the gate is fitted on and measured with, of several sources, in one order.

    Attributes:
        rows: what both arms made of each. sources: where each is from.
        examples: with the features of the first look-up, grouped by patient.
    """

    rows: tuple[ArmRow, ...]
    sources: tuple[str, ...]
    examples: tuple[Example, ...]

    def of(self, source: str) -> NDArray[np.int64]:
        """Positions of a source's rows."""
        return np.array([i for i, s in enumerate(self.sources) if s == source], dtype=np.int64)

    def groups(self, split: str) -> list[str]:
        """What is held out together: a patient's rows, or a disease's."""
        return [r.case.id if split == "patient" else _disease(r) for r in self.rows]

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        """Whether the direct arm is right."""
        return np.array([r.direct_right for r in self.rows], dtype=bool)

    @cached_property
    def retrieve_right(self) -> NDArray[np.bool_]:
        """Whether the retrieve arm is right."""
        return np.array([r.retrieve_right for r in self.rows], dtype=bool)


def _disease(row: ArmRow) -> str:
    """The starter graph's disease, by which cases of every source meet; a case of none stands alone."""
    return min((i for i in row.case.right if not i.startswith(OWN)), default=row.case.id)


def completeness_pool(context: TaskContext, arms: Arms) -> Pool:
    """Every row of the gates: those that are measured, and the train rows and written cases that only fit."""
    cases = cases_of(context, arms.graph.graph, arms.table)
    return pool_of({name: list(arms.rows(context, found, name)) for name, found in cases.items()})


def pool_of(sources: dict[str, Sequence[ArmRow]]) -> Pool:
    """The pool of the rows of each source."""
    rows = [(name, row) for name, found in sources.items() for row in found]
    examples = tuple(_example(row, WEIGHTS.get(name, 1.0)) for name, row in rows)
    return Pool(tuple(r for _, r in rows), tuple(n for n, _ in rows), examples)


def _example(row: ArmRow, weight: float) -> Example:
    """A row with the features that the gate reads from its text and first look-up."""
    text, look = row.case.text, row.direct.differential
    features = case_features(units(text, look), told_of(text, look).total, look)
    return Example(features, row.direct_right, row.case.id, weight)
