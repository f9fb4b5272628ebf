"""Test sets: answered by the document, and nothing stands in the index or the document word for word."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from support.small_pages import pages
from tools.questions.contract import Answer, Judgement, Question, SourceDocument, Verdict
from tools.questions.local import WriterLocal
from tools.questions.testset import Leaks, RewriterLocal, SetName, make_set

INDEXED = [q for d in pages() for q in WriterLocal().write_now(d, 9)]


class Rewriting:
    """Gives one text after another."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = list(texts)

    async def rewrite(self, question: Question, document: SourceDocument, kind: SetName) -> Question | None:
        return Question(text=self.texts.pop(0), answers=(), writer=kind) if self.texts else None


class Judging:
    name, of_pair = "judging", True

    async def judge(self, pairs: Sequence[tuple[Question, SourceDocument]]) -> list[Judgement]:
        return [Judgement(verdict=Verdict.NO if "moon" in q.text else Verdict.FULL, start=0, end=1) for q, _ in pairs]


def test_leaks_repeats_and_what_is_not_answered_are_left_out_and_counted() -> None:
    fresh = "Which pill keeps flare-ups away?"
    texts = [
        fresh,
        fresh.upper(),
        INDEXED[0].text,
        "Is gout known on the moon?",
        "a painful arthritis caused by crystals of?",
    ]
    found = asyncio.run(make_set("rephrase", INDEXED, pages(), Rewriting(texts), Judging(), 10))
    assert [p.question for p in found.questions] == [fresh]
    assert (found.written, found.unanswered) == (5, 1)
    assert found.leaked >= 2
    assert found.questions[0].source in {q.text for q in INDEXED}


def test_documents_take_turns() -> None:
    texts = [f"Thing number {word}?" for word in ("one", "two", "three")]
    found = asyncio.run(make_set("ood", INDEXED, pages(), Rewriting(texts), Judging(), 3))
    assert len({p.documents for p in found.questions}) == 3


def test_an_unforeseen_question_names_only_the_document_that_was_judged() -> None:
    gout, croup = pages("gout", "croup")
    both = tuple(Answer(document=d.id, start=0, end=4) for d in (gout, croup))
    merged = Question(text="What is known of it?", answers=both, writer="t")
    expected: dict[SetName, tuple[str, ...]] = {"ood": (gout.id,), "rephrase": (gout.id, croup.id)}
    for kind, documents in expected.items():
        found = asyncio.run(make_set(kind, [merged], [gout, croup], Rewriting(["Which pill helps?"]), Judging(), 1))
        assert found.questions[0].documents == documents


def test_the_local_rewording_is_another_question_about_the_same() -> None:
    question = Question(text="How is gout treated?", answers=(Answer(document="own:gout", start=0, end=4),), writer="t")
    gout = pages("gout")[0]
    made = asyncio.run(RewriterLocal(lambda _: 1.0).rewrite(question, gout, "rephrase"))
    assert made is not None
    assert made.text != question.text
    assert "gout" in made.text.lower()
    assert not Leaks([question]).holds(made.text, gout)
    other = asyncio.run(RewriterLocal(lambda _: 1.0).rewrite(question, gout, "ood"))
    assert other is not None
    assert other.answers == ()
