"""The ranking of a graph and of a collection of records together, and the lines of diagnoses that only records have."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prompts.errors import InputError
from tools.contract import RankedDisease, SimilarRecord
from tools.encoders import Encoder
from tools.evidence import Evidence, Origin
from tools.files import locked, write_atomic
from tools.icd10 import ICD10
from tools.knowledge_graph.building.contract import Record
from tools.knowledge_graph.building.files import read_records
from tools.knowledge_graph.matching import Match, Matcher
from tools.knowledge_graph.names import DiagnosisNames
from tools.knowledge_graph.observations import COUNTED
from tools.knowledge_graph.ranking import HOW_COMMON, LEAST, MOST, PRIOR, Matrix
from tools.knowledge_graph.schema import Graph, key_of
from tools.library.document import SPECIAL_TOKENS, pack
from tools.text.clauses import Clause, clauses
from tools.text.demographics import Person, read_person
from tools.text.language import language_of
from tools.text.sentences import Span

# Similar records (d_tau of MedRAG, arXiv 2502.04413): the top k of a collection of records by meaning.
TOP_K = 3  # ours: the source leaves k open; three records can be read beside an answer


class RecordCollection:
    """Records in memory with their vectors.

    Args:
        records: the records. encoder: of records and cases; its own cache keeps the vectors of the records.
    """

    def __init__(self, records: Sequence[Record], encoder: Encoder) -> None:
        self.records, self._encoder = tuple(records), encoder
        pieces = [self._pieces(r.text) for r in records]
        self._vectors = encoder.encode_documents([text for own in pieces for text in own])
        self._starts = np.cumsum([0, *(len(own) for own in pieces[:-1])])

    @classmethod
    def open(cls, path: Path, encoder: Encoder) -> RecordCollection:
        """The collection of a file that `kg build` reads too; raises InputError or DataError as that does."""
        return cls(read_records(path), encoder)

    def __len__(self) -> int:
        """Number of records."""
        return len(self.records)

    def similar(self, case: str, k: int = TOP_K) -> tuple[SimilarRecord, ...]:
        """The k records nearest to a case, nearest first.

        A text beyond the encoder's limit is read in pieces of whole sentences: each piece of the case counts by the
        nearest piece of a record, and all of the case's pieces alike (ours; the source says nothing of long texts).
        """
        if not self.records:
            return ()
        near = self._vectors @ self._encoder.encode_queries(self._pieces(case)).T
        cosines = np.maximum.reduceat(near, self._starts, axis=0).mean(axis=1)
        return tuple(
            SimilarRecord(
                id=f"record:{self.records[i].id}",
                diagnosis=self.records[i].diagnosis,
                text=self.records[i].text,
                similarity=round(float(cosines[i]), 4),
            )
            for i in np.argsort(-cosines, kind="stable")[:k]
        )

    def _pieces(self, text: str) -> list[str]:
        spans = pack(text, Span(0, len(text)), self._encoder.limit - SPECIAL_TOKENS, self._encoder)
        return [span.of(text) for span in spans]


# The findings that the clauses of records are read as, kept on disk: a collection is read once, not at each start.
FORMAT = 1  # raised when the file, or what is read into it, changes its shape


class BestFinding(NamedTuple):
    """The position of a finding in the graph, whether it is denied, and how surely it is told, 0..1."""

    finding: int
    denied: bool
    score: float


Read = Callable[[Sequence[Clause]], list[BestFinding | None]]
Readings = list[list[BestFinding | None]]


def readings_of(clauses: Sequence[Sequence[Clause]], read: Read, folder: Path, reader: str) -> Readings:
    """For each record the finding of each clause, None for none.

    What is known of these clauses by this reader is taken from the folder; the file holds positions, no text.

    Args:
        clauses: of each record. read: reads the clauses of one record.
        folder: where the file lies. reader: names all that the readings depend on (graph, encoder).
    """
    told = json.dumps([[(c.text, c.plain, c.present) for c in record] for record in clauses], ensure_ascii=False)
    key = hashlib.sha256(f"{FORMAT}\0{reader}\0{told}".encode()).hexdigest()
    path = folder / f"records-{key[:16]}.json"
    known = _read(path, [len(record) for record in clauses])
    if known is not None:
        return known
    found = [read(record) for record in clauses]
    with locked(path):
        write_atomic(path, json.dumps(found, separators=(",", ":")).encode())
    return found


def _read(path: Path, lengths: Sequence[int]) -> Readings | None:
    """What the file holds; None for a missing or damaged one, which is then written again."""
    try:
        rows = json.loads(path.read_bytes())
        found = [[None if b is None else BestFinding(int(b[0]), bool(b[1]), float(b[2])) for b in r] for r in rows]
    except (OSError, ValueError, TypeError, IndexError):
        return None
    return found if [len(row) for row in found] == list(lengths) else None


# ours: cosines between which two wordings turn from different statements into the same one. Any place between .80 and
# .99 gives the same within a point when one of the 98 train rows of DDXPlus is left out (docs/knowledge-graph.md).
UNLIKE, SAME = 0.85, 0.95

# What the records of a collection state, each statement once, and how far the clauses of a case agree with them.
#
# A clause agrees with a record that says the same in nearly the same words. Where no record has its words, the finding
# of the graph that it is read as decides: so a case told in other words, or in Chinese, is compared too.
Key = tuple[str, bool, bool]


class Agreement(NamedTuple):
    """Arrays of the clauses of a case.

    Attributes:
        records: (clauses, records), 0..1, how surely the record states the same.
        by_wording: (clauses,), whether words decide, or the finding that a clause is read as.
    """

    records: Matrix
    by_wording: NDArray[np.bool_]


class RecordStatements:
    """The statements of a collection. May be used from several threads.

    Args:
        clauses: of each record. best: for each clause the finding that it is read as (see `record_readings`).
        encoder: of statements and clauses.
    """

    def __init__(
        self, clauses: Sequence[Sequence[Clause]], best: Sequence[Sequence[BestFinding | None]], encoder: Encoder
    ) -> None:
        self._encoder, self._count = encoder, len(clauses)
        holders: dict[Key, set[int]] = {}
        self._findings: dict[tuple[int, bool], dict[int, float]] = {}
        for r, (told, readings) in enumerate(zip(clauses, best, strict=True)):
            for clause, reading in zip(told, readings, strict=True):
                if not countable(clause):
                    continue
                holders.setdefault(_key(clause), set()).add(r)
                if reading is not None:
                    known = self._findings.setdefault((reading.finding, reading.denied), {})
                    known[r] = max(known.get(r, 0.0), reading.score)
        self._row = {key: i for i, key in enumerate(holders)}
        self._holders = [np.array(sorted(records)) for records in holders.values()]
        self._denied = np.array([denied for _, denied, _ in holders], dtype=bool)
        self._other = np.array([other for _, _, other in holders], dtype=bool)
        self._vectors = encoder.encode_documents([text for text, _, _ in holders])
        self._lock = threading.Lock()

    def agreement(self, told: Sequence[Clause], matches: Sequence[Match], without: int | None = None) -> Agreement:
        """How far each record agrees with each clause of a case; rows of clauses that do not count are 0.

        Args:
            without: a record that is left out, as if the collection did not have it.
        """
        out = np.zeros((len(told), self._count))
        counted = [c for c, clause in enumerate(told) if countable(clause)]
        if counted and self._holders:
            self._compare_words([told[c] for c in counted], counted, out)
        kept = np.array([r != without for r in range(self._count)], dtype=bool)
        out *= kept
        by_wording: NDArray[np.bool_] = np.array([row.any() for row in out], dtype=bool)
        best = best_findings(told, matches)
        for c in counted:
            reading = best[c]
            if by_wording[c] or reading is None:
                continue
            for r, score in self._findings.get((reading.finding, reading.denied), {}).items():
                out[c, r] = kept[r] * reading.score * score
        return Agreement(out, by_wording)

    def _compare_words(self, told: Sequence[Clause], rows: Sequence[int], out: Matrix) -> None:
        cosines = self._vectors_of(told) @ self._vectors.T
        denied = np.array([c.present is False for c in told])
        other = np.array([c.other for c in told])
        alike = np.clip((cosines - UNLIKE) / (SAME - UNLIKE), 0, 1)
        alike *= (denied[:, None] == self._denied) & (other[:, None] == self._other)
        for at, statement in np.argwhere(alike > 0):
            holders = self._holders[statement]
            out[rows[at], holders] = np.maximum(out[rows[at], holders], alike[at, statement])

    def _vectors_of(self, told: Sequence[Clause]) -> NDArray[np.float32]:
        """Vectors of clauses: what a record says in the same words is not embedded again."""
        known = [self._row.get(_key(c)) for c in told]
        new = list(dict.fromkeys(c.plain for c, row in zip(told, known, strict=True) if row is None))
        place = {text: i for i, text in enumerate(new)}
        with self._lock:
            fresh = self._encoder.encode_queries(new) if new else self._vectors[:0]
        rows = [fresh[place[c.plain]] if k is None else self._vectors[k] for c, k in zip(told, known, strict=True)]
        return np.asarray(rows, dtype=np.float32)


def countable(clause: Clause) -> bool:
    """Whether a clause is compared: it says something, and not who the patient is, which the graph weighs itself."""
    return any(c.isalpha() for c in clause.plain) and read_person(clause.text).age is None


def best_findings(told: Sequence[Clause], matches: Sequence[Match]) -> list[BestFinding | None]:
    """For each clause the finding that it is surest read as, None where it is read as none."""
    out: list[BestFinding | None] = [None for _ in told]
    for m in matches:
        known = out[m.clause]
        if m.score >= COUNTED and (known is None or m.score > known.score):
            out[m.clause] = BestFinding(m.finding, m.present is False, m.score)
    return out


def _key(clause: Clause) -> Key:
    return (clause.plain, clause.present is False, clause.other)


# A ranking that learns from similar records (ours): what a collection of records says for each diagnosis.
#
# The same sum as the graph's own (`tools.knowledge_graph.ranking`): each statement of the case adds the logarithm of
# how much more often it stands in the records of a diagnosis than in the whole collection, within the same bounds. A
# diagnosis without records gets nothing, for or against. Rates are drawn towards the collection's, so a few records
# say little.

# ours: records that the collection's rate weighs against a diagnosis' own; half a record, as in Jeffreys' prior. .25 to
# 1 give the same within two points when one of the 98 train rows of DDXPlus is left out
WEIGHT = 0.5
UNSEEN = 0.5  # ours: records in and out of the collection that a rate begins with; it keeps rates off 0 and 1
BY_FINDING = 0.5  # ours: weight of a clause compared by its finding: the graph has counted that finding once already
SPEAKS = 0.05  # ours: least gain for which a statement is named; as for findings (`tools.knowledge_graph.entries`)
NAMED = 8  # ours: at most this many statements are named


class Learned(NamedTuple):
    """What the records say about one case.

    Attributes:
        log_ratios: (diagnoses,), what is added to each log-score.
        gains: (clauses, diagnoses), of what it is the sum. records: (clauses, records), who states the same.
    """

    log_ratios: Matrix
    gains: Matrix
    records: Matrix


class Support(NamedTuple):
    """What spoke for one diagnosis: positions of records, most shared first, and of the case's clauses, likewise."""

    records: tuple[int, ...]
    clauses: tuple[int, ...]


