"""Writing and judging by a language model: what it cannot quote is not kept, and a failure is no empty success."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

from prompts.errors import ServiceError
from prompts.language_model import Usage
from prompts.questions import AnswerabilityReply, QuestionsReply
from support.small_pages import pages
from support.word_encoder import WordEncoder
from tools.questions.by_model import AT_ONCE, LOOKED_AT, SHOWN, JudgeByModel, WriterByModel, locate, parts
from tools.questions.contract import Answer, Judgement, Question, SourceDocument, Verdict

GOUT = pages("gout")[0]


class Played:
    """A model that replies what it is told, and remembers what it was shown."""

    name, role = "played", "questions"

    def __init__(self, *replies: dict[str, Any] | ServiceError) -> None:
        self.replies, self.shown = list(replies), []  # type: ignore[var-annotated]

    async def structured(self, template: str, schema: type[BaseModel], **values: str) -> tuple[BaseModel, Usage]:
        self.shown.append((template, values))
        reply = self.replies.pop(0)
        if isinstance(reply, ServiceError):
            raise reply
        return schema.model_validate(reply), Usage()


def written(*replies: Any, wanted: int = 5, document: SourceDocument = GOUT) -> list[Question]:
    return asyncio.run(WriterByModel(Played(*replies)).write(document, wanted))  # type: ignore[arg-type]


def test_a_question_is_kept_with_the_words_that_the_model_quotes() -> None:
    reply = {
        "questions": [
            {"question": "What lowers  uric acid?", "quote": "allopurinol LOWERS\nuric acid"},
            {"question": "What is the dose?", "quote": "300 mg a day"},
            {"question": "", "quote": "Gout"},
            {"question": "what lowers uric acid?", "quote": "Allopurinol"},
        ]
    }
    found = written(reply)
    assert [q.text for q in found] == ["What lowers uric acid?"]
    answer = found[0].answers[0]
    assert GOUT.text[answer.start : answer.end] == "Allopurinol lowers uric acid"
    assert found[0].writer == "played questions@1"


def test_a_long_document_is_written_for_in_parts() -> None:
    text = "Gout hurts a lot. " * (SHOWN // 9)
    replies = [{"questions": [{"question": f"Q{n}?", "quote": "Gout hurts a lot"}]} for n in range(9)]
    long = SourceDocument(id="own:l", title="Gout", text=text)
    count = len(parts(text, SHOWN))
    assert count > 1
    found = written(*replies[:count], wanted=4, document=long)
    assert {q.text for q in found} == {f"Q{n}?" for n in range(count)}
    cut = parts(text, SHOWN)
    assert "".join(text[a:b] for a, b in cut) == text
    assert all(b - a <= SHOWN and text[a:b].rstrip().endswith(".") for a, b in cut[:-1])
    assert {q.answers[0].start for q in found} == {start for start, _ in cut}


def test_every_part_of_a_long_document_gives_questions_before_any_gives_many() -> None:
    text = "Gout hurts a lot. " * (SHOWN // 4)
    cut = parts(text, SHOWN)
    many = {"questions": [{"question": f"Q{n}?", "quote": "Gout hurts a lot"} for n in range(9)]}
    replies = [{"questions": [{**q, "question": f"{p} {q['question']}"} for q in many["questions"]]} for p in range(9)]
    long = SourceDocument(id="own:l", title="Gout", text=text)
    few = written(*replies[:2], wanted=2, document=long)
    assert len({q.answers[0].start for q in few}) == 2
    assert few[1].answers[0].start >= len(text) // 3  # not the two first parts
    found = written(*replies[: len(cut)], wanted=len(cut) + 1, document=long)
    assert {q.answers[0].start for q in found} == {start for start, _ in cut}
    model = Played(*replies[: len(cut)])
    asyncio.run(WriterByModel(model).write(long, 900))  # type: ignore[arg-type]
    assert {shown["wanted"] for _, shown in model.shown} == {str(AT_ONCE)}


def test_a_failing_model_is_no_document_without_questions() -> None:
    with pytest.raises(ServiceError):
        written(ServiceError("down"))


def judged(*replies: Any, count: int = 1) -> list[Any]:
    questions = [Question(text=f"Q{n}?", answers=(place(),), writer="t") for n in range(count)]
    judge = JudgeByModel(Played(*replies), WordEncoder())  # type: ignore[arg-type]
    return [j.verdict for j in asyncio.run(judge.judge([(q, GOUT) for q in questions]))]


HAY = "xx xxx xx xxx. "  # letters that no question holds
QUOTE = "Zoledronic acid jazzes up bones."


def long_document(answer_at: float) -> SourceDocument:
    before = int(10 * SHOWN * answer_at / len(HAY))
    rest = 10 * SHOWN // len(HAY) - before
    return SourceDocument(id="own:l", title="x", text=f"{HAY * before}{QUOTE} {HAY * rest}")


def judged_long(model: Played, document: SourceDocument, answers: tuple[Answer, ...]) -> Judgement:
    question = Question(text="Does zoledronic acid jazz up bones?", answers=answers, writer="t")
    judge = JudgeByModel(model, WordEncoder())  # type: ignore[arg-type]
    return asyncio.run(judge.judge([(question, document)]))[0]


NOT = {"judgements": [{"number": 1, "quote": "", "verdict": "no"}]}
FULL = {"judgements": [{"number": 1, "quote": QUOTE, "verdict": "full"}]}


def test_of_a_long_document_the_part_that_answers_best_is_shown() -> None:
    document = long_document(0.7)
    elsewhere = Answer(document="own:another", start=0, end=5)  # a place in another document says nothing of this one
    model = Played(FULL)
    found = judged_long(model, document, (elsewhere,))
    assert document.text[found.start : found.end] == QUOTE.rstrip(".")
    assert len(model.shown) == 1
    assert QUOTE in model.shown[0][1]["document"]


def test_a_long_document_is_not_answered_only_after_all_parts_that_are_shown() -> None:
    document = long_document(0.7)
    parted = [f"{n} {document.text[a:b][2:]}" for n, (a, b) in enumerate(parts(document.text, SHOWN))]
    document = document.model_copy(update={"text": "".join(parted)})  # each part can be told from the others
    wrong = Answer(document=document.id, start=0, end=5)  # shown first; then the part that is nearest
    model = Played(NOT, FULL)
    assert judged_long(model, document, (wrong,)).verdict is Verdict.FULL
    assert QUOTE not in model.shown[0][1]["document"]
    model = Played(*[NOT] * LOOKED_AT)
    assert judged_long(model, document, (wrong,)).verdict is Verdict.NO
    shown = {values["document"] for _, values in model.shown}
    assert len(shown) == LOOKED_AT
    part = {"judgements": [{"number": 1, "quote": QUOTE, "verdict": "part"}]}
    assert judged_long(Played(NOT, part, NOT, NOT), document, (wrong,)).verdict is Verdict.PART


def place() -> Answer:
    return Answer(document=GOUT.id, start=0, end=4)


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ({"number": 1, "quote": "Allopurinol lowers uric acid", "verdict": "FULL"}, Verdict.FULL),
        ({"number": "1", "quote": "Allopurinol lowers uric acid", "verdict": "partly"}, Verdict.PART),
        ({"number": 1, "quote": "Allopurinol cures gout", "verdict": "full"}, Verdict.NO),  # no such words
        ({"number": 1, "quote": "", "verdict": "full"}, Verdict.NO),
        ({"number": 2, "quote": "Allopurinol lowers uric acid", "verdict": "full"}, Verdict.NO),  # of another question
        ({"number": 1, "quote": "Allopurinol lowers uric acid", "verdict": "no idea"}, Verdict.NO),
    ],
)
def test_a_verdict_counts_only_with_words_of_the_document(said: dict[str, Any], verdict: Verdict) -> None:
    assert judged({"judgements": [said]}) == [verdict]


def test_questions_of_a_document_are_judged_together_and_keep_their_order() -> None:
    quote = "Allopurinol lowers uric acid"
    odd = {
        "judgements": [{"number": n, "quote": quote, "verdict": "full" if n % 2 else "no"} for n in range(10, 0, -1)]
    }
    rest = {"judgements": [{"number": 1, "quote": quote, "verdict": "full"}]}
    assert judged(odd, rest, count=12) == [Verdict.FULL, Verdict.NO] * 5 + [Verdict.FULL, Verdict.NO]


def test_replies_of_small_models_are_read() -> None:
    assert (
        QuestionsReply.model_validate({"questions": {"question": "a", "quote": None, "why": 1}}).questions[0].quote
        == ""
    )
    assert AnswerabilityReply.model_validate({"judgements": None}).judgements == []
    assert locate("Gums  bleed.", "gums bleed") == (0, 11)
    assert locate("Gums bleed.", " ") is None
