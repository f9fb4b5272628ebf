"""`follow_up`: how many questions it takes until the right disease is ranked first, by three ways of asking.

Cases: rows of DDXPlus' validate split, drawn by the seed. Each begins with the row's first sentence (age and sex) and
its first complaint; a simulated patient answers from the row's evidences. A case is solved when its pathology
is ranked first: among the 49 conditions (``follow_up``), among every disease of the graph (``follow_up_all``). At
most 15 questions; an unsolved case counts as 15.

``gain`` asks what `tools.knowledge_graph.questions` puts first; ``sigma`` the paper's choice, the open finding of the
winning subcategories that the fewest diseases share (ties by name; all subcategories when the winners' are used up);
``random`` any open finding. All three draw from the same findings: typical ones that a patient of this age and sex can
tell and that the case does not settle. ``gain`` may also ask, once, where it hurts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import Field

from evals.contract import Figure, TaskContext
from evals.datasets.ddxplus import CodedPatient, TextPatient, read_codes, read_conditions
from evals.datasets.rows import read_yaml_rows
from evals.statistics import mean, paired_difference, paired_ratio, share
from prompts.errors import DataError
from tools.contract import Finding
from tools.evidence import Frozen
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.knowledge_graph.observations import Reading
from tools.knowledge_graph.questions import PLACE
from tools.knowledge_graph.schema import Graph

GRAPH = "starter"  # the mapping is of its findings
CASES = 200  # ours: cases a run
MOST = 15  # ours: questions a case
UNSOLVED = -1

Chooser = Callable[[KnowledgeGraph, Reading, random.Random], str | None]
"""The id of what is asked next, None when nothing is left."""


def by_gain(graph: KnowledgeGraph, read: Reading, _: random.Random) -> str | None:
    """What the graph itself asks first."""
    best = graph.questioner.next_questions(read.standing, "en", 1)
    return best[0].finding if best else None


def by_sigma(graph: KnowledgeGraph, read: Reading, _: random.Random) -> str | None:
    """The paper's choice."""
    every = [s.id for s in graph.graph.subcategories]
    for winners in (read.votes.winners, every):
        found = graph.questioner.by_sigma(read.standing, winners)
        if found:
            return found[0]
    return None


def at_random(graph: KnowledgeGraph, read: Reading, dice: random.Random) -> str | None:
    """Any open finding."""
    left = graph.questioner.open_findings(read.standing)
    return graph.graph.findings[dice.choice(left)].id if left else None


ARMS: dict[str, Chooser] = {"gain": by_gain, "sigma": by_sigma, "random": at_random}


@dataclass(frozen=True)
class Solved:
    """After how many questions the pathology was first: among the conditions, among all; `UNSOLVED` for never."""

    conditions: int
    every: int


def figures(context: TaskContext, graph: KnowledgeGraph, rows: Sequence[TextPatient]) -> list[Figure]:
    """Every figure over at most `CASES` of these rows."""
    mapping, codes, conditions = read_mapping(graph.graph), read_codes(context.data), read_conditions()
    asker = Asker(graph, mapping, conditions)
    ended: dict[str, list[Solved]] = {}
    chosen = context.sample_of(rows, CASES)
    for arm in ARMS:
        cases = context.each(chosen, f"follow-up, {arm}")
        ended[arm] = [asker.ask(row, codes[row.id], arm, context.seed) for row in cases]
    asked = [graph.graph.findings[i].id for i in graph.questioner.askable]  # those that may be asked about
    return share("follow_up.mapping.findings", [f in mapping for f in asked]) + figures_of(ended, context.seed)


def figures_of(ended: dict[str, list[Solved]], seed: int) -> list[Figure]:
    """Questions and solved cases of each arm, and the arms against each other over the same cases."""
    out: list[Figure] = []
    for name, place in (("follow_up", 0), ("follow_up_all", 1)):
        counts = {arm: [(s.conditions, s.every)[place] for s in solved] for arm, solved in ended.items()}
        spent = {arm: [float(MOST if n == UNSOLVED else n) for n in asked] for arm, asked in counts.items()}
        for arm in ended:
            out += mean(f"{name}.{arm}.questions", spent[arm], seed)
            out += share(f"{name}.{arm}.solved", [n != UNSOLVED for n in counts[arm]])
        for other in ("random", "sigma"):
            out += paired_ratio(f"{name}.gain_of_{other}.percent", spent["gain"], spent[other], seed)
            out += paired_difference(f"{name}.gain_less_{other}.questions", spent["gain"], spent[other], seed)
    return out


