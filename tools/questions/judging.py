"""The second step of a build: which of the written questions their documents answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tools.encoders import Vectors
from tools.questions.collection import Collection, Progress
from tools.questions.contract import AnswerabilityJudge, Judgement, Question, SourceDocument, Verdict
from tools.questions.round_trip import RoundTrip
from tools.questions.work import Work, judged_key

JUDGED = 256  # ours: pairs judged at once, and kept in one commit
Pair = tuple[Question, SourceDocument]


class Candidates(NamedTuple):
    """Questions with the numbers of their documents, and their vectors (questions, dimension), float16."""

    questions: list[Question]
    owners: list[int]
    vectors: Vectors


async def keep_answered(
    collection: Collection,
    drafts: Candidates,
    judge: AnswerabilityJudge | RoundTrip,
    work: Work,
    progress: Progress | None,
) -> Candidates:
    """The questions that their documents answer, each with the span that supports it."""
    kept: list[Question] = []
    rows: list[int] = []
    for at in range(0, len(drafts.questions), JUDGED):
        here = range(at, min(at + JUDGED, len(drafts.questions)))
        pairs = [(drafts.questions[n], collection.documents[drafts.owners[n]]) for n in here]
        if isinstance(judge, RoundTrip):  # it takes the vectors that are there
            found = judge.judge_embedded(pairs, drafts.vectors[at : here.stop].astype(np.float32))
        else:
            found = await judge_kept(pairs, judge, work)
        for number, (question, _), judgement in zip(here, pairs, found, strict=True):
            if judgement.verdict is Verdict.FULL:
                kept.append(_supported(question, judgement))
                rows.append(number)
        if progress is not None:
            progress("judgements", here.stop, len(drafts.questions))
    return Candidates(kept, [drafts.owners[n] for n in rows], drafts.vectors[rows])


async def judge_kept(pairs: Sequence[Pair], judge: AnswerabilityJudge, work: Work) -> list[Judgement]:
    """Judgements, those of the pair alone taken from the work where they were made before."""
    if not judge.of_pair:
        return await judge.judge(pairs)
    keys = [judged_key(question.text, document, judge.name) for question, document in pairs]
    found = {key: judgement for key in keys if (judgement := work.judged(key)) is not None}
    missing = [n for n, key in enumerate(keys) if key not in found]
    fresh = {keys[n]: j for n, j in zip(missing, await judge.judge([pairs[n] for n in missing]), strict=True)}
    work.put_judged(fresh)
    found |= fresh
    return [found[key] for key in keys]


def _supported(question: Question, judgement: Judgement) -> Question:
    """The question with the span that the judge found, in the place of that it was written from."""
    if judgement.end <= judgement.start or not question.answers:
        return question
    if (question.answers[0].start, question.answers[0].end) == (judgement.start, judgement.end):
        return question
    first = question.answers[0].model_copy(update={"start": judgement.start, "end": judgement.end})
    return question.model_copy(update={"answers": (first, *question.answers[1:])})
