"""The ranking of a graph and of a collection of records together, and the lines of diagnoses that only records have."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from prompts.errors import InputError
from tools.contract import RankedDisease
from tools.encoders import Encoder
from tools.evidence import Evidence, Origin
from tools.icd10 import ICD10
from tools.knowledge_graph.building.contract import Record
from tools.knowledge_graph.formats.foreign import key_of
from tools.knowledge_graph.frequencies import HOW_COMMON
from tools.knowledge_graph.matching import Match, Matcher
from tools.knowledge_graph.ranking import PRIOR, Matrix
from tools.knowledge_graph.record_diagnoses import DiagnosisNames
from tools.knowledge_graph.record_learning import SPEAKS, Learned, RecordLearning
from tools.knowledge_graph.record_readings import readings_of
from tools.knowledge_graph.record_statements import RecordStatements, best_findings
from tools.knowledge_graph.schema import Graph
from tools.text.clauses import Clause, clauses
from tools.text.demographics import Person
from tools.text.language import language_of

OWN = "record-"  # begins the id of a diagnosis that only records have
LEVEL = "record of the user's collection, not reviewed"
UNHEARD = "uncommon"  # ours: how common a diagnosis is taken to be of which only records are known
_UNFIT = re.compile(r"[@\s]+")  # what an evidence id may not hold


class Weighed(NamedTuple):
    """One case weighed by graph and records. ``log_scores``: of the graph's diseases, then of the records' own."""

    log_scores: Matrix
    learned: Learned
    told: Sequence[Clause]


class RecordRanking:
    """The diagnoses of a graph and of a collection. ``ids``: of the graph's diseases, then of the records' own.

    Args:
        graph: the graph. records: the collection.
        matcher: reads clauses as findings. encoder: of clauses; its cache keeps the vectors of the records' clauses.
        folder: where the readings of the records are kept. reader: names the graph and the encoder that made them.
        table: names of ICD-10 codes, None for none.
    """

    def __init__(
        self,
        graph: Graph,
        records: Sequence[Record],
        matcher: Matcher,
        encoder: Encoder,
        folder: Path,
        reader: str,
        table: ICD10 | None = None,
    ) -> None:
        self._records = tuple(records)
        names = DiagnosisNames(graph, table)
        position = {d.id: i for i, d in enumerate(graph.diseases)}
        self._own: dict[str, str] = {}
        at = []
        for record in self._records:
            disease = names.disease(record.diagnosis)
            if disease is None:
                own = OWN + key_of(record.diagnosis)
                self._own.setdefault(own, record.diagnosis)
                position.setdefault(own, len(position))
                disease = own
            at.append(position[disease])
        self._at, self.ids = at, tuple(position)
        told = [clauses(r.text, Person(r.age)) for r in self._records]
        best = readings_of(told, lambda c: best_findings(c, matcher.match(c)), folder, reader)
        self._statements = RecordStatements(told, best, encoder)
        self._learning = RecordLearning(self._statements, at, len(position))
        everything = sum(HOW_COMMON[d.how_common] for d in graph.diseases)
        self._own_score = PRIOR * float(np.log(HOW_COMMON[UNHEARD] / everything))

    def weigh(
        self, log_scores: Matrix, told: Sequence[Clause], matches: Sequence[Match], without: int | None = None
    ) -> Weighed | None:
        """A case weighed by both; None when no record says anything of it, so that the graph's ranking stands.

        Args:
            log_scores: (diseases,), the graph's own. told, matches: the case's clauses, and what they are read as.
            without: position of a record that is left out: a case that is itself a record, when a ranking is tested.
        """
        learned = self._learning.learn(self._statements.agreement(told, matches, without), without)
        if not learned.gains.any():
            return None
        own = np.full(len(self._own), self._own_score)
        together = np.concatenate([log_scores, own]) + learned.log_ratios
        silent = learned.log_ratios <= SPEAKS
        silent[: len(log_scores)] = False
        together[silent] = -np.inf  # a diagnosis that the graph lacks is ranked when records speak for it
        return Weighed(together, learned, told)

    def lines(
        self, lines: Mapping[int, RankedDisease], weighed: Weighed, shares: Matrix, told: Sequence[int]
    ) -> dict[int, RankedDisease]:
        """The lines of a differential: the graph's with the records that spoke for each, and the records' own.

        Args:
            lines: the graph's, by position. shares: of belief. told: positions of all that are ranked.
        """
        return {d: self._line(lines.get(d), d, float(shares[d]), weighed) for d in told}

    def _line(self, line: RankedDisease | None, at: int, share: float, weighed: Weighed) -> RankedDisease:
        support = self._learning.support(weighed.learned, at)
        records = tuple(_name(self._records[r]) for r in support.records)
        shared = tuple(dict.fromkeys(weighed.told[c].text for c in support.clauses))
        if line is not None:
            return line.model_copy(update={"records": records, "shared": shared})
        return RankedDisease(
            disease=self.ids[at],
            name=self._own[self.ids[at]],
            icd10="",
            l2="",
            l1="",
            score=share,
            severity="unknown",
            findings_for=shared,
            records=records,
            shared=shared,
            evidence_id=records[0],
        )

    def knows(self, disease: str) -> bool:
        """Whether an id is that of a diagnosis which only records have."""
        return disease in self._own

    def evidence_for(self, disease: str, record: str = "") -> Evidence:
        """A record of a diagnosis that the graph lacks: the one named, else its first; InputError for another id."""
        if disease not in self._own:
            raise InputError(f"No record has the diagnosis {disease!r}.", "Use an id from a differential.")
        of = [r for r, at in zip(self._records, self._at, strict=True) if self.ids[at] == disease]
        chosen = next((r for r in of if _name(r) == record), of[0])
        return Evidence(
            id=_name(chosen),
            text=chosen.text,
            title=chosen.diagnosis,
            kind="record",
            origin=Origin.RETRIEVED,
            level=LEVEL,
            language=language_of(chosen.text),
        )


def _name(record: Record) -> str:
    """The record's evidence id."""
    return f"record:{_UNFIT.sub('_', record.id)}"
