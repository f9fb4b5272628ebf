"""Background that is written while the answer is: on what is open after the choice, and no statement rests on it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from graphs.answering.contract import AnswerView, Draft
from graphs.answering.general import BackgroundBeside
from graphs.kads.contract import Kept, Selection
from prompts.metering import Meter, metered
from support.answerers import CROUP, answer, codes, document, local, view
from support.answering_model import Answering, by_model, citing, saying
from tools.contract import Gap
from tools.encoders import Encoder
from tools.evidence import Evidence, Origin
from tools.gaps.contract import Inquiry

FIRST = CROUP.partition(". ")[0] + "."
GOOD = citing(FIRST, "1.1")
NEEDS = ("Relapse of croup", "Dose of dexamethasone", "Use of warfarin")


class Writes:
    """Writes a sentence on each point; ``points`` are those that it was asked for."""

    def __init__(self) -> None:
        self.points: list[str] = []
        self.begun = threading.Event()

    async def write(self, inquiry: Inquiry, points: Sequence[str]) -> list[Evidence]:
        assert inquiry.question
        self.points += points
        self.begun.set()
        return [
            Evidence(
                id=f"generated:{n}", text=f"Textbooks tell {p}.", title=p, kind="background", origin=Origin.GENERATED
            )
            for n, p in enumerate(points)
        ]


def croup(*covers: str, **more: Any) -> AnswerView:
    kept = document("croup", CROUP, title="Croup")
    chosen = Kept(evidence_id=kept.id, covers=covers, reason="near")
    selection = Selection(requirements=NEEDS, kept=(chosen,), dropped=(), generated_share=0.0)
    gaps = tuple(Gap(requirement=need, query=need) for need in NEEDS)
    asked = view("Does dexamethasone relieve the symptoms of croup in children?", kept, gaps=gaps, **more)
    return asked.model_copy(update={"selection": selection})


def told(encoder: Encoder, answering: Answering, asked: AnswerView) -> tuple[Draft, Writes]:
    writes = Writes()
    with by_model(local(encoder), encoder, answering, BackgroundBeside(writes, 3)) as (made, _), metered(Meter()):
        return answer(made, asked, parametric=True), writes


def test_it_is_written_while_the_model_answers(encoder: Encoder) -> None:
    writes = Writes()

    def answering(name: str, _: Any) -> Any:
        return {"statements": [GOOD], "unanswered": [1] if writes.begun.wait(10) else []}

    with by_model(local(encoder), encoder, answering, BackgroundBeside(writes, 3)) as (made, _), metered(Meter()):
        draft = answer(made, croup(), parametric=True)
    assert draft.left_open == NEEDS[:1]


def test_nothing_is_written_on_what_a_document_that_the_choice_added_covers(encoder: Encoder) -> None:
    draft, writes = told(encoder, saying(GOOD, unanswered=[]), croup(*NEEDS[1:]))
    assert writes.points == [NEEDS[0]]
    assert draft.left_open == ()


def test_only_what_stays_open_is_shown_with_one_notice_and_as_resting_nowhere(encoder: Encoder) -> None:
    draft, writes = told(encoder, saying(GOOD, unanswered=[1]), croup())
    assert writes.points == [*NEEDS]
    *said, last = draft.statements
    assert [s.text for s in said] == [FIRST]
    assert last.text == f"General knowledge, not retrieved, on {NEEDS[0]}: Textbooks tell {NEEDS[0]}."
    (notice,) = [n.text for n in draft.notices if n.code == "background_generated"]
    assert f"on: {NEEDS[0]}." in notice
    assert draft.generated == {}


def test_no_point_about_an_option_is_written_on(encoder: Encoder) -> None:
    options = {"A": "Dexamethasone", "B": "Warfarin"}
    asked = croup(kind="multiple_choice", options=options)
    _, writes = told(encoder, saying(GOOD, option="A", unanswered=[]), asked)
    assert NEEDS[0] in writes.points
    assert NEEDS[2] not in writes.points


def test_where_nothing_found_answers_it_is_shown(encoder: Encoder) -> None:
    draft, _ = told(encoder, saying(abstain=True, unanswered=[]), croup())
    assert draft.abstained
    assert [s.origin for s in draft.statements] == [Origin.PARAMETRIC] * len(NEEDS)
    assert {"nothing_found", "background_generated"} <= set(codes(draft))


@pytest.mark.parametrize("gaps", [(), (Gap(requirement="Relapse", query="r", covered_by=("library:croup@0-20",)),)])
def test_without_an_open_point_nobody_is_asked(encoder: Encoder, gaps: tuple[Gap, ...]) -> None:
    _, writes = told(encoder, saying(GOOD), croup().model_copy(update={"gaps": gaps}))
    assert not writes.begun.is_set()


@pytest.mark.parametrize("spaced", [True, False])
def test_a_long_background_is_shown_in_whole_sentences_of_some_900_characters(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch, spaced: bool
) -> None:
    said = "Part {n} tells where experts disagree on relapse, and of whom trials left out, such as the very young."
    text = " ".join(said.format(n=n) for n in range(12)) if spaced else "复发较少见；极年幼者未被纳入。" * 70

    class Long(Writes):
        async def write(self, inquiry: Inquiry, points: Sequence[str]) -> list[Evidence]:
            return [e.model_copy(update={"text": text}) for e in await super().write(inquiry, points)]

    monkeypatch.setitem(globals(), "Writes", Long)
    last = told(encoder, saying(GOOD, unanswered=[1]), croup())[0].statements[-1].text
    shown = last.partition(f"on {NEEDS[0]}: ")[2]
    assert text.startswith(shown), "as it was written"
    assert shown.endswith(("young.", "。", "；"))
    assert 780 < len(shown) <= 900
