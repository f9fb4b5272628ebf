"""`medevidence`: questions on conclusions of Cochrane reviews, each with the abstracts of its studies, five answers.

Two ways over the same evidence. ``judge``: the verdict of the product's policy, put among the five answers by `ANSWER`
and, for yes and no, by the direction that the leading sentence reads. ``reader``: of each study the sentence that tells
most (relevance times the probability of being a result or conclusion), their directions weighed by that and summed.
Both mappings were fixed from the names of the answers alone. No verdict, or no sentence that tells, is "insufficient
data". ``uncertain_not_by_direction`` is over questions whose gold is "uncertain effect" or "insufficient data": those
not answered higher, lower or no difference. ``words`` is a logistic regression fitted on Evidence Inference's part for
training, of directions alone, because nothing is fitted on these questions. ``risk@N`` and ``aurc`` are the curve of
risk over coverage: by how probable the leading answer is, what share the likeliest direction has, or what words give.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from agent.settings import Settings
from evals.contract import AgentEvaluation, Figure, Item, Judged, Reply, Task, TaskContext, Told
from evals.datasets.closed import MEDEVIDENCE, MedEvidenceQuestion
from evals.datasets.rows import read_jsonl
from evals.sessions import PartSittings, Sittings
from evals.statistics import risk_coverage, share
from evals.tasks.effects import words_of_directions
from evals.tasks.verdicts import STAGE, Sure, commonest, pieces_of, stage_figures, the_reader
from graphs.verdicts.contract import Ruling, VerdictValue
from graphs.verdicts.local import VerdictJudgeLocal, in_context
from tools.evidence import Evidence
from tools.reading import corpus
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
WAYS = ("judge", "reader")


def items(context: TaskContext) -> list[Item]:
    """Every question, with the abstracts of its studies."""
    return [
        Item(f"medevidence/{at}", "medevidence", (row.question, *_texts(row)), row.answer, row)
        for at, row in enumerate(context.sample(read_jsonl(context.data / MEDEVIDENCE, MedEvidenceQuestion)))
    ]


@contextmanager
def opened(settings: Settings) -> Iterator[Sittings]:
    """The reader, and the policy around it."""
    del settings
    reader = the_reader()
    policy = VerdictJudgeLocal(reader)

    def give(item: Item) -> dict[str, Any]:
        row = item.row
        evidence = pieces_of([(name, source.title, source.content) for name, source in row.sources.items()])
        ruling = policy.judge(row.question, evidence)
        return {
            STAGE: ruling.stage,
            "judge": by_verdict(reader, row.question, ruling),
            "reader": by_reading(reader, row.question, evidence),
        }

    yield PartSittings(give)


def judge(item: Item, reply: Reply) -> Judged:
    """Whether the policy's answer is gold."""
    said = str(reply.told["judge"][0])
    return Judged(said == item.target, said, f"{item.target} is gold; the reader alone: {reply.told['reader'][0]}.")


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """Accuracy of both ways, of words and of the commonest answer, and of what nobody can settle."""
    gold = [item.target for item, _ in told]
    if not gold:
        return []
    said: dict[str, Sure] = {w: [(str(r.told[w][0]), float(r.told[w][1])) for _, r in told] for w in WAYS}
    texts = ["\n".join(item.messages) for item, _ in told]
    by_words = words_of_directions(context, "medevidence.words", texts)
    said |= {way: [(OF_DIRECTION[Direction(label)], p) for label, p in row] for way, row in by_words.items()}
    said["majority"] = [(commonest(gold), 1.0)] * len(gold)
    out = [figure for name, answers in said.items() for figure in _figures(context, name, gold, answers)]
    return out + stage_figures("medevidence.judge", [str(r.told[STAGE]) for _, r in told])


def _figures(context: TaskContext, name: str, gold: Sequence[str], answers: Sure) -> list[Figure]:
    settled = (HIGHER, LOWER, SAME)
    rows = [(right, answer, sure) for right, (answer, sure) in zip(gold, answers, strict=True)]
    open_ = [answer not in settled for right, answer, _ in rows if right not in settled]
    out = [
        *share(f"medevidence.{name}.accuracy", [right == answer for right, answer, _ in rows]),
        *share(f"medevidence.{name}.settled_right", [right == a for right, a, _ in rows if right in settled]),
        *share(f"medevidence.{name}.uncertain_not_by_direction", open_),
        *share(f"medevidence.{name}.by_direction", [answer in settled for _, answer, _ in rows]),
    ]
    if name != "majority":
        out += risk_coverage(f"medevidence.{name}", [(p, right == a) for right, a, p in rows], context.seed)
    return out


def _texts(row: MedEvidenceQuestion) -> list[str]:
    return [f"{source.title}\n{source.content}" for source in row.sources.values()]


def by_verdict(reader: Reader, question: str, ruling: Ruling) -> tuple[str, float]:
    """A ruling among the five answers, and how probable its leading answer is."""
    sure = ruling.leaning.probability if ruling.leaning is not None else 0.0
    if ruling.verdict is None:
        return LACKING, 1.0 - sure
    if ruling.verdict.value in ANSWER:
        return ANSWER[ruling.verdict.value], sure
    lead = ruling.carrying[0]
    before = next((b for span, b in in_context(lead.evidence.text) if span.start == lead.start), "")
    (reading,) = reader.read([Pair(question, lead.text, lead.evidence.title, before)])
    unread = reading.direction is Direction.UNCLEAR
    return (UNREAD[ruling.verdict.value] if unread else OF_DIRECTION[reading.direction]), sure


def by_reading(reader: Reader, question: str, evidence: Sequence[Evidence]) -> tuple[str, float]:
    """The direction that the studies' most telling sentences have together, and its share."""
    total = np.zeros(len(DIRECTIONS))
    for piece in evidence:
        pairs = [Pair(question, span.of(piece.text), piece.title, before) for span, before in in_context(piece.text)]
        best = max(reader.read(pairs), key=lambda r: r.relevance * r.telling, default=None)
        if best is not None and best.relevance * best.telling >= TELLS:
            total += best.relevance * best.telling * np.array(best.directions)
    if not total.any():
        return LACKING, 0.0
    return OF_DIRECTION[DIRECTIONS[int(total.argmax())]], float(total.max() / total.sum())


TASK = Task(
    name="medevidence",
    what="MedEvidence: five answers from the abstracts of a review's studies, by the policy and by the reader alone",
    inputs=(MEDEVIDENCE,),
    optional=(corpus.COMPARISONS,),
    expected="2 minutes",
    limit=300,
    asks=AgentEvaluation(items, judge, counted, opened, at_once=False),
)
