"""Order and de-duplication: in one index, in several searched together, and in the tool."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from prompts.tool_arguments import FindAnsweredQuestion as Arguments
from support.word_encoder import WordEncoder
from tools.contract import ToolContext
from tools.library.collection import Library
from tools.library.contract import QuestionHit
from tools.library.document import Document, LibraryQuestion
from tools.questions import stored
from tools.questions.contract import Answer, Nearness, Question, QuestionsReport, SourceDocument
from tools.questions.index import AnsweredQuestions, HalfVectors, open_questions, search_together
from tools.questions.settings import QuestionSettings, SearchSettings
from tools.questions.tool import FindAnsweredQuestion

ENCODER = WordEncoder()
REPORT = QuestionsReport(
    documents=1, empty=0, written=1, kept=1, merged=0, questions=1, share_kept=1, coverage=1, diversity=1,
    nearness=Nearness(),
)  # fmt: skip
STATINS = "Do statins help the heart?"


class Row(NamedTuple):
    """A question of an index: its text, its document, the words that answer it, and the document's date."""

    text: str
    document: str
    says: str = "Nothing."
    date: str = ""


def index(folder: Path, rows: Sequence[Row], settings: SearchSettings | None = None) -> AnsweredQuestions:
    dates = {row.document: row.date for row in rows}
    documents = [SourceDocument(id=key, text="Nothing.", date=date) for key, date in dates.items()]
    questions = [
        Question(text=row.text, answers=(Answer(document=row.document, start=0, end=8),), writer="t") for row in rows
    ]
    vectors = ENCODER.encode_queries([row.text for row in rows])
    spans = ENCODER.encode_documents([row.says for row in rows])
    stored.write(folder, questions, vectors, spans, documents, ENCODER, REPORT)
    return open_questions(folder, ENCODER, settings)


def found(indexes: Sequence[AnsweredQuestions], asked: str, k: int = 9) -> list[str]:
    return [each.hit.document for each in search_together(indexes, ENCODER, asked, k)]


