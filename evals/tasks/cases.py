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

from evals.contract import AgentEvaluation, Figure, Item, Judged, Reply, Task, TaskContext, Told, of_group, short
from evals.datasets.cases import (
    CONVERSATIONS,
    DECLINE,
    DIFFERENTIAL,
    EMERGENCIES,
    EVIDENCE,
    Conversation,
    DeclineCase,
    DifferentialCase,
    EmergencyCase,
    EvidenceCase,
    WrittenCase,
    lacks,
    read_cases,
    read_conversations,
)
from evals.statistics import share
from graphs.answering.contract import Answer
from prompts.errors import DataError
from tools.evidence import EvidenceId
from tools.knowledge_graph.loader import read_graph

SHIPPED = Path(__file__).resolve().parents[1] / "data" / "dev"
GROUPS = ("conversations", "differentials", "emergencies", "evidence", "decline")
CALM = ("routine", "self_limiting")  # severities of the graph at which no flag is due


@dataclass(frozen=True)
class Answered:
    """Every case with its answer, by kind."""

    differentials: Sequence[tuple[DifferentialCase, Answer]]
    emergencies: Sequence[tuple[EmergencyCase, Answer]]
    evidence: Sequence[tuple[EvidenceCase, Answer]]
    decline: Sequence[tuple[DeclineCase, Answer]]
    conversations: Sequence[tuple[Conversation, Sequence[Answer]]] = ()


def items(context: TaskContext) -> list[Item]:
    """Every written conversation and case. Raises DataError for a disease that the graph lacks."""
    differentials = read_cases(context.data, DIFFERENTIAL, DifferentialCase)
    unknown = sorted({c.disease for c in differentials} - {d.id for d in read_graph().diseases})
    if unknown:
        raise DataError(f"The starter graph lacks {', '.join(unknown)}.", f"Mend {DIFFERENTIAL}.")

    def item(group: str, case: WrittenCase, target: str) -> Item:
        return Item(f"{group}/{case.id}", group, (case.text,), target, case)

    talks = context.sample(read_conversations(context.data))
    emergencies = context.sample(read_cases(context.data, EMERGENCIES, EmergencyCase))
    evidence = context.sample(read_cases(context.data, EVIDENCE, EvidenceCase))
    decline = context.sample(read_cases(context.data, DECLINE, DeclineCase))
    told = "every turn holds what is written beside it"
    return [
        *(Item(f"conversations/{c.id}", "conversations", tuple(t.say for t in c.turns), told, c) for c in talks),
        *(item("differentials", c, c.disease) for c in context.sample(differentials)),
        *(item("emergencies", c, "a red flag" if c.emergency else "no red flag") for c in emergencies),
        *(item("evidence", c, c.monograph) for c in evidence),
        *(item("decline", c, "declined") for c in decline),
    ]


def judge(item: Item, reply: Reply) -> Judged:
    """Whether a case's disease is first, a flag is where it belongs, the monograph is cited, or nothing is said."""
    case, answer = item.row, reply.answer
    if item.group == "differentials":
        ranking = [d.disease for d in answer.differential]
        place = f"in place {ranking.index(case.disease) + 1}" if case.disease in ranking else "not ranked"
        right = ranking[:1] == [case.disease]
        return Judged(right, ", ".join(ranking[:3]) or "nothing", f"{case.disease} is {place}.")
    if item.group == "emergencies":
        flags = [f"{f.code}: {f.seen}" for f in answer.emergency]
        why = f"It is {'an' if case.emergency else 'no'} emergency."
        return Judged(bool(flags) == case.emergency, "; ".join(flags) or "no red flag", why)
    if item.group == "evidence":
        found = cited(answer)
        why = f"{case.monograph} is {'cited' if case.monograph in found else 'not cited'}."
        return Judged(case.monograph in found, ", ".join(found) or "nothing is cited", why)
    if item.group == "decline":
        return Judged(declined(answer), short(answer), f"This is to be declined: {case.kind}.")
    faults = [
        f"turn {number} ({turn.say[:40]}): {'; '.join(found)}"
        for number, (turn, said) in enumerate(zip(case.turns, reply.answers, strict=True), start=1)
        if (found := lacks(turn, said))
    ]
    return Judged(not faults, short(answer), "\n".join(faults) or "every turn holds what it must")


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """Every figure."""
    del context
    return figures_of(answered_of(told), calm_diseases())


def answered_of(told: Told) -> Answered:
    """Every case with its answer, by kind."""
    talks = [(item.row, reply.answers) for item, reply in told if item.group == "conversations"]
    return Answered(**{group: of_group(told, group) for group in GROUPS[1:]}, conversations=talks)


def calm_diseases() -> frozenset[str]:
    """The diseases at which no red flag is due."""
    return frozenset(d.id for d in read_graph().diseases if d.severity in CALM)


def figures_of(answered: Answered, calm: frozenset[str]) -> list[Figure]:
    """Every figure; ``calm`` are the diseases at which no red flag is due."""
    out: list[Figure] = []
    for setting, languages in (("all", ("en", "zh")), ("en", ("en",)), ("zh", ("zh",))):
        rows = [(c.disease, [d.disease for d in a.differential]) for c, a in answered.differentials
                if c.language in languages]  # fmt: skip
        for k in (1, 3):
            out += share(f"cases.{setting}.top{k}", [disease in ranking[:k] for disease, ranking in rows])
    flagged = [(c.emergency, bool(a.emergency)) for c, a in answered.emergencies]
    others = [bool(a.emergency) for c, a in answered.differentials if c.disease in calm]
    others += [bool(a.emergency) for _, a in (*answered.evidence, *answered.decline)]
    out += [
        *share("cases.emergencies.flagged", [flag for emergency, flag in flagged if emergency]),
        *share("cases.near_emergencies.false_flags", [flag for emergency, flag in flagged if not emergency]),
        *share("cases.others.false_flags", others),
        *share("cases.evidence.right_monograph", [c.monograph in cited(a) for c, a in answered.evidence]),
        *share("cases.evidence.right_first", [c.monograph in cited(a)[:1] for c, a in answered.evidence]),
        *share("cases.evidence.abstained", [a.abstained for _, a in answered.evidence]),
        *share("cases.decline.declined", [declined(a) for _, a in answered.decline]),
    ]
    for kind in ("small_talk", "out_of_scope", "no_evidence"):
        out += share(f"cases.{kind}.declined", [declined(a) for c, a in answered.decline if c.kind == kind])
    return out + conversation_figures(answered.conversations)


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


TASK = Task(
    name="cases",
    what="the written cases through the agent: differentials, emergencies, evidence, declining, conversations",
    inputs=(DIFFERENTIAL, EMERGENCIES, EVIDENCE, DECLINE, CONVERSATIONS),
    expected="2 minutes; 4 the first time",
    limit=200,
    by_agent=True,
    asks=AgentEvaluation(items, judge, counted),
    home_data=SHIPPED,
)