class Asker:
    """Holds the conversation with a simulated patient."""

    def __init__(self, graph: KnowledgeGraph, mapping: dict[str, tuple[Tell, ...]], conditions: dict[str, str]) -> None:
        self._graph, self._mapping, self._conditions = graph, mapping, conditions
        self._among = np.array([d.id in set(conditions.values()) for d in graph.graph.diseases])
        self._position = {d.id: i for i, d in enumerate(graph.graph.diseases)}
        self._pains = [graph.graph.findings[i].id for i in graph.questioner.pains]

    def ask(self, row: TextPatient, coded: CodedPatient, arm: str, seed: int) -> Solved:
        """One case with one way of asking; the same seed asks the same."""
        patient = SimulatedPatient(self._graph.graph, self._mapping, frozenset(coded.evidences))
        dice = random.Random(f"{seed}/{row.id}")  # noqa: S311
        text = f"{row.text.split('. ')[0]}. {row.initial_text}"
        right = self._position[self._conditions[row.pathology]]
        known: list[Finding] = []
        solved = Solved(UNSOLVED, UNSOLVED)
        for number in range(MOST + 1):
            read = self._graph.read(text, known)
            if read.standing.seen:  # nothing is ranked, and so nothing solved, before the case has a finding
                shares = self._graph.shares(read.standing)
                first = int(np.where(self._among, shares, 0).argmax()) == right, int(shares.argmax()) == right
                now = zip(first, (solved.conditions, solved.every), strict=True)
                solved = Solved(*(number if hit and was == UNSOLVED else was for hit, was in now))
            if number == MOST or UNSOLVED not in (solved.conditions, solved.every):
                break
            asked = ARMS[arm](self._graph, read, dice)
            if asked is None:
                break
            known += self._answers(patient, asked)
        return solved

    def _answers(self, patient: SimulatedPatient, asked: str) -> list[Finding]:
        if asked != PLACE:
            return [Finding(id=asked, name="", clause="", present=patient.answer(asked))]
        hurts = [f for f in self._pains if patient.answer(f)]
        told = [Finding(id=f, name="", clause="", present=True) for f in hurts]
        return [Finding(id=PLACE, name="", clause="", present=bool(hurts)), *told]


# Findings of the starter graph as evidences of DDXPlus, and a simulated patient who answers from a row's evidences.
# The file `ddxplus_findings.yaml` is the mapping and says how it was made. What it lacks the patient does not know.

MAPPING = Path(__file__).parent / "ddxplus_findings.yaml"
NO = "no "

Tell = tuple[str, bool]  # an evidence, with its value where it has one, and whether it states or denies the finding


class Told(Frozen):
    """A finding, and the evidences that tell it; ``no CODE`` denies it."""

    finding: str = Field(min_length=1)
    told_by: tuple[str, ...] = Field(min_length=1)


def read_mapping(graph: Graph, path: Path = MAPPING) -> dict[str, tuple[Tell, ...]]:
    """Finding -> the evidences that tell it; raises DataError for a finding that the graph lacks."""
    rows = read_yaml_rows(path, Told)
    unknown = sorted({row.finding for row in rows} - set(graph.finding))
    if unknown:
        raise DataError(f"{path.name} names findings that the graph lacks: {', '.join(unknown)}.", "Mend the file.")
    return {
        row.finding: tuple((code.removeprefix(NO), not code.startswith(NO)) for code in row.told_by) for row in rows
    }


@dataclass(frozen=True)
class SimulatedPatient:
    """Answers by code. ``evidences``: what the row has, with values."""

    graph: Graph
    mapping: Mapping[str, tuple[Tell, ...]]
    evidences: frozenset[str]

    def answer(self, finding: str) -> bool | None:
        """Yes when an evidence of the finding, or of one that implies it, is there; no when it could be and is not, or
        when what it implies is not there; None when no evidence tells it.
        """
        below = [self._told(f) for f in (finding, *self.graph.narrower[finding])]
        if True in below:
            return True
        return False if False in (self._told(f) for f in (finding, *self.graph.broader(finding))) else None

    def _told(self, finding: str) -> bool | None:
        tells = self.mapping.get(finding, ())
        found = [states for evidence, states in tells if evidence in self.evidences]
        if found:
            return any(found)
        return False if any(states for _, states in tells) else None
