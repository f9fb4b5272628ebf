"""The answerability matrix: which entries are judged, what the completion does, and that generating pairs stay."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from prompts.errors import InputError, ServiceError
from support.small_pages import pages
from support.word_encoder import WordEncoder
from tools.questions.building import build
from tools.questions.collection import Collection
from tools.questions.contract import Answer, Judgement, Question, SourceDocument, Verdict
from tools.questions.local import WriterLocal
from tools.questions.matrix import Matrix, complete, entries, with_matrix
from tools.questions.round_trip import RoundTrip
from tools.questions.settings import BuildSettings, MatrixSettings
from tools.questions.work import Work

FORMS = ("thresholded", "completed_random", "completed_thresholded", "full")


def test_a_matrix_of_low_rank_is_completed() -> None:
    draw = np.random.default_rng(3)
    groups = draw.integers(0, 4, 80), draw.integers(0, 4, 30)
    truth = (groups[0][:, None] == groups[1][None, :]).astype(np.float32)
    seen = draw.random(truth.shape) < 0.5
    found = complete(np.where(seen, truth, 9.0).astype(np.float32), seen, 4)
    assert ((found > 0.5) == truth.astype(bool))[~seen].mean() > 0.97
    assert np.allclose(found[seen], truth[seen])


def test_the_forms_judge_the_entries_that_they_name() -> None:
    similarity = np.array([[0.9, 0.2, 0.6], [0.1, 0.8, 0.3]], dtype=np.float32)
    known = np.array([[False, True, False], [False, False, False]])

    def chosen(**settings: object) -> list[list[int]]:
        return entries(similarity, known, MatrixSettings.model_validate(settings)).astype(int).tolist()

    assert chosen(form="thresholded", threshold=0.6) == [[1, 1, 1], [0, 1, 0]]
    assert chosen(form="completed_thresholded", share=0.34) == [[1, 1, 0], [0, 1, 0]]
    assert chosen(form="full") == [[1, 1, 1], [1, 1, 1]]
    random = chosen(form="completed_random", share=0.5)
    assert random == chosen(form="completed_random", share=0.5)
    assert random[0][1] == 1


@pytest.mark.parametrize("form", FORMS)
def test_generating_pairs_stay_and_answers_are_added_with_their_places(form: str, tmp_path: Path) -> None:
    documents = pages()
    collection = Collection(documents)
    encoder = WordEncoder()
    collection.embed(encoder)
    asked = [Question(text=f"What of {d.title}?", answers=(own(d),), writer="t") for d in documents]
    settings = MatrixSettings.model_validate({"form": form, "share": 1.0, "rank": 3})
    vectors = encoder.encode_queries([q.text for q in asked])
    with work(tmp_path) as kept:
        found = asyncio.run(with_matrix(asked, vectors, Matrix(collection, OnlyGout(), kept), settings))
    for before, after in zip(asked, found, strict=True):
        assert after.answers[0] == before.answers[0]
        assert set(after.documents) == set(before.documents) | {"own:gout"}
    assert (found[1].answers[1].start, found[1].answers[1].end) == (3, 9)
    assert found[1].answers[1].judged


def test_what_was_only_completed_has_a_window_and_says_that_nobody_judged_it(tmp_path: Path) -> None:
    text = "Gout hurts.\n" + "Filling of a page. " * 40 + "\nAllopurinol lowers uric acid in gout."
    documents = [SourceDocument(id=f"own:{n}", title="Gout", text=text) for n in range(6)]
    collection, encoder = Collection(documents), WordEncoder(limit=40)
    collection.embed(encoder)
    texts = [f"What lowers uric acid, {n}?" for n in range(6)]
    asked = [
        Question(text=t, answers=tuple(own(d) for d in documents[: 5 + n // 5]), writer="t")
        for n, t in enumerate(texts)
    ]
    settings = MatrixSettings(form="completed_thresholded", threshold=2.0, rank=1)  # nothing but the pairs is judged
    with work(tmp_path) as kept:
        vectors = encoder.encode_queries(texts)
        found = asyncio.run(with_matrix(asked, vectors, Matrix(collection, OnlyGout(), kept), settings))
    added = [a for before, after in zip(asked, found, strict=True) for a in after.answers[len(before.answers) :]]
    assert added
    assert not any(a.judged for a in added)
    assert all(0 < a.end - a.start < len(text) for a in added)


def test_judgements_of_the_matrix_are_kept_so_that_a_stopped_build_goes_on(tmp_path: Path) -> None:
    documents = pages()
    collection, encoder = Collection(documents), WordEncoder()
    collection.embed(encoder)
    asked = [Question(text=f"What of {n}?", answers=(own(documents[0]),), writer="t") for n in range(300)]
    vectors = encoder.encode_queries([q.text for q in asked])
    judge = FailingGout(after=2)
    with work(tmp_path) as kept:
        matrix = Matrix(collection, judge, kept)
        with pytest.raises(ServiceError):
            asyncio.run(with_matrix(asked, vectors, matrix, MatrixSettings(form="full")))
        judge.after = 99
        asyncio.run(with_matrix(asked, vectors, matrix, MatrixSettings(form="full")))
    assert judge.judged == 600  # two documents of each question that were not known, each pair once


def test_a_matrix_that_would_be_too_large_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Writer:
        name = "never"

        async def write(self, document: SourceDocument, wanted: int) -> list[Question]:
            raise AssertionError("written for nothing")

    monkeypatch.setattr("tools.questions.matrix.MOST", 200)
    settings = BuildSettings(matrix=MatrixSettings(form="full"))
    with pytest.raises(InputError, match="216 entries"):  # three documents, 24 questions each
        asyncio.run(build(pages(), tmp_path / "i", WordEncoder(), settings, writer=Writer()))


def test_the_round_trip_judges_entries_as_it_judges_pairs() -> None:
    documents, encoder = pages(), WordEncoder()
    collection = Collection(documents)
    collection.embed(encoder)
    asked = [q for d in documents for q in WriterLocal(collection.rarity).write_now(d, 12)]
    judge = RoundTrip(collection, encoder)
    vectors = encoder.encode_queries([q.text for q in asked])
    wanted = np.ones((len(asked), len(documents)), dtype=bool)
    pairs = [(row, column) for row in range(len(asked)) for column in range(len(documents))]
    single = asyncio.run(judge.judge([(asked[row], documents[column]) for row, column in pairs]))
    expected = [(*pair, j) for pair, j in zip(pairs, single, strict=True) if j.verdict is not Verdict.NO]
    assert len(expected) > len(asked) / 2
    assert judge.judge_entries(asked, vectors, wanted) == expected
    assert "@" in judge.name


def test_the_published_form_takes_the_generating_pairs_alone(tmp_path: Path) -> None:
    documents = pages("gout")
    asked = [Question(text="Gout?", answers=(own(documents[0]),), writer="t")]
    vectors = np.ones((1, 2), dtype=np.float32)
    with work(tmp_path) as kept:
        matrix = Matrix(Collection(documents), OnlyGout(), kept)
        assert asyncio.run(with_matrix(asked, vectors, matrix, MatrixSettings())) == asked


@contextlib.contextmanager
def work(folder: Path) -> Iterator[Work]:
    kept = Work(folder / "w.sqlite", 2)
    try:
        yield kept
    finally:
        kept.close()


def own(document: SourceDocument) -> Answer:
    return Answer(document=document.id, start=0, end=2)


class OnlyGout:
    """The page on gout answers everything, every other page nothing."""

    name, of_pair = "only gout", True

    async def judge(self, pairs: Sequence[tuple[Question, SourceDocument]]) -> list[Judgement]:
        yes, no = Judgement(verdict=Verdict.FULL, start=3, end=9), Judgement(verdict=Verdict.NO)
        return [yes if document.id == "own:gout" else no for _, document in pairs]


class FailingGout(OnlyGout):
    """Fails after so many calls; counts the pairs that it judged."""

    def __init__(self, after: int) -> None:
        self.after, self.judged = after, 0

    async def judge(self, pairs: Sequence[tuple[Question, SourceDocument]]) -> list[Judgement]:
        if not self.after:
            raise ServiceError("The server is away.", "Try again.")
        self.after -= 1
        self.judged += len(pairs)
        return await super().judge(pairs)
