"""`medevidence`: questions on conclusions of Cochrane reviews, each with the abstracts of its studies, five answers.

Two ways over the same evidence. ``judge``: the verdict of the product's policy, put among the five answers by `ANSWER`
and, for yes and no, by the direction that the leading sentence reads. ``reader``: of each study the sentence that tells
most (relevance times the probability of being a result or conclusion), their directions weighed by that and summed.
Both mappings were fixed from the names of the answers alone. No verdict, or no sentence that tells, is "insufficient
data". ``uncertain_not_by_direction`` is over questions whose gold is "uncertain effect" or "insufficient data": those
not answered higher, lower or no difference.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evals.contract import Figure, Task, TaskContext
from evals.datasets.closed import MEDEVIDENCE, read_medevidence
from evals.statistics import share
from evals.tasks.verdicts import commonest, pieces_of, the_reader
from graphs.verdicts.contract import Ruling, VerdictValue
from graphs.verdicts.local import VerdictJudgeLocal, in_context
from tools.evidence import Evidence
from tools.reading.contract import DIRECTIONS, Direction, Pair, Reader

HIGHER, LOWER, SAME = "higher", "lower", "no difference"
UNCERTAIN, LACKING = "uncertain effect", "insufficient data"
TELLS = 0.5  # relevance times telling from which a study's sentence counts; even odds, not tuned
ANSWER = {
    VerdictValue.NO_DIFFERENCE: SAME,
    VerdictValue.DEPENDS: UNCERTAIN,
    VerdictValue.CONFLICTING: UNCERTAIN,
    VerdictValue.INSUFFICIENT: UNCERTAIN,
}
OF_DIRECTION = {
    Direction.INCREASED: HIGHER,
    Direction.DECREASED: LOWER,
    Direction.NO_DIFFERENCE: SAME,
    Direction.UNCLEAR: UNCERTAIN,
}
UNREAD = {VerdictValue.YES: HIGHER, VerdictValue.NO: SAME}  # where the leading sentence has no direction


def run(context: TaskContext) -> list[Figure]:
    """Answer every question both ways; accuracy of each and of the commonest answer, and of what nobody can settle."""
    reader, rows = the_reader(), context.sample(read_medevidence(context.data))
    policy, gold = VerdictJudgeLocal(reader), [row.answer for row in rows]
    sources = [[(name, s.title, s.content) for name, s in row.sources.items()] for row in rows]
    told = [(row.question, pieces_of(of)) for row, of in zip(rows, sources, strict=True)]
    said = {
        "judge": [by_verdict(reader, q, policy.judge(q, evidence)) for q, evidence in context.each(told, "judge")],
        "reader": [by_reading(reader, q, evidence) for q, evidence in context.each(told, "reader")],
        "majority": [commonest(gold)] * len(gold),
    }
    out: list[Figure] = []
    settled = (HIGHER, LOWER, SAME)
    for name, answers in said.items():
        pairs = list(zip(gold, answers, strict=True))
        open_ = [answer not in settled for right, answer in pairs if right not in settled]
        out += share(f"medevidence.{name}.accuracy", [right == answer for right, answer in pairs])
        out += share(f"medevidence.{name}.settled_right", [right == a for right, a in pairs if right in settled])
        out += share(f"medevidence.{name}.uncertain_not_by_direction", open_)
        out += share(f"medevidence.{name}.by_direction", [answer in settled for answer in answers])
    return out


def by_verdict(reader: Reader, question: str, ruling: Ruling) -> str:
    """A ruling among the five answers."""
    if ruling.verdict is None:
        return LACKING
    if ruling.verdict.value in ANSWER:
        return ANSWER[ruling.verdict.value]
    lead = ruling.carrying[0]
    before = next((b for span, b in in_context(lead.evidence.text) if span.start == lead.start), "")
    (reading,) = reader.read([Pair(question, lead.text, lead.evidence.title, before)])
    unread = reading.direction is Direction.UNCLEAR
    return UNREAD[ruling.verdict.value] if unread else OF_DIRECTION[reading.direction]


def by_reading(reader: Reader, question: str, evidence: Sequence[Evidence]) -> str:
    """The direction that the studies' most telling sentences have together."""
    total = np.zeros(len(DIRECTIONS))
    for piece in evidence:
        pairs = [Pair(question, span.of(piece.text), piece.title, before) for span, before in in_context(piece.text)]
        best = max(reader.read(pairs), key=lambda r: r.relevance * r.telling, default=None)
        if best is not None and best.relevance * best.telling >= TELLS:
            total += best.relevance * best.telling * np.array(best.directions)
    return OF_DIRECTION[DIRECTIONS[int(total.argmax())]] if total.any() else LACKING


TASK = Task(
    name="medevidence",
    what="MedEvidence: five answers from the abstracts of a review's studies, by the policy and by the reader alone",
    inputs=(MEDEVIDENCE,),
    expected="2 minutes",
    limit=300,
    run=run,
)
