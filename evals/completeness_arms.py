"""The two arms that the completeness gate chooses between, run on every case.

Direct: the starter graph's first look-up on the text as given, nothing else. Retrieve: the same case researched, with
the 98 train rows of DDXPlus as the user's records, from which the ranking learns. Library and passages are retrieved
too, but change no rank, so they are not run here.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from evals.completeness_cases import ArmCase
from evals.contract import TaskContext
from evals.differential_graphs import train_records
from evals.training.gate_diagnosers import code_sha256
from tools.contract import Differential
from tools.encoders import Encoder
from tools.evidence import Frozen
from tools.icd10 import load_icd10
from tools.knowledge_graph.loader import STARTER, content_hash
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.knowledge_graph.record_ranking import RecordCollection

# Outcomes of look-ups kept on disk by content, so that a second run of an evaluation is quick.
Kept = TypeVar("Kept", bound=BaseModel)
WAIT = 60.0  # ours: seconds that a write waits for another run of the same evaluation


class KeptOutcomes:
    """A table of outcomes in one SQLite file. A damaged row is computed again.

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


SHOWN = 10  # lines of the first look-up that a gate sees, as the agent's gate does (`KnowledgeGraph.look_up`)
EXPLAINED = 2  # ours: of these, the lines whose findings a gate's labels read


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
        records = self._records = train_records(data)
        table = load_icd10(indexes / "icd10.json")
        self.graph = KnowledgeGraph(encoder, indexes, records=RecordCollection(records, encoder), table=table)
        told = "\n".join(f"{r.id}\0{r.diagnosis}\0{r.age}\0{r.text}" for r in records)
        setting = f"{code_sha256()} {content_hash(STARTER)} {encoder.name} {hashlib.sha256(told.encode()).hexdigest()}"
        self._kept = KeptOutcomes(folder / "completeness.sqlite", setting)

    def collection(self, encoder: Encoder) -> RecordCollection:
        """The same records with another encoder."""
        return RecordCollection(self._records, encoder)

    def row(self, case: ArmCase) -> ArmRow:
        """Both outcomes of a case."""
        return ArmRow(case, self._outcome("direct", case), self._outcome("retrieve", case))

    def _outcome(self, arm: str, case: ArmCase) -> ArmOutcome:
        key = arm if case.language == "en" else f"{arm} {case.language}"
        return self._kept.get(
            key, case.text, ArmOutcome, lambda: self.outcome(case.text, case.language, learn=arm == "retrieve")
        )

    def outcome(self, text: str, language: str = "en", *, learn: bool) -> ArmOutcome:
        """What an arm makes of a text."""
        limit = 2 * len(self.graph.graph.diseases)  # more than there are, those that only records have among them
        found = self.graph.look_up(text, language, limit, explained=EXPLAINED, learn=learn)
        shown = {"ranking": found.ranking[:SHOWN], "similar": (), "contrasts": ()}
        return ArmOutcome(
            ranking=tuple((r.disease, r.score) for r in found.ranking),
            differential=found.model_copy(update=shown),
        )

    def close(self) -> None:
        """Close the file of outcomes."""
        self._kept.close()


def arm_rows(context: TaskContext, arms: Arms, cases: Sequence[ArmCase], label: str) -> Iterator[ArmRow]:
    """The rows of cases, with progress."""
    for case in context.tick(cases, label, len(cases)):
        yield arms.row(case)
