"""Closed questions that sentences of the starter library answer, by hand (QB-RAG: asked online, answered beforehand).

A small reader finds it easier to see that two questions are the same, or each other's reverse, than to read an answer
in other words. So a question is also held against those that are known of a sentence, each standing with its answer.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from tools.reading.contract import ANSWERS, Stance

HERE = Path(__file__).parent
LIBRARY = ("known/*.jsonl", "examples/library_*.jsonl", "examples/base_*.jsonl")  # the last two trained the reader
WORDS = {
    Stance.SUPPORTS: "Yes.",
    Stance.REFUTES: "No.",
    Stance.MIXED: "It depends.",
    Stance.UNSETTLED: "That is not settled.",
}


class Answered(NamedTuple):
    """A closed question, and what its sentence answers."""

    question: str
    answer: Stance

    @property
    def told(self) -> str:
        """The question with its answer, as the reader reads it."""
        return told(self.question, self.answer)


def told(question: str, answer: Stance) -> str:
    """A question with its answer, as one sentence to read."""
    return f"{question} {WORDS[answer]}"


def known_answers(sentence: str) -> tuple[Answered, ...]:
    """The closed questions that a sentence of the library is known to answer; none for any other sentence."""
    return answered().get(" ".join(sentence.split()), ())


@lru_cache(maxsize=1)
def answered() -> Mapping[str, tuple[Answered, ...]]:
    """For sentences of the starter library, white space made one, the closed questions that each answers."""
    out: dict[str, dict[Answered, None]] = defaultdict(dict)
    for pattern in LIBRARY:
        for path in sorted(HERE.glob(pattern)):
            for line in path.read_text(encoding="utf-8").splitlines():
                for sentence, question, answer in _rows(json.loads(line)):
                    if answer in ANSWERS:
                        out[" ".join(sentence.split())][Answered(question, Stance(answer))] = None
    return {sentence: tuple(questions) for sentence, questions in out.items()}


def _rows(row: Mapping[str, list[list[str]]]) -> list[tuple[str, str, str]]:
    if "sentence" in row:
        return [(str(row["sentence"]), question, answer) for question, answer, *_ in row["questions"]]
    return [(sentence, str(row["question"]), answer) for sentence, answer, *_ in row["sentences"]]
