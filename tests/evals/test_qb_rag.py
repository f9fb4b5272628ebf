"""QB-RAG's tables by local means: what is golden, what is judged relevant, and what the index answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from evals.datasets.answered_questions import AskedQuestion
from evals.judges.local import JudgeLocal
from evals.sessions import EvalEncoder
from evals.tasks.qb_rag import golden_answers, leading, prepare, relevancy_figures, set_figures, written_figures
from support.small_questions import context, questions
from tools.embedding_cache import CachedEncoder
from tools.encoders import Encoder
from tools.questions.contract import IndexedHit, Judgement, Question, SourceDocument, Verdict

PAGES = [
    SourceDocument(id="gout", text="Gout hurts.\n\nColchicine treats gout. It is taken early. Rest helps the joint."),
    SourceDocument(id="asthma", text="Asthma makes people wheeze.\n\nAn inhaler treats asthma."),
    SourceDocument(id="other", text="Skin itches.\n\nEyes water.\n\nEars ring.\n\nNoses run."),
]


def test_golden_is_the_best_paragraph_of_a_page_that_answers() -> None:
    asked = [AskedQuestion.of("What treats it?", frozenset({name})) for name in ("gout", "asthma")]
    found = golden_answers(asked, PAGES)
    assert [g.golden for g in found] == [
        "Colchicine treats gout. It is taken early. Rest helps the joint.",
        "An inhaler treats asthma.",
    ]


class Judge:
    """Finds that gout's page answers everything, in part."""

    name, of_pair = "gout", True

    async def judge(self, pairs: Sequence[tuple[Question, SourceDocument]]) -> list[Judgement]:
        return [Judgement(verdict=Verdict.PART if d.id == "gout" else Verdict.NO) for _, d in pairs]


def test_a_question_counts_where_one_of_the_first_pages_answers() -> None:
    rankings = [["asthma", "gout"], ["gout"], []]
    figures = asyncio.run(relevancy_figures("naive.ood", ["a", "b", "c"], rankings, PAGES, Judge()))
    assert {f.name: round(f.value) for f in figures} == {
        "naive.ood.relevant_document@1": 33,
        "naive.ood.relevant_document@3": 67,
    }


class Index:
    """Knows one question, at the similarity that it is given."""

    def __init__(self, similarity: float) -> None:
        self.similarity = similarity

    def search(self, question: str, k: int) -> list[IndexedHit]:
        asked = Question(text=question, answers=(), writer="w")
        at = PAGES[0].text.index("Colchicine")
        return [IndexedHit(document="gout", question=asked, start=at, end=at + 5, score=1, similarity=self.similarity)]


def test_an_answer_begins_where_the_nearest_question_is_answered_and_a_far_one_gives_none() -> None:
    near, far = (leading(Index(similarity), PAGES) for similarity in (0.9, 0.5))  # type: ignore[arg-type]
    assert near("?").statements[0].text == "Colchicine treats gout."
    assert len(near("?").statements) == 3
    assert far("?").declined


def test_a_set_has_every_figure_of_every_system(tmp_path: Path, encoder: Encoder) -> None:
    run, asked = context(tmp_path), questions()
    plain = CachedEncoder(encoder, tmp_path / "vectors")
    cached = EvalEncoder(plain, tmp_path / "queries")
    held = prepare("medquad", asked.documents, run, plain, cached)
    golden = golden_answers(asked.asked, asked.documents)
    judge = JudgeLocal(cached)
    figures = {f.name: f for f in asyncio.run(set_figures("toy", held, asked, golden, judge, run, plain, cached))} | {
        f.name: f for f in written_figures(held)
    }
    for system in ("naive", "question_index_27", "question_index_8"):
        assert figures[f"{system}.toy.recovery@1"].value == 100
        assert figures[f"{system}.toy.relevant_document@1"].n == 3
        assert figures[f"{system}.toy.adherence"].n == 3
    assert figures["naive.toy.declined"].value == 0
    assert figures["nearness.medquad.own_page"].value > figures["nearness.medquad.other_pages"].value
    assert figures["index.medquad.kept"].value <= figures["index.medquad.written"].value
