"""Given questions: their answers as the documents hold them when the index is built."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tools.encoders import Encoder
from tools.questions.building import build
from tools.questions.contract import Answer, Question, QuotedAnswer, SourceDocument
from tools.questions.index import open_questions
from tools.questions.settings import BuildSettings

QUOTE = "Colchicine ends an attack."
ASKED = "What ends an attack?"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"Gout hurts. {QUOTE}", QUOTE),
        (f"Gout is old. It hurts a lot. {QUOTE}", QUOTE),  # found again by its words
        ("Gout hurts. Colchicine does not end it.", ""),
        (f"Gout is an old ill. {QUOTE} {QUOTE}", ""),  # which one is not known
    ],
)
def test_a_learnt_answer_is_kept_only_where_its_words_stand(
    text: str, found: str, tmp_path: Path, encoder: Encoder
) -> None:
    learnt = QuotedAnswer(document="own:gout", start=12, end=12 + len(QUOTE), quote=QUOTE)
    assert built(tmp_path, encoder, text, learnt) == (found, not found)


@pytest.mark.parametrize("span", [(0, 900), (-4, 4), (4, 4)])
def test_a_given_answer_beyond_the_text_is_left_out_and_told(
    span: tuple[int, int], tmp_path: Path, encoder: Encoder
) -> None:
    start, end = span
    assert built(tmp_path, encoder, "Gout hurts.", Answer(document="own:gout", start=start, end=end)) == ("", True)


def built(folder: Path, encoder: Encoder, text: str, answer: Answer) -> tuple[str, bool]:
    """The words that answer the given question in the index, and whether the report tells of a loss."""
    documents = [SourceDocument(id="own:gout", title="Gout", text=text)]
    given = [Question(text=ASKED, answers=(answer,), writer="learnt")]
    report = asyncio.run(build(documents, folder / "i", encoder, BuildSettings(per_document=3), given=given))
    hits = open_questions(folder / "i", encoder).search(ASKED, 9)
    words = next((text[h.start : h.end] for h in hits if h.question.text == ASKED), "")
    return words, any("1 given answers were left out" in warning for warning in report.warnings)
