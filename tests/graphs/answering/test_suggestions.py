"""Which questions written with the cited documents an answer suggests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agent.agent import Agent
from agent.settings import Settings
from graphs.nodes.finish import suggestions
from graphs.triage.contract import Kind, RedFlag, SessionView, TriageDecision
from support.machine_parts import Scripted, parts
from tools.evidence import Evidence, Origin, Statement, cite
from tools.library.contract import QuestionHit
from tools.library.document import Document, LibraryQuestion

SENTENCES = ("Croup is a barking cough.", "It lasts three days.", "Steam does not help.", "喉炎持续三天。")
TEXT = " ".join(SENTENCES)
ASKED = ("What is croup?", "How long does croup last?", "Does steam help in croup?", "喉炎持续多久？")
WHAT, LONG, STEAM, CHINESE = ASKED


def hits(name: str = "croup") -> list[QuestionHit]:
    """The questions of a page, of which each sentence answers one."""
    places = [(TEXT.index(sentence), len(sentence)) for sentence in SENTENCES]
    known = tuple(
        LibraryQuestion(text=text, start=start, end=start + length, paragraph_start=0, paragraph_end=len(TEXT))
        for text, (start, length) in zip(ASKED, places, strict=True)
    )
    page = Document(
        id=f"library:{name}", title=name, text=TEXT, kind="condition", language="en", date="", review_by="",
        questions=known,
    )  # fmt: skip
    return [QuestionHit(document=page, question=q, similarity=0.7, lexical=0.0) for q in known]


def quoting(text: str, start: int = 0, name: str = "croup") -> Statement:
    """A statement that quotes a text out of the piece of the page from a character on."""
    item = Evidence(id=f"library:{name}@{start}-{len(TEXT)}", text=TEXT[start:], kind="x", origin=Origin.RETRIEVED)
    at = item.text.index(text)
    return Statement(text=text, origin=Origin.RETRIEVED, citations=(cite(item, at, at + len(text)),))


def test_what_no_quote_answers_is_suggested_in_its_order() -> None:
    nearest = hits()[::-1]
    assert suggestions(nearest, [quoting("barking")], ["Croup?"], "en") == [STEAM, LONG]
    assert suggestions(nearest, [quoting("three days.", start=20)], ["Croup?"], "en") == [STEAM, WHAT]
    assert suggestions(nearest, [quoting("barking"), quoting("Steam")], ["Croup?"], "en") == [LONG]
    assert suggestions(hits("cough"), [quoting("barking")], ["Croup?"], "en") == [WHAT, LONG], "another document's"
    assert suggestions([*hits(), *hits("cough")], [quoting("Steam")], [WHAT], "en") == [LONG, STEAM]


def test_what_was_said_in_the_session_is_not_suggested_again() -> None:
    assert suggestions(hits(), [quoting("barking")], ["how long  does croup last"], "en") == [STEAM]
    assert suggestions(hits(), [quoting("barking")], [LONG, STEAM], "en") == []


def test_only_questions_in_the_language_of_the_answer_are_suggested() -> None:
    assert suggestions(hits(), [quoting("barking")], ["喉炎？"], "zh") == [CHINESE]
    assert suggestions(hits()[:3], [quoting("barking")], ["喉炎？"], "zh") == []


class Flagged(Scripted):
    """Judgements for which a message about stridor is an emergency."""

    async def decide(self, message: str, session: SessionView) -> TriageDecision:
        made = await super().decide(message, session)
        flag = RedFlag(code="airway", seen="stridor", advice="Call an ambulance.")
        return made.model_copy(update={"red_flags": (flag,)}) if "stridor" in message else made


@pytest.mark.parametrize(
    ("message", "kind", "suggested"),
    [
        ("croup?", Kind.EVIDENCE, [STEAM]),
        ("croup with stridor?", Kind.EVIDENCE, []),
        ("case of croup", Kind.CASE, []),
        ("hello", Kind.SMALL_TALK, []),
    ],
)
def test_answers_to_questions_alone_suggest_and_never_in_an_emergency(
    tmp_path: Path, message: str, kind: Kind, suggested: list[str]
) -> None:
    looked_for = []

    def questions(asked: str, ids: Sequence[str]) -> list[QuestionHit]:
        looked_for.append((asked, list(ids)))
        return [hit for hit in hits() if hit.question.text in (WHAT, STEAM)]  # the script quotes the first sentence

    made = replace(parts(Flagged()), questions=questions)
    with Agent(Settings(home=tmp_path), parts=made) as agent:
        answer = agent.ask(message)
        assert (answer.kind, answer.suggested) == (kind, suggested)
        assert bool(answer.statements) == (kind is not Kind.SMALL_TALK)
        assert looked_for == ([(message, ["library:croup", "library:croup-treatment"])] if suggested else [])


def test_an_answer_without_statements_suggests_nothing(tmp_path: Path) -> None:
    made = replace(parts(Scripted(plan_of={})), questions=lambda *_: hits())
    with Agent(Settings(home=tmp_path), parts=made) as agent:
        answer = agent.ask("croup?")
        assert (answer.abstained, answer.suggested) == (True, [])