def test_few_vectors_are_searched_as_faiss_searches_many(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(3).normal(size=(300, 16)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    few = HalfVectors(rows).search(rows[:5], 20)
    monkeypatch.setattr("tools.questions.index.FEW", 10)
    many = HalfVectors(rows).search(rows[:5], 20)
    assert np.array_equal(few[0], many[0])
    assert np.allclose(few[1], many[1], atol=1e-5)


def test_words_of_a_small_index_do_not_count_more_than_those_of_a_large_one(tmp_path: Path) -> None:
    small = index(tmp_path / "small", [Row("Does rest help gout?", "own:gout")])
    large = index(tmp_path / "large", [Row(STATINS, "own:statins"), Row("Does rest heal a bone?", "own:bone")])
    hits = {each.hit.document: each.hit for each in search_together([small, large], ENCODER, STATINS, 9)}
    assert hits["own:statins"].words == pytest.approx(1.0)
    assert hits["own:gout"].words < 0.5
    assert small.search(STATINS, 1)[0].words == pytest.approx(1.0)  # by itself it has no better one


def test_two_indexes_weigh_words_as_one_index_of_both_does(tmp_path: Path) -> None:
    rows = [Row(f"Does {a} help {b}?", f"own:{a}-{b}") for a in ("rest", "salt", "warm milk") for b in ("gout", "flu")]
    parts = [index(tmp_path / "a", rows[:1]), index(tmp_path / "b", rows[1:])]
    joint = index(tmp_path / "both", rows)
    asked = "Does milk help flu?"
    together = {each.hit.document: each.hit.words for each in search_together(parts, ENCODER, asked, 9)}
    whole = {hit.document: hit.words for hit in joint.search(asked, 9)}
    assert together == pytest.approx(whole, abs=0.05)  # the mean length of a question differs


def test_a_document_of_two_indexes_comes_once_with_its_best_question(tmp_path: Path) -> None:
    first = index(tmp_path / "a", [Row("Does rest heal a bone?", "own:a"), Row("Is milk fat?", "own:b")])
    second = index(tmp_path / "b", [Row(STATINS, "own:a"), Row("Is rest good?", "own:c")])
    hits = search_together([first, second], ENCODER, STATINS, 9)
    assert [each.hit.document for each in hits].count("own:a") == 1
    assert hits[0].hit.question.text == STATINS


def test_of_equal_documents_of_two_indexes_the_newer_stands_first_then_the_more_general(tmp_path: Path) -> None:
    # six questions alike, so that another one adds nothing to the score of the more general document
    def equal(document: str, date: str, extra: Sequence[Row] = ()) -> list[Row]:
        return [*(Row(f"{STATINS} {'!' * n}", document, date=date) for n in range(6)), *extra]

    general = [Row("Zzz?", "own:general", date="2024-01-01")]
    by_meaning = SearchSettings(words=0)
    left = [*equal("own:old", "2020-01-01"), *equal("own:general", "2024-01-01", general)]
    right = [*equal("own:narrow", "2024-01-01"), *equal("own:new", "2025-01-01")]
    one, two = index(tmp_path / "one", left, by_meaning), index(tmp_path / "two", right, by_meaning)
    order = ["own:new", "own:general", "own:narrow", "own:old"]
    assert found([one, two], STATINS) == found([two, one], STATINS) == order


def test_what_answers_a_question_is_found_by_its_words_and_the_published_order_knows_questions_alone(
    tmp_path: Path,
) -> None:
    asked = "Which pill lowers cholesterol?"
    rows = [
        Row("Is it true of them?", "own:a", "Zinc is an ox.", "2025-01-01"),
        Row("Is it true of them?", "own:b", "The pill which lowers cholesterol."),
    ]
    assert [h.document for h in index(tmp_path / "i", rows).search(asked, 2)] == ["own:b", "own:a"]
    published = SearchSettings.published()
    assert [h.document for h in index(tmp_path / "p", rows, published).search(asked, 2)] == ["own:a", "own:b"]


def test_a_document_asked_for_in_several_ways_stands_before_one_near_question(tmp_path: Path) -> None:
    several = [Row(f"Do statins help the heart of {who}?", "own:several") for who in ("men", "women", "us", "all")]
    others = [Row(f"Zzz {n}?", "own:one") for n in range(9)]
    rows = [Row("Do statins help the heart of men?", "own:one"), *others, *several]
    assert index(tmp_path / "i", rows).search(STATINS, 1)[0].document == "own:several"


class Held:
    """A library that holds what it is told, and answers every search with all of it."""

    question_titles = ("Heart",)

    def __init__(self, hits: Sequence[QuestionHit]) -> None:
        self.hits = list(hits)

    def search_questions(self, question: str, limit: int) -> list[QuestionHit]:
        return self.hits


def hit(document: Document, similarity: float, text: str = STATINS, **more: Any) -> QuestionHit:
    known = LibraryQuestion(text=text, start=0, end=9, paragraph_start=0, paragraph_end=9)
    return QuestionHit(document=document, question=known, similarity=similarity, lexical=1.0, **more)


def listed(hits: Sequence[QuestionHit], limit: int, guards: bool) -> tuple[list[str], list[str]]:
    """Documents of the evidence, and of the answers."""
    tool = FindAnsweredQuestion(Held(hits), settings=QuestionSettings(guards=guards))  # type: ignore[arg-type]
    artifact = asyncio.run(tool.run(Arguments(question=STATINS, limit=limit), ToolContext(question=STATINS)))
    return [step["document"] for step in artifact.strategy], [a.evidence.document_id for a in artifact.answered]


@pytest.fixture
def documents(library: Library) -> dict[str, Document]:
    first = library.documents[0]
    made = {
        "own:old": ("2020-01-01", 1),
        "own:narrow": ("2024-01-01", 1),
        "own:general": ("2024-01-01", 2),
        "own:new": ("2025-01-01", 1),
    }
    return {
        key: first.model_copy(update={"id": key, "date": date, "questions": first.questions[:count]})
        for key, (date, count) in made.items()
    }


@pytest.mark.parametrize("guards", [True, False])
def test_the_tool_gives_each_document_once_and_of_equal_ones_the_newer_then_the_more_general(
    guards: bool, documents: dict[str, Document]
) -> None:
    order = ["own:new", "own:general", "own:narrow", "own:old"]
    equal = [hit(document, 0.9 + 1e-6 * n) for n, document in enumerate(documents.values())]
    further = [hit(documents["own:new"], 0.89, "Do statins help your heart?")] * 5
    for shuffled in itertools.permutations(equal):
        assert listed([*further, *shuffled], 4, guards) == (order, order)
    assert listed([*equal, *further], 2, guards)[0] == order[:2]


def test_what_asks_the_same_stands_first_and_what_nobody_judged_answers_nothing(documents: dict[str, Document]) -> None:
    completed = hit(documents["own:new"], 0.97, generated=True, judged=False)
    judged = hit(documents["own:old"], 0.9)
    assert listed([completed, judged], 3, True)[1] == ["own:old"]
    assert listed([completed], 3, True) == (["own:new"], [])
    assert listed([completed.model_copy(update={"judged": True})], 3, True)[1] == ["own:new"]


def test_scores_of_the_two_sources_are_made_in_one_way(documents: dict[str, Document]) -> None:
    """A share of BM25 within another collection says nothing: the same words weigh the same here."""
    near = hit(documents["own:old"], 0.9, "Do statins help the heart?").model_copy(update={"lexical": 0.1})
    far = hit(documents["own:new"], 0.9, "Do statins help?").model_copy(update={"lexical": 1.0})
    assert listed([far, near], 2, True)[0] == ["own:old", "own:new"]


def test_an_index_whose_words_do_not_count_is_searched_by_meaning(tmp_path: Path) -> None:
    one = index(tmp_path / "i", [Row(STATINS, "own:a"), Row("Zzz?", "own:b")], SearchSettings(words=0.0))
    hits = search_together([one], ENCODER, STATINS, 2)
    assert [each.hit.document for each in hits] == ["own:a", "own:b"]
    assert np.allclose([each.hit.words for each in hits], 0)


def test_as_published_the_nearest_question_by_cosine_leads_in_its_own_wording(tmp_path: Path) -> None:
    rows = [
        Row("statins for a heart attack", "own:near"),
        Row("statins and the heart", "own:often", "statins help the heart"),
        Row("does the heart need statins", "own:often", "statins help the heart"),
    ]
    published = index(tmp_path / "p", rows, SearchSettings.published())
    vector = ENCODER.encode_queries([STATINS])[0]
    cosines = {r.text: float(ENCODER.encode_queries([r.text])[0] @ vector) for r in rows}
    hits = published.search(STATINS, 2)
    assert [round(h.score, 3) for h in hits] == [round(h.similarity, 3) for h in hits]
    assert hits[0].question.text == max(cosines, key=lambda text: cosines[text])
    assert published.forms("What helps in MI?") == ["What helps in MI?"]
    assert len(index(tmp_path / "o", rows).forms("What helps in MI?")) > 1
