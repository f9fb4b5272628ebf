"""`answer_quality`: the text of answers as QB-RAG judges it, of the agent, of the question index alone, and of naive
retrieval.

Sets: ``medquad``, a sample of MedQuAD's questions over 114 pages; ``liveqa``, consumers' messages over the judged
answers; ``library``, our own questions over the starter library, which have no golden answer. On the first two the
agent is given the five passages that naive retrieval found; on the library it searches by itself. Naive retrieval and
the index write nothing: they give the sentences that they found. The index declines below the similarity at which the
product counts two questions as the same.
``adherence``: golden answer to guideline, guideline to score, in percent, 0 for a declined answer; ``relevant``: it
addresses the question; ``faithful``: every statement is supported by what was supplied, a declined answer is not;
``ungrounded``: answered, and not faithful; ``declined``. ``_answered`` leaves declined answers out. ``X_over_naive``
has the paired difference of adherence in points and one-sided p values: Wilcoxon's signed-rank for adherence, the exact
binomial on discordant pairs for the others. A model judges where the settings name one, else `evals.judges.local`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from agent.questions import question_tool
from evals.contract import Figure, Task, TaskContext
from evals.datasets.answered_questions import (
    AnswerSet,
    GoldQuestion,
    read_library_questions,
    read_liveqa_answers,
    read_medquad,
)
from evals.datasets.liveqa import LIVEQA, LIVEQA_ANSWERS
from evals.datasets.medquad import QBRAG_PAGES, QBRAG_QUESTIONS
from evals.judges.by_model import open_judge
from evals.judges.contract import (
    AT_ONCE,
    Adherence,
    AnswerJudge,
    Faithfulness,
    GivenAnswer,
    Relevancy,
    ask_all,
)
from evals.sessions import Ask, EvalEncoder, asking, encoders, starter_library
from evals.statistics import exact_mcnemar, mean, paired_difference, share, wilcoxon
from evals.tasks.literature import vectors_of
from evals.tasks.questions.systems import build_index
from prompts.tool_arguments import FindAnsweredQuestion as Arguments
from tools.contract import ToolContext
from tools.embedding_cache import CachedEncoder
from tools.encoders import Encoder
from tools.evidence import Evidence, Origin, Statement, cite, content_key
from tools.library.collection import Library
from tools.passages.contract import StoredDocument
from tools.passages.seos import SeosSettings, segment
from tools.questions.collection import of_library
from tools.questions.contract import QuestionIndex
from tools.questions.index import open_questions
from tools.questions.tool import SAME_QUESTION, FindAnsweredQuestion
from tools.text.sentences import sentences

NAIVE = "naive"
MEDQUAD, LIVE = (QBRAG_PAGES, QBRAG_QUESTIONS), (LIVEQA, LIVEQA_ANSWERS)
TESTED = ("relevant", "faithful")
SUPPLIED = 5  # paper: MedRGAG keeps five documents; so many passages are supplied to an answer
SENTENCES = 5  # ours: of a passage that naive retrieval gives, about as many statements as the agent makes
KEY = 16  # ours: characters of a hash in an id, enough to tell texts apart
Answering = Callable[[str], GivenAnswer]


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


def run(context: TaskContext) -> list[Figure]:
    """Answer every question by every system, judge, and count."""
    with encoders(context.settings, context.home) as (plain, cached):
        library = starter_library(context, cached)
        judge = open_judge(context.settings, context.home, cached)
        answered = {
            f"{system}.{questions.name}": (questions, answers)
            for questions in sets(context, library)
            for system, answers in answers_of(context, questions, library, plain, cached).items()
        }

        async def every() -> list[Figure]:  # in one event loop, because a model belongs to one
            out: list[Figure] = []
            rows: dict[str, list[JudgedAnswer]] = {}
            for name, (questions, answers) in answered.items():
                rows[name] = await judged(name, questions.asked, answers, judge, context)
                out += system_figures(name, rows[name], context.seed)
            for name, own in rows.items():
                system, _, of = name.partition(".")
                if system != NAIVE:
                    out += compared_figures(f"{system}_over_naive.{of}", own, rows[f"{NAIVE}.{of}"], context.seed)
            return out

        return asyncio.run(every())


def sets(context: TaskContext, library: Library) -> Iterator[AnswerSet]:
    """The sets whose files are there, and our own."""
    for reader, files in ((read_medquad, MEDQUAD), (read_liveqa_answers, LIVE)):
        if context.has(*files):
            yield reader(context)
    yield read_library_questions(context, of_library(library.documents))


def answers_of(
    context: TaskContext, questions: AnswerSet, library: Library, plain: CachedEncoder, cached: EvalEncoder
) -> dict[str, list[GivenAnswer]]:
    """The answers of every system to a set, naive retrieval first."""

    def every(answer: Answering, system: str) -> list[GivenAnswer]:
        return [answer(question.text) for question in context.each(questions.asked, f"{questions.name}: {system}")]

    own = questions.name == "library"
    search = PassageSearch(questions, plain, cached, context)
    if own:
        quiet = context.settings.questions.model_copy(update={"learn": False})
        settings = context.settings.model_copy(update={"questions": quiet})
        index = by_tool(question_tool(settings, context.home, library, cached))
    else:
        kept = {"medquad": "qbrag"}.get(questions.name, questions.name)  # the index that `questions` builds too
        name = f"{kept}-{len(questions.documents)}-{context.seed}"
        folder = context.home.cache / "evaluations" / "questions" / name
        build_index(questions.documents, folder, plain, context, questions.name)
        index = by_index(open_questions(folder, cached), questions)
    out = {NAIVE: every(naive(search), NAIVE), "question_index": every(index, "question index")}
    with asking(context.settings) as ask:
        agent = by_agent(ask, None if own else search, context.settings.max_characters)
        out["agent"] = every(agent, "agent")
    return out


async def judged(
    name: str, asked: Sequence[GoldQuestion], answers: Sequence[GivenAnswer], judge: AnswerJudge, context: TaskContext
) -> list[JudgedAnswer]:
    """Every judgement of a system's answers to a set; one that a model fails to make is told as not run."""
    at_once = 1 if judge.name == "local" else AT_ONCE
    rows = list(zip(asked, answers, strict=True))
    golden = [n for n, question in enumerate(asked) if question.golden]
    jobs: dict[str, list[Any]] = {
        "adherence": [partial(judge.adherence, *asked[n], answers[n].text) for n in golden],
        "relevancy": [partial(judge.relevancy, question.text, answer.text) for question, answer in rows],
        "faithfulness": [partial(judge.faithfulness, answer.statements, answer.portions) for answer in answers],
    }
    done = {what: await ask_all(own, f"{name}: {what}", context, at_once=at_once) for what, own in jobs.items()}
    scores = dict(zip(golden, done["adherence"], strict=True))
    both = zip(answers, done["relevancy"], done["faithfulness"], strict=True)
    return [JudgedAnswer(a, scores.get(n), relevant, faithful) for n, (a, relevant, faithful) in enumerate(both)]


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
    pairs = list(zip(first, second, strict=True))
    scores = [(100 * a.adherence.score, 100 * b.adherence.score) for a, b in pairs if a.adherence and b.adherence]
    left, right = [a for a, _ in scores], [b for _, b in scores]
    out = paired_difference(f"{name}.adherence", left, right, seed)
    if scores:
        out.append(Figure(name=f"{name}.adherence_p", value=wilcoxon(left, right), n=len(scores)))
    for measure in TESTED:
        both = [(getattr(a, measure), getattr(b, measure)) for a, b in pairs]
        kept = [(a, b) for a, b in both if a is not None and b is not None]
        if kept:
            p = exact_mcnemar([a for a, _ in kept], [b for _, b in kept], "greater")
            out.append(Figure(name=f"{name}.{measure}_p", value=p, n=len(kept)))
    return out


