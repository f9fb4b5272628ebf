"""`cases`: the written cases that the project ships, through the whole agent, without a model and without PubMed.

``cases.all|en|zh`` are the differentials. An emergency counts as flagged when the answer carries a red flag. False
flags are counted on what only sounds like an emergency (``near_emergencies``) and on the ``others``, of which the cases
of urgent diseases are left out because a flag may be right there. An evidence question counts when any statement cites
the right monograph (``right_monograph``), and, more strictly, when the first statement does (``right_first``). Declined
means: no statement, no differential and no choice. ``conversations`` are sessions of several turns: a turn is right
when its answer holds all that is written beside it (kind, leading diagnosis, citations, notices, words), a session when
every turn is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evals.contract import Figure, Task, TaskContext
from evals.datasets.cases import (
    DECLINE,
    DIFFERENTIAL,
    EMERGENCIES,
    EVIDENCE,
    DeclineCase,
    DifferentialCase,
    EmergencyCase,
    EvidenceCase,
    Written,
    read_cases,
)
from evals.datasets.conversations import CONVERSATIONS, Conversation, lacks, read_conversations
from evals.statistics import share
from prompts.errors import DataError
from tools.evidence import EvidenceId

if TYPE_CHECKING:
    from evals.agent_runs import Ask
    from graphs.answering.contract import Answer

WHAT = "the written cases through the agent: differentials, emergencies, evidence, declining, conversations"
SHIPPED = Path(__file__).resolve().parents[2] / "tests" / "cases"
CALM = ("routine", "self_limiting")  # severities of the graph at which no flag is due


@dataclass(frozen=True)
class Answered:
    """Every case with its answer, by kind."""

    differentials: Sequence[tuple[DifferentialCase, Answer]]
    emergencies: Sequence[tuple[EmergencyCase, Answer]]
    evidence: Sequence[tuple[EvidenceCase, Answer]]
    decline: Sequence[tuple[DeclineCase, Answer]]
    conversations: Sequence[tuple[Conversation, Sequence[Answer]]] = ()


def run(context: TaskContext) -> list[Figure]:
    """Ask every case and count."""
    from evals.agent_runs import asking
    from evals.conversation_runs import talking
    from tools.knowledge_graph.loader import read_graph

    differentials = read_cases(context.data, DIFFERENTIAL, DifferentialCase)
    severity = {d.id: d.severity for d in read_graph().diseases}
    unknown = sorted({c.disease for c in differentials} - set(severity))
    if unknown:
        raise DataError(f"The starter graph lacks {', '.join(unknown)}.", f"Mend {DIFFERENTIAL}.")
    emergencies = read_cases(context.data, EMERGENCIES, EmergencyCase)
    evidence = read_cases(context.data, EVIDENCE, EvidenceCase)
    decline = read_cases(context.data, DECLINE, DeclineCase)
    conversations = context.sample(read_conversations(context.data))
    with talking(context.settings) as talk:
        ticked = context.tick(conversations, "conversations", len(conversations))
        talked = [(c, talk([t.say for t in c.turns])) for c in ticked]
    with asking(context.settings) as ask:
        answered = Answered(
            _asked(context, ask, differentials, "differentials"),
            _asked(context, ask, emergencies, "emergencies"),
            _asked(context, ask, evidence, "evidence"),
            _asked(context, ask, decline, "decline"),
            talked,
        )
    calm = frozenset(d for d, s in severity.items() if s in CALM)
    return figures_of(answered, calm)


def figures_of(answered: Answered, calm: frozenset[str]) -> list[Figure]:
    """Every figure; ``calm`` are the diseases at which no red flag is due."""
    return [
        *_differentials(answered.differentials),
        *_flags(answered, calm),
        *share("cases.evidence.right_monograph", [c.monograph in cited(a) for c, a in answered.evidence]),
        *share("cases.evidence.right_first", [c.monograph in cited(a)[:1] for c, a in answered.evidence]),
        *share("cases.evidence.abstained", [a.abstained for _, a in answered.evidence]),
        *_declined(answered.decline),
        *conversation_figures(answered.conversations),
    ]


def conversation_figures(talked: Sequence[tuple[Conversation, Sequence[Answer]]]) -> list[Figure]:
    """Turns that hold all that they must, by language, and conversations in which every turn does.

    The turns of one conversation lean on each other: the interval of the turns takes them as independent, and is
    narrower than it should be; that of the conversations is not.
    """
    right = [(c, [not lacks(t, a) for t, a in zip(c.turns, answers, strict=True)]) for c, answers in talked]
    out = share("conversations.turns.right", [ok for _, turns in right for ok in turns])
    for language in ("en", "zh"):
        turns = [ok for c, turns in right if c.language == language for ok in turns]
        out += share(f"conversations.{language}_turns.right", turns)
    return out + share("conversations.whole.right", [all(turns) for _, turns in right])


def cited(answer: Answer) -> list[str]:
    """Names of the documents that the statements cite, in order."""
    ids = [c.evidence_id for s in answer.statements for c in s.citations]
    return list(dict.fromkeys(EvidenceId.parse(i).name for i in ids))


def declined(answer: Answer) -> bool:
    """Whether nothing medical was said."""
    return not answer.statements and not answer.differential and answer.choice is None


def _differentials(rows: Sequence[tuple[DifferentialCase, Answer]]) -> list[Figure]:
    out: list[Figure] = []
    for setting, languages in (("all", ("en", "zh")), ("en", ("en",)), ("zh", ("zh",))):
        ranked = [(c.disease, [d.disease for d in a.differential]) for c, a in rows if c.language in languages]
        for k in (1, 3):
            out += share(f"cases.{setting}.top{k}", [disease in ranking[:k] for disease, ranking in ranked])
    return out


def _flags(answered: Answered, calm: frozenset[str]) -> list[Figure]:
    near = [bool(a.emergency) for c, a in answered.emergencies if not c.emergency]
    others = [bool(a.emergency) for c, a in answered.differentials if c.disease in calm]
    others += [bool(a.emergency) for _, a in (*answered.evidence, *answered.decline)]
    return [
        *share("cases.emergencies.flagged", [bool(a.emergency) for c, a in answered.emergencies if c.emergency]),
        *share("cases.near_emergencies.false_flags", near),
        *share("cases.others.false_flags", others),
    ]


def _declined(rows: Sequence[tuple[DeclineCase, Answer]]) -> list[Figure]:
    out = share("cases.decline.declined", [declined(a) for _, a in rows])
    for kind in ("small_talk", "out_of_scope", "no_evidence"):
        out += share(f"cases.{kind}.declined", [declined(a) for c, a in rows if c.kind == kind])
    return out


def _asked(context: TaskContext, ask: Ask, cases: list[Written], label: str) -> list[tuple[Written, Answer]]:
    chosen = context.sample(cases)
    return [(case, ask(case.text)) for case in context.tick(chosen, label, len(chosen))]


TASK = Task(
    name="cases",
    what=WHAT,
    inputs=(DIFFERENTIAL, EMERGENCIES, EVIDENCE, DECLINE, CONVERSATIONS),
    expected="2 minutes; 4 the first time",
    limit=200,
    run=run,
    by_agent=True,
    home_data=SHIPPED,
)
