"""`answer_quality`: the text of answers as QB-RAG judges it, of the agent, of the question index alone, and of naive
retrieval.

Sets: ``medquad``, a sample of MedQuAD's questions over 114 pages; ``liveqa``, consumers' messages over the judged
answers; ``library``, our own questions over the starter library, which have no golden answer. On the first two the
agent is given the five passages that naive retrieval found; on the library it searches by itself.
``adherence``: golden answer to guideline, guideline to score, in percent, 0 for a declined answer; ``relevant``: it
addresses the question; ``faithful``: every statement is supported by what was supplied, a declined answer is not;
``ungrounded``: answered, and not faithful; ``declined``. ``_answered`` leaves declined answers out. ``X_over_naive``
has the paired difference of adherence in points and one-sided p values: Wilcoxon's signed-rank for adherence, the exact
binomial on discordant pairs for the others. A model judges where the settings name one, else `evals.judges.local`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from evals.contract import Figure, Task, TaskContext
from evals.datasets.liveqa import LIVEQA, LIVEQA_ANSWERS
from evals.datasets.medquad import QBRAG_PAGES, QBRAG_QUESTIONS
from evals.judges.asking import AT_ONCE, ask_all
from evals.judges.contract import Adherence, AnswerJudge, Faithfulness, GivenAnswer, Relevancy
from evals.statistics import exact_mcnemar, mean, paired_difference, share, wilcoxon

if TYPE_CHECKING:
    from agent.sessions import Home
    from evals.answer_systems import Answering
    from evals.datasets.answered_questions import AnswerSet, GoldQuestion
    from evals.encoder import EvalEncoder
    from tools.embedding_cache import CachedEncoder
    from tools.library.collection import Library

NAIVE = "naive"
MEDQUAD, LIVE = (QBRAG_PAGES, QBRAG_QUESTIONS), (LIVEQA, LIVEQA_ANSWERS)
TESTED = ("relevant", "faithful")


@dataclass(frozen=True)
class JudgedAnswer:
    """An answer with its judgements; None where there is no golden answer, or the model failed."""

    answer: GivenAnswer
    adherence: Adherence | None
    relevancy: Relevancy | None
    faithfulness: Faithfulness | None

    @property
    def relevant(self) -> bool | None:
        """Whether it addresses the question."""
        return self.relevancy.relevant if self.relevancy is not None else None

    @property
    def faithful(self) -> bool | None:
        """Whether everything it says is supported; a declined answer is not."""
        return self.faithfulness.faithful if self.faithfulness is not None else None


@dataclass(frozen=True)
class Opened:
    """What every set is answered with."""

    context: TaskContext
    home: Home
    library: Library
    plain: CachedEncoder
    cached: EvalEncoder


def run(context: TaskContext) -> list[Figure]:
    """Answer every question by every system, judge, and count."""
    from agent.assembly import build
    from agent.sessions import Home
    from evals.agent_runs import evaluation_encoders
    from evals.judges.opening import open_judge
    from tools.library.collection import Library

    home = Home(context.settings.home).prepare()
    if not (home.indexes / "library").exists():
        build(context.settings, home, rebuild=False, say=lambda _: None)
    plain, cached = evaluation_encoders(context.settings, home)
    try:
        opened = Opened(context, home, Library.open(home.indexes / "library", cached), plain, cached)
        judge = open_judge(context.settings, home, cached)
        answered = [(s, system, a) for s in sets(opened) for system, a in _answers(opened, s).items()]
        return asyncio.run(_all_figures(answered, judge, context))
    finally:
        cached.close()
        plain.close()


def sets(opened: Opened) -> Iterator[AnswerSet]:
    """The sets whose files are there, and our own."""
    from evals.datasets.answered_questions import read_library_questions, read_liveqa_answers, read_medquad
    from tools.questions.collection import of_library

    for reader, files in ((read_medquad, MEDQUAD), (read_liveqa_answers, LIVE)):
        if all((opened.context.data / file).is_file() for file in files):
            yield reader(opened.context)
    yield read_library_questions(opened.context, of_library(opened.library.documents))


async def judged(
    name: str, asked: Sequence[GoldQuestion], answers: Sequence[GivenAnswer], judge: AnswerJudge, context: TaskContext
) -> list[JudgedAnswer]:
    """Every judgement of a system's answers to a set; one that a model fails to make is told as not run."""
    at_once = 1 if judge.name == "local" else AT_ONCE
    rows = list(zip(asked, answers, strict=True))
    golden = [n for n, question in enumerate(asked) if question.golden]
    adherence: list[Any] = [partial(judge.adherence, *asked[n], answers[n].text) for n in golden]
    relevancy: list[Any] = [partial(judge.relevancy, question.text, answer.text) for question, answer in rows]
    faithfulness: list[Any] = [partial(judge.faithfulness, answer.statements, answer.portions) for answer in answers]
    scores = dict(zip(golden, await ask_all(adherence, f"{name}: adherence", context, at_once=at_once), strict=True))
    relevant = await ask_all(relevancy, f"{name}: relevancy", context, at_once=at_once)
    faithful = await ask_all(faithfulness, f"{name}: faithfulness", context, at_once=at_once)
    return [JudgedAnswer(a, scores.get(n), relevant[n], faithful[n]) for n, a in enumerate(answers)]


