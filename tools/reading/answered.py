"""Closed questions that sentences of the starter library answer, by hand (QB-RAG: asked online, answered beforehand).

A small reader finds it easier to see that two questions are the same, or each other's reverse, than to read an answer
in other words. So a question is also held against those that are known of a sentence, each standing with its answer.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from tools.encoders import Encoder, Vectors
from tools.reading.contract import ANSWERS, Stance
from tools.text.tokens import STOP, WORD, stems

HERE = Path(__file__).parent
# the reader was trained on all of these but library_f and known/practice
LIBRARY = ("known/*.jsonl", "examples/base_*.jsonl", "examples/library_*.jsonl")
SAME, MATCHED = (
    0.9,
    0.3,
)  # ours: cosine of questions that ask the same, and of each word with one of the other's at least
# ours: words that decide how much is asked; where they differ, so may the answer
STRENGTH = frozenset(
    """all always every everyone everybody each alone only itself most mostly usual usually often just any completely
    whole first best both never some sometimes ever routine routinely permanent permanently enough prove proves proven
    confirm confirms""".split()
)
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


def asks_the_same(question: str, others: Sequence[str], encoder: Encoder) -> list[bool]:
    """Of each of the others whether it asks the same, almost word for word.

    It is near in meaning, no word of either is without one like it in the other, and as much is asked (`STRENGTH`).
    """
    if not others:
        return []
    vectors = encoder.encode_queries([question, *others])
    near = vectors[1:] @ vectors[0]
    strength = STRENGTH & set(_words(question))
    return [
        bool(cosine >= SAME) and STRENGTH & set(_words(other)) == strength and _matched(question, other, encoder)
        for cosine, other in zip(near, others, strict=True)
    ]


def turned_round(one: str, other: str) -> bool:
    """Whether two questions compare the same two things the other way round ("more common in men than in women")."""
    before, after = _compared(one)
    others_before, others_after = _compared(other)
    return bool(after & others_before and before & others_after) and not after & others_after


def _compared(question: str) -> tuple[set[str], set[str]]:
    """Stems of the content words on each side of "than"; nothing where nothing is compared."""
    before, than, after = question.lower().partition(" than ")
    sides = (before, after) if than else ("", "")
    left, right = ({s for w in WORD.findall(side) if w not in STOP for s in stems(w)} for side in sides)
    return left, right


def _matched(one: str, other: str, encoder: Encoder) -> bool:
    """Whether each content word of either question has one like it in the other."""
    sides = content_words(one), content_words(other)
    if not all(sides):
        return False
    alike = likeness(*sides, [encoder.encode_queries(side) for side in sides])
    return bool(min(alike.max(0).min(), alike.max(1).min()) >= MATCHED)


def content_words(text: str) -> list[str]:
    """The different words of a text that name something, in their order."""
    return [w for w in dict.fromkeys(_words(text)) if w not in STOP]


def likeness(one: Sequence[str], other: Sequence[str], vectors: Sequence[Vectors]) -> Vectors:
    """Array (one, other): cosines of words by their vectors; 1 where the stems are the same."""
    alike = vectors[0] @ vectors[1].T
    stemmed = [[stems(w) for w in side] for side in (one, other)]
    for at, word in enumerate(stemmed[0]):
        alike[at, [word == w for w in stemmed[1]]] = 1.0
    return alike


def _words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def _rows(row: Mapping[str, list[list[str]]]) -> list[tuple[str, str, str]]:
    if "sentence" in row:
        return [(str(row["sentence"]), question, answer) for question, answer, *_ in row["questions"]]
    return [(sentence, str(row["question"]), answer) for sentence, answer, *_ in row["sentences"]]