class PassageSearch:
    """The passages of a set's documents by cosine with the question.

    Args:
        plain: the encoder that keeps document vectors. asked: the encoder of questions.
    """

    def __init__(self, questions: AnswerSet, plain: Encoder, asked: Encoder, context: TaskContext) -> None:
        self._asked = asked
        self.texts: list[str] = []
        embedded: list[str] = []
        for source in context.each(questions.documents, f"{questions.name}: cutting"):
            document = StoredDocument(id=source.id, title=source.title, text=source.text)
            for passage in segment(document, plain, SeosSettings()):
                if text := source.text[passage.start : passage.end].strip():
                    self.texts.append(text)
                    embedded.append(passage.embedded_text(source.text))
        self._vectors = vectors_of(embedded, plain, context, f"{questions.name}: passages")

    def nearest(self, question: str) -> list[str]:
        """The nearest passages, best first."""
        near = self._vectors @ self._asked.encode_queries([question])[0]
        return [self.texts[n] for n in np.argsort(-near, kind="stable")[:SUPPLIED]]


def naive(search: PassageSearch) -> Answering:
    """Gives the beginning of the nearest passage."""

    def answer(question: str) -> GivenAnswer:
        portions = [piece(text) for text in search.nearest(question)]
        return quoting(portions[0], portions, SENTENCES) if portions else GivenAnswer()

    return answer


