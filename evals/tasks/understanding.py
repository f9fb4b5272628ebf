"""`understanding`: what a first message is taken for, by the triage alone with the starter library beside it.

``kinds.SET``: of medical questions, ``refused`` are those called out of scope or courtesy, ``as_case`` those taken for
a patient's case, ``as_emergency`` those that raise a flag; ``macro_f1`` is of the kinds of turn. ``other.SET.declined``
is of messages of another field. ``emergencies.SET``: ``found``, and ``look_alikes_flagged``; ``by_numbers`` leaves the
trained head out, and ``found_from_N`` with ``look_alikes_from_N`` is the same where the head counts from N percent: the
curve. ``ddxplus.mild.flagged`` is of patients whose condition is no danger; ``findings``: `evals.stated_findings`;
``additions``: `evals.kept_facts`; ``turns``: `evals.asked_turns`.
Figures only, never rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from evals import asked_turns, kept_facts, stated_findings
from evals.contract import Figure, Task, TaskContext
from evals.datasets.ddxplus import CODES, RELEASED_CONDITIONS, STATEMENTS, TEXTS, read_texts
from evals.datasets.liveqa import LIVEQA
from evals.datasets.messages import (
    KIND_OF,
    KQA,
    STRANGERS_EMERGENCIES,
    STRANGERS_KINDS,
    UNSEEN_EMERGENCIES,
    UNSEEN_KINDS,
    Message,
    Told,
    mild_conditions,
    read_messages,
    read_questions,
    read_told,
)
from evals.datasets.mirage import EXAM, read_exam
from evals.datasets.rows import SHIPPED
from evals.statistics import share
from evals.verdict_figures import macro_f1
from graphs.triage.contract import Kind, SessionView, TriageDecision
from graphs.triage.emergency import by_numbers
from graphs.triage.local import TriageLocal
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.reading import corpus
from tools.reading.corpus import BIOASQ, PUBMEDQA
from tools.reading.messages import emergency_chance
from tools.text.language import language_of

WHAT = "first messages: medical questions refused or taken for a case, other fields declined, emergencies found"
CURVE = (5, 10, 20, 30, 50, 70)  # ours: percent from which the head counts
AWAY = (Kind.OUT_OF_SCOPE, Kind.SMALL_TALK, Kind.ASSISTANT)
KINDS = tuple(sorted(set(KIND_OF.values())))
ABSENT = "not measured: {} is not there"


class Marked(NamedTuple):
    """A message that may be an emergency: whether it is, what its numbers say, and how sure the head is."""

    emergency: bool
    flagged: bool
    numbers: bool
    chance: float


def run(context: TaskContext) -> list[Figure]:
    """Read every message of every file that is there."""
    triage = _triage(context)
    out: list[Figure] = []
    pooled: list[TriageDecision] = []
    for name, texts in question_sets(context).items():
        read = _decided(context, triage, name, texts)
        pooled += read
        out += question_figures(f"kinds.{name}", read)
    out += question_figures("kinds.all", pooled)
    for name, path in _sets(context, UNSEEN_KINDS, STRANGERS_KINDS).items():
        rows = context.sample(read_messages(path))
        out += message_figures(name, rows, _decided(context, triage, name, [r.text for r in rows]), context.seed)
    for name, path in _sets(context, UNSEEN_EMERGENCIES, STRANGERS_EMERGENCIES).items():
        told = context.sample(read_told(path))
        decided = _decided(context, triage, name, [row.text for row in told])
        out += emergency_figures(name, [_marked(row, one) for row, one in zip(told, decided, strict=True)])
    graph = _graph(context)
    out += (
        _mild(context, triage)
        + asked_turns.figures(context, triage)
        + kept_facts.figures(context, triage)
        + stated_findings.figures(context, graph)
    )
    patients = all(_there(context, file) for file in (TEXTS, CODES, STATEMENTS))
    return out + (stated_findings.patients(context, graph) if patients else [])


def question_sets(context: TaskContext) -> dict[str, list[str]]:
    """Medical questions by the set that they come from. BioASQ and PubMedQA: those that no head was trained on."""
    out = {}
    for name, file in (("bioasq", BIOASQ), ("pubmedqa", PUBMEDQA)):
        if _there(context, file):
            held = corpus.division()[name]
            out[name] = [row["question"] for row in corpus.rows(context.data / file) if row["id"] in held]
    sent = (("liveqa", LIVEQA), ("kqa", KQA))
    out |= {name: read_questions(context.data / file) for name, file in sent if _there(context, file)}
    if _there(context, EXAM):  # MedQA's questions are patients' stories
        exams = read_exam(context.data)
        out |= {name: [row.question for row in rows] for name, rows in exams.items() if name != "medqa"}
    return {name: context.sample(texts) for name, texts in out.items()}


def question_figures(name: str, read: Sequence[TriageDecision]) -> list[Figure]:
    """What medical questions were taken for."""
    return [
        *share(f"{name}.refused", [one.kind in AWAY for one in read]),
        *share(f"{name}.as_case", [one.kind is Kind.CASE for one in read]),
        *share(f"{name}.as_emergency", [bool(one.red_flags) for one in read]),
    ]


def message_figures(name: str, rows: Sequence[Message], read: Sequence[TriageDecision], seed: int) -> list[Figure]:
    """How well kinds are told apart, English and Chinese apart, and how many of other fields are declined."""
    pairs = [(KIND_OF[row.kind], str(one.kind.value)) for row, one in zip(rows, read, strict=True)]
    out: list[Figure] = []
    for language in ("en", "zh"):
        some = [pair for row, pair in zip(rows, pairs, strict=True) if language_of(row.text) == language]
        if some:
            there = tuple(kind for kind in KINDS if any(gold == kind for gold, _ in some))
            out += macro_f1(f"kinds.{name}_{language}.macro_f1", some, there, seed)
            out += share(f"kinds.{name}_{language}.right", [gold == said for gold, said in some])
            out += share(f"other.{name}_{language}.declined", _declined(some))
            medical = [said for gold, said in some if gold in ("case", "evidence")]
            out += share(f"kinds.{name}_{language}.refused", [said in AWAY for said in medical])
    return out + share(f"other.{name}.declined", _declined(pairs))


def _declined(pairs: Sequence[tuple[str, str]]) -> list[bool]:
    return [said == Kind.OUT_OF_SCOPE for gold, said in pairs if gold == Kind.OUT_OF_SCOPE]


def emergency_figures(name: str, rows: Sequence[Marked]) -> list[Figure]:
    """Emergencies found, look-alikes flagged, and both where the head counts from another probability."""
    urgent, others = ([r for r in rows if r.emergency is which] for which in (True, False))
    out = [
        *share(f"emergencies.{name}.found", [r.flagged for r in urgent]),
        *share(f"emergencies.{name}.look_alikes_flagged", [r.flagged for r in others]),
        *share(f"emergencies.{name}.found_by_numbers", [r.numbers for r in urgent]),
        *share(f"emergencies.{name}.look_alikes_by_numbers", [r.numbers for r in others]),
    ]
    for least in CURVE:
        for label, some in (("found", urgent), ("look_alikes", others)):
            told = [r.numbers or 100 * r.chance >= least for r in some]
            out += share(f"emergencies.{name}.{label}_from_{least}", told)
    return out


def _mild(context: TaskContext, triage: TriageLocal) -> list[Figure]:
    if not (_there(context, TEXTS) and _there(context, RELEASED_CONDITIONS)):
        return []
    mild = mild_conditions(context.data)
    texts = context.sample([row.text for row in read_texts(context.data) if row.pathology in mild])
    return share("ddxplus.mild.flagged", [bool(d.red_flags) for d in _decided(context, triage, "ddxplus", texts)])


def _marked(row: Told, decision: TriageDecision) -> Marked:
    numbers = bool(by_numbers(row.text, decision.language))
    return Marked(row.emergency, bool(decision.red_flags), numbers, emergency_chance(row.text))


def _sets(context: TaskContext, unseen: str, strangers: str) -> dict[str, Path]:
    """The files of the project's own unseen messages and of the strangers', as far as they are there."""
    paths = {"unseen": SHIPPED / unseen, "strangers": context.data / strangers}
    context.not_run.update({path.name: ABSENT.format(path.name) for path in paths.values() if not path.is_file()})
    return {name: path for name, path in paths.items() if path.is_file()}


def _there(context: TaskContext, file: str) -> bool:
    return (context.data / file).is_file()


def _decided(context: TaskContext, triage: TriageLocal, name: str, texts: Sequence[str]) -> list[TriageDecision]:
    return [triage.decide_now(text, SessionView()) for text in context.tick(texts, name, len(texts))]


def _graph(context: TaskContext) -> KnowledgeGraph:
    from agent.assembly import open_encoder
    from agent.sessions import Home

    home = Home(context.settings.home).prepare()
    return KnowledgeGraph(open_encoder(context.settings, home), home.indexes)


def _triage(context: TaskContext) -> TriageLocal:
    """The triage as the agent has it, over the starter library alone."""
    from agent.adapters import LibraryDocuments
    from agent.assembly import build, open_encoder
    from agent.sessions import Home
    from tools.knowledge_graph.loader import STARTER, read_graph
    from tools.knowledge_graph.names import Names
    from tools.library.collection import Library

    home = Home(context.settings.home).prepare()
    if not (home.indexes / "library").exists():
        build(context.settings, home, rebuild=False, say=lambda _: None)
    library = Library.open(home.indexes / "library", open_encoder(context.settings, home))
    return TriageLocal(LibraryDocuments(library).on_subject, Names(read_graph(STARTER)).diseases_in)


TASK = Task(
    name="understanding",
    what=WHAT,
    inputs=(
        BIOASQ,
        PUBMEDQA,
        LIVEQA,
        KQA,
        EXAM,
        STRANGERS_KINDS,
        STRANGERS_EMERGENCIES,
        TEXTS,
        CODES,
        STATEMENTS,
    ),
    expected="12 minutes",
    limit=400,
    run=run,
    any_of=True,
)