def system_figures(name: str, rows: Sequence[JudgedAnswer], seed: int) -> list[Figure]:
    """The figures of one system on one set."""
    answered = [row for row in rows if not row.answer.declined]
    out: list[Figure] = []
    for suffix, own in (("", rows), ("_answered", answered)):
        out += mean(f"{name}.adherence{suffix}", [100 * r.adherence.score for r in own if r.adherence], seed)
        for measure in TESTED:
            values = [getattr(row, measure) for row in own]
            out += share(f"{name}.{measure}{suffix}", [v for v in values if v is not None])
    ungrounded = [not row.answer.declined and not row.faithful for row in rows if row.faithful is not None]
    out += share(f"{name}.ungrounded", ungrounded)
    return out + share(f"{name}.declined", [row.answer.declined for row in rows])


def compared_figures(
    name: str, first: Sequence[JudgedAnswer], second: Sequence[JudgedAnswer], seed: int
) -> list[Figure]:
    """One system against another on the same questions, one-sided: that the first is better."""
    scores = [
        (100 * a.adherence.score, 100 * b.adherence.score)
        for a, b in zip(first, second, strict=True)
        if a.adherence is not None and b.adherence is not None
    ]
    left, right = [a for a, _ in scores], [b for _, b in scores]
    out = paired_difference(f"{name}.adherence", left, right, seed)
    if scores:
        out.append(Figure(name=f"{name}.adherence_p", value=wilcoxon(left, right), n=len(scores)))
    for measure in TESTED:
        pairs = [(getattr(a, measure), getattr(b, measure)) for a, b in zip(first, second, strict=True)]
        kept = [(a, b) for a, b in pairs if a is not None and b is not None]
        if kept:
            p = exact_mcnemar([a for a, _ in kept], [b for _, b in kept], "greater")
            out.append(Figure(name=f"{name}.{measure}_p", value=p, n=len(kept)))
    return out


async def _all_figures(
    answered: Sequence[tuple[AnswerSet, str, list[GivenAnswer]]], judge: AnswerJudge, context: TaskContext
) -> list[Figure]:
    out: list[Figure] = []
    of_set: dict[str, list[JudgedAnswer]] = {}
    for questions, system, answers in answered:
        name = f"{system}.{questions.name}"
        of_set[name] = await judged(name, questions.asked, answers, judge, context)
        out += system_figures(name, of_set[name], context.seed)
    for name, rows in of_set.items():
        system, _, questions_name = name.partition(".")
        if system != NAIVE:
            other = of_set[f"{NAIVE}.{questions_name}"]
            out += compared_figures(f"{system}_over_naive.{questions_name}", rows, other, context.seed)
    return out


def _answers(opened: Opened, questions: AnswerSet) -> dict[str, list[GivenAnswer]]:
    """The answers of every system to a set, naive retrieval first."""
    from evals.agent_runs import asking
    from evals.answer_systems import PassageSearch, by_agent, naive

    context = opened.context
    search = PassageSearch(questions, opened.plain, opened.cached, context)
    out = {
        NAIVE: _all(naive(search), questions, NAIVE, context),
        "question_index": _all(_index(opened, questions), questions, "question index", context),
    }
    with asking(context.settings) as ask:
        own = by_agent(ask, None if questions.name == "library" else search, context.settings.max_characters)
        out["agent"] = _all(own, questions, "agent", context)
    return out


def _all(answer: Answering, questions: AnswerSet, system: str, context: TaskContext) -> list[GivenAnswer]:
    rows = context.tick(questions.asked, f"{questions.name}: {system}", len(questions.asked))
    return [answer(question.text) for question in rows]


def _index(opened: Opened, questions: AnswerSet) -> Answering:
    from agent.questions import question_tool
    from evals.answer_systems import by_index, by_tool
    from evals.answered_questions_index import build_index
    from tools.questions.index import open_questions

    context = opened.context
    if questions.name == "library":
        quiet = context.settings.questions.model_copy(update={"learn": False})
        settings = context.settings.model_copy(update={"questions": quiet})
        return by_tool(question_tool(settings, opened.home, opened.library, opened.cached))
    kept = {"medquad": "qbrag"}.get(questions.name, questions.name)  # the index that `questions` builds too
    folder = opened.home.cache / "evaluations" / "questions" / f"{kept}-{len(questions.documents)}-{context.seed}"
    build_index(questions.documents, folder, opened.plain, context, questions.name)
    return by_index(open_questions(folder, opened.cached), questions)


TASK = Task(
    name="answer_quality",
    what="answer text as QB-RAG judges it: adherence, relevancy, faithfulness, declined; against naive retrieval",
    inputs=(*MEDQUAD, *LIVE),
    expected="3 minutes; 15 with all questions; an hour the first time, which prepares questions for two collections",
    limit=100,
    run=run,
    by_agent=True,
    by_model=True,
    any_of=True,
)
