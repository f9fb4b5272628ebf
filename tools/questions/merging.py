"""Near-duplicates become one question that keeps all their documents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tools.encoders import Vectors
from tools.questions.bags import bag
from tools.questions.contract import Answer, Question

LARGEST = 4000  # ours: questions of one subject that are compared with each other; beyond, only equal texts are merged
PREFIX = 4  # ours: letters that forms of one word share at least (diagnosed, diagnosis)
ENDING = 2  # ours: letters of the shorter form that may be its ending: intramuscular is no form of intravenous


class _Form(NamedTuple):
    """A question to be compared: its first word, and its content words in order, each once."""

    first: str
    words: dict[str, None]

    @classmethod
    def of(cls, text: str) -> _Form:
        return cls(text.strip().partition(" ")[0].lower(), dict.fromkeys(bag(text)))


def merge(questions: Sequence[Question], vectors: Vectors, least: float, rarity: Callable[[str], float]) -> list[int]:
    """For each question the number of the one that stands for it, the first of its group.

    Two are one when their cosine is at least ``least`` and their words are the same, but for forms of one word: an
    encoder puts "type 2" beside "type 5". Where both begin with one word the others stand in one order too: whether
    a raises b is not whether b raises a. Only questions that share their rarest word are compared.

    Args:
        vectors: (questions, dimension).
    """
    forms = [_Form.of(q.text) for q in questions]
    groups: dict[str, list[int]] = defaultdict(list)
    for number, form in enumerate(forms):
        groups[max(form.words, key=lambda t: (rarity(t), t), default="")].append(number)
    stands = list(range(len(questions)))
    for members in groups.values():
        if len(members) > LARGEST:
            _merge_equal(members, questions, stands)
        elif len(members) > 1:
            _merge_near(members, forms, vectors, least, stands)
    return stands


def _merge_equal(members: Sequence[int], questions: Sequence[Question], stands: list[int]) -> None:
    first: dict[str, int] = {}
    for number in members:
        stands[number] = first.setdefault(questions[number].text.casefold(), number)


def _merge_near(
    members: Sequence[int], forms: Sequence[_Form], vectors: Vectors, least: float, stands: list[int]
) -> None:
    rows = np.asarray(vectors[list(members)], dtype=np.float32)
    near = np.triu(rows @ rows.T >= least, 1)
    for place, other in zip(*np.nonzero(near), strict=True):  # by place: what stands for another is settled before it
        left, right = members[place], members[other]
        if stands[left] == left and stands[right] == right and _alike(forms[left], forms[right]):
            stands[right] = left


def _alike(left: _Form, right: _Form) -> bool:
    """Whether two questions hold the same words, one of them in another form at most, and ask the same way round."""
    mine, yours = left.words.keys() - right.words.keys(), right.words.keys() - left.words.keys()
    if len(mine) != len(yours) or len(mine) > 1:
        return False
    other = dict(zip(yours, mine, strict=True))
    if not all(_forms_of_one(a, b) for a, b in other.items()):
        return False
    return left.first != right.first or list(left.words) == [other.get(word, word) for word in right.words]


def _forms_of_one(left: str, right: str) -> bool:
    """Whether two words are forms of one, by the letters that they begin with."""
    short = min(len(left), len(right))
    least = max(PREFIX, short - ENDING)
    return short > PREFIX and left[:least] == right[:least]


def merged(questions: Sequence[Question], stands: Sequence[int]) -> list[tuple[int, Question]]:
    """(number of the first, question with the documents of all), in order; the best supported document first."""
    answers: dict[int, dict[str, Answer]] = defaultdict(dict)
    for number, question in enumerate(questions):
        of = answers[stands[number]]
        for answer in question.answers:
            known = of.get(answer.document)
            if known is None or answer.support > known.support:
                of[answer.document] = answer
    out = []
    for number, found in sorted(answers.items()):
        order = sorted(found.values(), key=lambda a: -a.support)
        out.append((number, questions[number].model_copy(update={"answers": tuple(order)})))
    return out
