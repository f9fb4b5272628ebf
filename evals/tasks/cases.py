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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evals.asked import AgentEvaluation, Item, Judged, Reply, Told, ask_plainly, of_group, short
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
    WrittenCase,
    read_cases,
)
from evals.datasets.conversations import CONVERSATIONS, Conversation, lacks, read_conversations
from evals.statistics import share
from prompts.errors import DataError
from tools.evidence import EvidenceId

if TYPE_CHECKING:
    from graphs.answering.contract import Answer

WHAT = "the written cases through the agent: differentials, emergencies, evidence, declining, conversations"
SHIPPED = Path(__file__).resolve().parents[1] / "data" / "dev"
TURNS = "every turn holds what is written beside it"
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
    unknown = sorted({c.disease for c in differentials} - set(_severities()))
    if unknown:
        raise DataError(f"The starter graph lacks {', '.join(unknown)}.", f"Mend {DIFFERENTIAL}.")
    talks = context.sample(read_conversations(context.data))
    emergencies = context.sample(read_cases(context.data, EMERGENCIES, EmergencyCase))
    evidence = context.sample(read_cases(context.data, EVIDENCE, EvidenceCase))
    decline = context.sample(read_cases(context.data, DECLINE, DeclineCase))
    return [
        *(Item(f"conversations/{c.id}", "conversations", tuple(t.say for t in c.turns), TURNS, c) for c in talks),
        *(_item("differentials", c, c.disease) for c in context.sample(differentials)),
        *(_item("emergencies", c, "a red flag" if c.emergency else "no red flag") for c in emergencies),
        *(_item("evidence", c, c.monograph) for c in evidence),
        *(_item("decline", c, "declined") for c in decline),
    ]


def judge(item: Item, reply: Reply) -> Judged:
    """Whether a case's disease is first, a flag is where it belongs, the monograph is cited, or nothing is said."""
    return JUDGES[item.group](item.row, reply)


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """Every figure."""
    del context
    return figures_of(answered_of(told), calm_diseases())


def answered_of(told: Told) -> Answered:
    """Every case with its answer, by kind."""
    return Answered(
        of_group(told, "differentials"),
        of_group(told, "emergencies"),
        of_group(told, "evidence"),
        of_group(told, "decline"),
        [(item.row, reply.answers) for item, reply in told if item.group == "conversations"],
    )


def calm_diseases() -> frozenset[str]:
    """The diseases at which no red flag is due."""
    return frozenset(d for d, s in _severities().items() if s in CALM)


def run(context: TaskContext) -> list[Figure]:
    """Ask every case and count."""
    return ask_plainly(ASKS, context)


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


def _severities() -> dict[str, str]:
    from tools.knowledge_graph.loader import read_graph

    return {d.id: d.severity for d in read_graph().diseases}


def _item(group: str, case: WrittenCase, target: str) -> Item:
    return Item(f"{group}/{case.id}", group, (case.text,), target, case)


def _ranked_first(case: DifferentialCase, reply: Reply) -> Judged:
    ranking = [d.disease for d in reply.answer.differential]
    place = f"in place {ranking.index(case.disease) + 1}" if case.disease in ranking else "not ranked"
    return Judged(ranking[:1] == [case.disease], ", ".join(ranking[:3]) or "nothing", f"{case.disease} is {place}.")


def _flagged(case: EmergencyCase, reply: Reply) -> Judged:
    flags = [f"{f.code}: {f.seen}" for f in reply.answer.emergency]
    why = f"It is {'an' if case.emergency else 'no'} emergency."
    return Judged(bool(flags) == case.emergency, "; ".join(flags) or "no red flag", why)


def _monograph(case: EvidenceCase, reply: Reply) -> Judged:
    named = cited(reply.answer)
    why = f"{case.monograph} is {'cited' if case.monograph in named else 'not cited'}."
    return Judged(case.monograph in named, ", ".join(named) or "nothing is cited", why)


def _is_declined(case: DeclineCase, reply: Reply) -> Judged:
    return Judged(declined(reply.answer), short(reply.answer), f"This is to be declined: {case.kind}.")


def _talked(talk: Conversation, reply: Reply) -> Judged:
    faults = [
        f"turn {number} ({turn.say[:40]}): {'; '.join(found)}"
        for number, (turn, answer) in enumerate(zip(talk.turns, reply.answers, strict=True), start=1)
        if (found := lacks(turn, answer))
    ]
    return Judged(not faults, short(reply.answer), "\n".join(faults) or "every turn holds what it must")


JUDGES: dict[str, Callable[[Any, Reply], Judged]] = {
    "conversations": _talked,
    "differentials": _ranked_first,
    "emergencies": _flagged,
    "evidence": _monograph,
    "decline": _is_declined,
}

ASKS = AgentEvaluation(items=items, judge=judge, figures=counted)

TASK = Task(
    name="cases",
    what=WHAT,
    inputs=(DIFFERENTIAL, EMERGENCIES, EVIDENCE, DECLINE, CONVERSATIONS),
    expected="2 minutes; 4 the first time",
    limit=200,
    run=run,
    by_agent=True,
    asks=ASKS,
    home_data=SHIPPED,
)
