"""Near-duplicates become one question that keeps all their documents."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tools.encoders import Vectors
from tools.questions.collection import bag
from tools.questions.contract import Answer, Question

LARGEST = 4000  # ours: questions of one subject that are compared with each other; beyond, only equal texts are merged
PREFIX = 4  # ours: letters that forms of one word share at least (diagnosed, diagnosis)
ASKING = re.compile(r"[^\W_]+")
ASKS = frozenset("what which who whom whose when where why how".split())  # English: words that one asks with
ENDING = 2  # ours: letters of the shorter form that may be its ending: intramuscular is no form of intravenous


class _Form(NamedTuple):
    """A question to be compared: its first word and what it asks with, and its content words in order, each once."""

    asks: tuple[str, ...]
    words: dict[str, None]

    @classmethod
    def of(cls, text: str) -> _Form:
        first, *rest = ASKING.findall(text.lower()) or [""]
        return cls((first, *(word for word in rest if word in ASKS)), dict.fromkeys(bag(text)))


def merge(questions: Sequence[Question], vectors: Vectors, least: float, rarity: Callable[[str], float]) -> list[int]:
    """For each question the number of the one that stands for it, the first of its group.

    Two are one when their cosine is at least ``least`` and their words are the same, but for forms of one word: an
    encoder puts "type 2" beside "type 5". They begin with one word, ask with the same words (what, why, ...), and the
    others stand in one order: whether a raises b is not whether b raises a. What differs in nothing but case is one.
    Only questions that share their rarest word are compared otherwise.

    Args:
        vectors: (questions, dimension).
    """
    first: dict[str, int] = {}
    equal = [first.setdefault(question.text.casefold(), number) for number, question in enumerate(questions)]
    forms = {number: _Form.of(questions[number].text) for number in first.values()}
    groups: dict[str, list[int]] = defaultdict(list)
    for number, form in forms.items():
        groups[max(form.words, key=lambda t: (rarity(t), t), default="")].append(number)
    stands = list(range(len(questions)))
    for members in groups.values():
        if 1 < len(members) <= LARGEST:
            _merge_near(members, forms, vectors, least, stands)
    return [stands[number] for number in equal]


def _merge_near(
    members: Sequence[int], forms: Mapping[int, _Form], vectors: Vectors, least: float, stands: list[int]
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
    if left.asks != right.asks or len(mine) != len(yours) or len(mine) > 1:
        return False
    other = dict(zip(yours, mine, strict=True))
    if not all(_forms_of_one(a, b) for a, b in other.items()):
        return False
    return list(left.words) == [other.get(word, word) for word in right.words]


def _forms_of_one(left: str, right: str) -> bool:
    """Whether two words are forms of one, by the letters that they begin with."""
    short = min(len(left), len(right))
    least = max(PREFIX, short - ENDING)
    return short > PREFIX and left[:least] == right[:least]


def merged(questions: Sequence[Question], stands: Sequence[int]) -> list[tuple[int, Question]]:
    """(number of the first, question with the documents of all), in order.

    The document that the first was written for stands first, then the better supported.
    """
    answers: dict[int, dict[str, Answer]] = defaultdict(dict)
    for number, question in enumerate(questions):
        of = answers[stands[number]]
        for answer in question.answers:
            known = of.get(answer.document)
            if known is None or answer.support > known.support:
                of[answer.document] = answer
    out = []
    for number, found in sorted(answers.items()):
        own = [answer.document for answer in questions[number].answers[:1]]
        order = sorted(found.values(), key=lambda a: (a.document not in own, -a.support))
        one = questions[number]
        same = len(order) == 1 and one.answers == tuple(order)
        out.append((number, one if same else one.model_copy(update={"answers": tuple(order)})))
    return out