def by_index(index: QuestionIndex, questions: AnswerSet) -> Answering:
    """Gives what answers the nearest prepared question, where that asks the same."""
    texts = {document.id: document.text for document in questions.documents}

    def answer(question: str) -> GivenAnswer:
        hits = index.search_many([question], 1)[0]
        if not hits or hits[0].similarity < SAME_QUESTION:
            return GivenAnswer()
        found = texts[hits[0].document][hits[0].start : hits[0].end].strip()
        return quoting(piece(found), [piece(found)]) if found else GivenAnswer()

    return answer


def by_tool(tool: FindAnsweredQuestion) -> Answering:
    """Gives the product's direct answer out of the library's questions."""

    def answer(question: str) -> GivenAnswer:
        told = ToolContext(question=question, kind="evidence")
        answered = asyncio.run(tool.run(Arguments(question=question, limit=1), told)).answered
        if not answered:
            return GivenAnswer()
        item = answered[0].evidence
        citation = cite(item, answered[0].start, answered[0].end)
        said = Statement(text=citation.quote, origin=item.origin, citations=(citation,))
        return GivenAnswer(statements=(said,), portions=(item,))

    return answer


def by_agent(ask: Ask, search: PassageSearch | None, most: int) -> Answering:
    """The whole agent: over its own library, or over the passages of a set, which are given with the question.

    Args:
        search: None for the agent's own search. most: characters of a text that the agent takes.
    """

    def answer(question: str) -> GivenAnswer:
        given = [text[:most] for text in search.nearest(question)] if search is not None else []
        found = ask(question[:most], None, list(dict.fromkeys(given)))
        return GivenAnswer(statements=tuple(found.statements), portions=tuple(found.evidence))

    return answer


def piece(text: str) -> Evidence:
    """A text as evidence."""
    return Evidence(id=f"given:{content_key(text)[:KEY]}", text=text, kind="passage", origin=Origin.CASE)


def quoting(item: Evidence, portions: Sequence[Evidence], most: int | None = None) -> GivenAnswer:
    """The sentences of a piece of evidence as statements that quote themselves."""
    spans = sentences(item.text)[:most]
    said = [Statement(text=s.of(item.text), origin=item.origin, citations=(cite(item, s.start, s.end),)) for s in spans]
    return GivenAnswer(statements=tuple(said), portions=tuple(portions))


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
