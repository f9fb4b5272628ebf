"""What a turn of a written conversation lacks, and the figures over conversations."""

from __future__ import annotations

from evals.datasets.cases import Conversation, Turn, lacks
from evals.tasks.cases import conversation_figures
from graphs.answering.contract import Answer
from tools.contract import Notice

ANSWER = Answer(
    question="left knee", kind="explain", language="en", notices=[Notice(code="certainty", text="Gout 60%")]
)


def test_an_answer_that_holds_all_lacks_nothing() -> None:
    turn = Turn(say="why?", kind="explain", cites=False, says=("Gout|gicht",), never=("right",), notices=("certainty",))
    assert lacks(turn, ANSWER) == []


def test_each_missing_thing_is_named() -> None:
    turn = Turn(say="why?", kind="case", leads=("gout",), cites=True, never=("left knee",), documents=("gout",))
    assert len(lacks(turn, ANSWER)) == 5


def test_turns_and_whole_conversations_are_counted() -> None:
    good, bad = Turn(say="a", kind="explain"), Turn(say="b", kind="case")
    talked = [
        (Conversation(id="1", turns=(good, bad)), [ANSWER, ANSWER]),
        (Conversation(id="2", turns=(good,)), [ANSWER]),
    ]
    values = {f.name: round(f.value, 1) for f in conversation_figures(talked)}
    assert values == {
        "conversations.turns.right": 66.7, "conversations.en_turns.right": 66.7, "conversations.whole.right": 50.0,
    }  # fmt: skip
