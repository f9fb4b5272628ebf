"""The answerability matrix: which entries are judged, what the completion does, and that generating pairs stay."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from support.small_pages import pages
from support.word_encoder import WordEncoder
from tools.questions.collection import Collection
from tools.questions.contract import Answer, Judgement, Question, SourceDocument, Verdict
from tools.questions.matrix import complete, entries, with_matrix
from tools.questions.settings import MatrixSettings

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
def test_generating_pairs_stay_and_answers_are_added_with_their_places(form: str) -> None:
    documents = pages()
    collection = Collection(documents)
    encoder = WordEncoder()
    collection.embed(encoder)
    asked = [Question(text=f"What of {d.title}?", answers=(own(d),), writer="t") for d in documents]
    settings = MatrixSettings.model_validate({"form": form, "share": 1.0, "rank": 3})
    vectors = encoder.encode_queries([q.text for q in asked])
    found = asyncio.run(with_matrix(asked, vectors, collection, OnlyGout(), settings))
    for before, after in zip(asked, found, strict=True):
        assert after.answers[0] == before.answers[0]
        assert set(after.documents) == set(before.documents) | {"own:gout"}
    assert (found[1].answers[1].start, found[1].answers[1].end) == (3, 9)


def test_the_published_form_takes_the_generating_pairs_alone() -> None:
    documents = pages("gout")
    asked = [Question(text="Gout?", answers=(own(documents[0]),), writer="t")]
    vectors = np.ones((1, 2), dtype=np.float32)
    found = asyncio.run(with_matrix(asked, vectors, Collection(documents), OnlyGout(), MatrixSettings()))
    assert found == asked


def own(document: SourceDocument) -> Answer:
    return Answer(document=document.id, start=0, end=2)


class OnlyGout:
    """The page on gout answers everything, every other page nothing."""

    name, of_pair = "only gout", True

    async def judge(self, pairs: Sequence[tuple[Question, SourceDocument]]) -> list[Judgement]:
        yes, no = Judgement(verdict=Verdict.FULL, start=3, end=9), Judgement(verdict=Verdict.NO)
        return [yes if document.id == "own:gout" else no for _, document in pairs]