class RecordLearning:
    """Log-ratios from records.

    Args:
        statements: of the records.
        diagnosis: for each record the position of its diagnosis, below ``diagnoses``.
        diagnoses: how many there are, those without a record among them.
    """

    def __init__(self, statements: RecordStatements, diagnosis: Sequence[int], diagnoses: int) -> None:
        self._statements = statements
        self._diagnosis = np.array(diagnosis, dtype=np.int64)
        self._member = np.zeros((len(diagnosis), diagnoses))
        self._member[np.arange(len(diagnosis)), self._diagnosis] = 1
        self._records = self._member.sum(axis=0)

    def learn(self, agreement: Agreement, without: int | None = None) -> Learned:
        """What the records say, from how far they agree with the clauses of a case.

        Args:
            without: the record that was left out of the agreement.
        """
        stated, total, counts = agreement.records, len(self._diagnosis), self._records
        if without is not None:
            total, counts = total - 1, counts - self._member[without]
        among_all = (stated.sum(axis=1, keepdims=True) + UNSEEN) / (total + 2 * UNSEEN)
        rate = (stated @ self._member + WEIGHT * among_all) / (counts + WEIGHT)
        gains = np.clip(np.log(rate / among_all), LEAST, MOST)
        gains *= np.where(agreement.by_wording, 1.0, BY_FINDING)[:, None]
        gains[~stated.any(axis=1)] = 0  # what no record states tells nothing
        gains[:, counts == 0] = 0
        return Learned(gains.sum(axis=0), gains, stated)

    def support(self, learned: Learned, diagnosis: int) -> Support:
        """Which records and clauses spoke for a diagnosis; none where the records as a whole do not speak for it."""
        if learned.log_ratios[diagnosis] <= SPEAKS:
            return Support((), ())
        gains = learned.gains[:, diagnosis]
        clauses = [int(c) for c in np.argsort(-gains, kind="stable") if gains[c] > SPEAKS]
        shared = learned.records[clauses].sum(axis=0) * (self._diagnosis == diagnosis)
        records = [int(r) for r in np.argsort(-shared, kind="stable") if shared[r] > 0]
        return Support(tuple(records), tuple(clauses[:NAMED]))


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
