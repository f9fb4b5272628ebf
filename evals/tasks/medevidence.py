"""`medevidence`: questions on conclusions of Cochrane reviews, each with the abstracts of its studies, five answers.

Two ways over the same evidence. ``judge``: the verdict of the product's policy, put among the five answers by `ANSWER`
and, for yes and no, by the direction that the leading sentence reads. ``reader``: of each study the sentence that tells
most (relevance times the probability of being a result or conclusion), their directions weighed by that and summed.
Both mappings were fixed from the names of the answers alone. No verdict, or no sentence that tells, is "insufficient
data". ``uncertain_not_by_direction`` is over questions whose gold is "uncertain effect" or "insufficient data": those
not answered higher, lower or no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from evals.contract import Figure, Task, TaskContext
from evals.datasets.closed import MEDEVIDENCE, MedEvidenceQuestion, read_medevidence
from evals.statistics import share
from evals.verdict_figures import commonest, pieces_of, the_reader
from graphs.verdicts.contract import Ruling, VerdictValue
from graphs.verdicts.local import VerdictJudgeLocal, in_context
from tools.evidence import Evidence
from tools.reading.contract import DIRECTIONS, Direction, Pair, Reader

WHAT = "MedEvidence: five answers from the abstracts of a review's studies, by the policy and by the reader alone"
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
    """Answer every question both ways and count."""
    reader, rows = the_reader(), context.sample(read_medevidence(context.data))
    judge = VerdictJudgeLocal(reader)
    ways: dict[str, Callable[[str, Sequence[Evidence]], str]] = {
        "judge": lambda question, evidence: by_verdict(reader, question, judge.judge(question, evidence)),
        "reader": lambda question, evidence: by_reading(reader, question, evidence),
    }
    told = [(row.question, evidence_of(row)) for row in rows]
    said = {
        name: [way(question, evidence) for question, evidence in context.tick(told, name, len(told))]
        for name, way in ways.items()
    }
    return figures_of([row.answer for row in rows], said)


def evidence_of(row: MedEvidenceQuestion) -> list[Evidence]:
    """The abstracts of the studies."""
    return pieces_of([(name, source.title, source.content) for name, source in row.sources.items()])


def by_verdict(reader: Reader, question: str, ruling: Ruling) -> str:
    """A ruling among the five answers."""
    if ruling.verdict is None:
        return LACKING
    if ruling.verdict.value in ANSWER:
        return ANSWER[ruling.verdict.value]
    lead = ruling.carrying[0]
    before = next((b for span, b in in_context(lead.evidence.text) if span.start == lead.start), "")
    (reading,) = reader.read([Pair(question, lead.text, lead.evidence.title, before)])
    if reading.direction is Direction.UNCLEAR:
        return UNREAD[ruling.verdict.value]
    return OF_DIRECTION[reading.direction]


def by_reading(reader: Reader, question: str, evidence: Sequence[Evidence]) -> str:
    """The direction that the studies' most telling sentences have together."""
    total = np.zeros(len(DIRECTIONS))
    for piece in evidence:
        pairs = [Pair(question, span.of(piece.text), piece.title, before) for span, before in in_context(piece.text)]
        readings = reader.read(pairs)
        best = max(readings, key=lambda r: r.relevance * r.telling, default=None)
        if best is not None and best.relevance * best.telling >= TELLS:
            total += best.relevance * best.telling * np.array(best.directions)
    return OF_DIRECTION[DIRECTIONS[int(total.argmax())]] if total.any() else LACKING


def figures_of(gold: Sequence[str], said: dict[str, list[str]]) -> list[Figure]:
    """Accuracy of each way and of the commonest answer; what became of questions that nobody can settle."""
    out: list[Figure] = []
    directions = (HIGHER, LOWER, SAME)
    for name, answers in {**said, "majority": [commonest(gold)] * len(gold)}.items():
        told = list(zip(gold, answers, strict=True))
        open_ = [answer not in directions for right, answer in told if right not in directions]
        settled = [right == answer for right, answer in told if right in directions]
        out += share(f"medevidence.{name}.accuracy", [right == answer for right, answer in told])
        out += share(f"medevidence.{name}.settled_right", settled)
        out += share(f"medevidence.{name}.uncertain_not_by_direction", open_)
        out += share(f"medevidence.{name}.by_direction", [answer in directions for answer in answers])
    return out


TASK = Task(
    name="medevidence",
    what=WHAT,
    inputs=(MEDEVIDENCE,),
    expected="2 minutes",
    limit=300,
    run=run,
)
