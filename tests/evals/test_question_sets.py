"""The sets of questions that the task `questions` asks: their readers, on rows written here."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from evals.datasets import answered_questions as data
from evals.datasets.answered_questions import OwnQuestion, read_liveqa_answers
from evals.datasets.liveqa import LIVEQA, LIVEQA_ANSWERS
from evals.datasets.medquad import PAGES, QBRAG_PAGES, QBRAG_QUESTIONS
from evals.datasets.rows import read_jsonl
from prompts.errors import DataError
from support.small_questions import TEXTS, context, write
from tools.text.tokens import tokens


def test_a_question_of_too_many_segments_is_left_out_and_one_of_several_has_them_all_as_gold(tmp_path: Path) -> None:
    common = [{"question": "Do you have information about it ?", "text": f"Text {n}."} for n in range(6)]
    twice = [
        {"question": "What is gout ?", "text": TEXTS["gout"]},
        {"question": "What is gout ?", "text": "A disease."},
    ]
    pages = [{"url": "a", "focus": "Gout", "segments": twice}, {"url": "b", "focus": "Any", "segments": common}]
    write(tmp_path / PAGES, *pages)
    found = data.read_segments(tmp_path, 100, 0)
    assert [(q.text, q.gold) for q in found.asked] == [("What is gout ?", frozenset({"segment:0", "segment:1"}))]
    assert found.left_out == 1
    assert len(found.documents) == 8
    assert all(not d.title and d.text != "Gout" for d in found.documents)  # neither focus nor question goes in
    assert not any("What is gout" in d.text for d in found.documents)


def test_consumers_questions_have_graded_answers_and_those_without_a_good_one_stay(tmp_path: Path) -> None:
    answers = [{"answer_id": key, "answer": text} for key, text in TEXTS.items()]
    write(tmp_path / LIVEQA_ANSWERS, *answers, answers[0], {"answer_id": "empty", "answer": " "})
    judged = [{"answer_id": k, "grade": g} for k, g in {"gout": 4, "asthma": 2, "shingles": 1, "gone": 4}.items()]
    write(
        tmp_path / LIVEQA,
        {"id": "1", "subject": "gout", "message": "My toe hurts.", "qrels": judged},
        {"id": "2", "subject": "", "message": "Why?", "qrels": [{"answer_id": "asthma", "grade": 2}]},
    )
    of_answers = read_liveqa_answers(context(tmp_path))  # one that was judged for two messages is one document
    assert [d.id for d in of_answers.documents] == list(TEXTS)
    found = data.read_liveqa(tmp_path, 100, 0)
    assert [d.id for d in found.documents] == list(TEXTS)
    first, second = found.asked
    assert (first.text, set(first.gold)) == ("gout. My toe hurts.", {"gout"})
    assert first.gains == {"gout": 3, "asthma": 1}
    assert second.gold == frozenset()


def test_a_page_question_of_an_unknown_page_is_a_damaged_file(tmp_path: Path) -> None:
    write(tmp_path / QBRAG_PAGES, {"url": "a", "text": TEXTS["gout"]})
    write(tmp_path / QBRAG_QUESTIONS, {"question": "What is gout ?", "gold_urls": ["b"]})
    with pytest.raises(DataError, match="b answers 'What is gout"):
        data.read_qbrag(tmp_path, 10, 0)


def test_our_questions_are_of_documents_that_are_there_and_repeat_none_of_theirs() -> None:
    rows = read_jsonl(data.OWN, OwnQuestion)
    assert Counter(row.kind for row in rows) == {"rephrase": 150, "ood": 173, "outside": 54}
    assert len({row.question for row in rows}) == len(rows)
    starter = Path(__file__).parents[2] / "tools" / "library" / "starter"
    texts = {f"library:{path.stem}": path.read_text(encoding="utf-8") for path in starter.glob("*.md")}
    assert {key for row in rows for key in row.documents} <= set(texts)
    known = {
        " ".join(tokens(line.split('q: "')[1])) for t in texts.values() for line in t.split("\n") if 'q: "' in line
    }
    assert not [row.question for row in rows if " ".join(tokens(row.question)) in known]
