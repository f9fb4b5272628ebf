"""The benchmark of how answers look: what stands above the direct answer, boxes and notices are counted as printed."""

from __future__ import annotations

import pytest

from evals.bench.view import Seen, figures, messages, seen
from graphs.answering.contract import Answer
from graphs.triage.contract import RedFlag
from tools.contract import Notice, Severity
from tools.evidence import Origin, Statement

CALL = RedFlag(code="x", seen="chest pain", advice="Call now.")


def answer(*notices: Notice, language: str = "en", **fields: object) -> Answer:
    said = Statement(text="Aspirin helps.", origin=Origin.PARAMETRIC)
    given = {"question": "q", "kind": "evidence", "language": language, "statements": [said], "notices": notices}
    return Answer.model_validate(given | fields)


def test_nothing_stands_above_the_direct_answer_but_what_is_urgent() -> None:
    assert seen(answer())[:4] == (False, 0, 0, 0)
    assert seen(answer(emergency=[CALL]))[:2] == (True, 5)  # EMERGENCY, Call now, chest pain
    barred = Notice(code="barred_medicine", text="Take care.", severity=Severity.DANGER)
    assert seen(answer(barred))[:4] == (True, 2, 1, 1)


def test_boxes_and_notices_are_those_that_are_shown() -> None:
    boxed = [Notice(code=code, text=code) for code in ("clinician_review", "sparse_information")]
    label, traced = Notice(code="starter_knowledge", text="x"), Notice(code="read_from_case", text="x")
    assert seen(answer(*boxed, label, traced))[2:4] == (1, 3)
    assert seen(answer(label)).words > seen(answer()).words


def test_words_above_an_answer_that_is_printed_elsewhere_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(out: object, shown: Answer) -> None:
        out.print("Choice yes, support 94% 支持")  # type: ignore[attr-defined]
        out.print(shown.statements[0].text)  # type: ignore[attr-defined]

    monkeypatch.setattr("evals.bench.view.show_answer", late)
    assert seen(answer())[:2] == (False, 6)


def test_the_messages_are_forty_and_the_figures_keep_what_is_urgent_apart() -> None:
    assert len(set(messages())) == 40
    told = {
        f.name: f.value
        for f in figures([Seen(False, 0, 1, 2, 100), Seen(False, 3, 0, 4, 50), Seen(True, 30, 1, 3, 70)])
    }
    assert told == {
        "view.words_above": 3,
        "view.words_above_urgent": 30,
        "view.boxes": 1,
        "view.notices": 3,
        "view.words": 70,
    }
