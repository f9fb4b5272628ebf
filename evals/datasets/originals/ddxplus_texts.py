"""A coded patient of DDXPlus as the fixed first-person text that the evaluations read.

The statements (``statements_plain.json``) give each evidence its words: a sentence by its code, with ``{value}`` for
the words of its values (``_values``; none for a value that is not worth saying), or a whole sentence for one value
(``_sentences``). The initial evidence comes first, then the others in the row's order, several values in one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evals.datasets.ddxplus_findings import AT, VALUE
from evals.datasets.originals.ddxplus_codes import Codebook

ADULT = 18  # of the statements' wording: a woman or a man from this age on
VOWELS = frozenset({8, 11, 18, *range(80, 90)})  # ages that are spoken with a vowel first: an 8-year-old
COMPARED = "like "  # how a comparison begins; it is told last
IN_BRACKETS = re.compile(r"\s*\(.*?\)")


class Wording:
    """Statements, and the codebook that they belong to."""

    def __init__(self, statements: Mapping[str, Any], book: Codebook) -> None:
        self._said, self._book = statements, book

    def text(self, age: int, sex: str, evidences: Sequence[str], initial: str) -> str:
        """The whole text; raises KeyError when the statements lack a code."""
        told = (self._sentence(name, values) for name, values in _grouped(evidences, initial).items())
        return " ".join(part for part in (_who(age, sex), *told) if part)

    def initial(self, evidences: Sequence[str], initial: str) -> str:
        """What the patient says first."""
        name, values = next(iter(_grouped(evidences, initial).items()))
        return self._sentence(name, values)

    def names_gold(self, evidences: Sequence[str], pathology: str) -> bool:
        """Whether the sentence of an antecedent holds the diagnosis as a word, what stands in brackets left out."""
        name = re.compile(rf"\b{re.escape(IN_BRACKETS.sub('', pathology))}s?\b", re.IGNORECASE)
        history = [e for e in evidences if self._book.decode(e).antecedent]
        return any(name.search(self._sentence(code, values)) for code, values in _grouped(history, "").items())

    def _sentence(self, name: str, values: Sequence[str]) -> str:
        template = str(self._said[name])
        if VALUE not in template:
            return template
        whole = [self._said["_sentences"].get(f"{name}{AT}{value}") for value in values]
        single = [
            self._said["_values"][value] if value.startswith("V_") else str(int(value))
            for value, sentence in zip(values, whole, strict=True)
            if sentence is None
        ]
        words = sorted((w for w in dict.fromkeys(single) if w is not None), key=lambda w: w.startswith(COMPARED))
        listed = " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)
        return " ".join([*([template.replace(VALUE, listed)] if words else []), *(s for s in whole if s is not None)])


def _grouped(evidences: Sequence[str], initial: str) -> dict[str, list[str]]:
    """The codes with their values, the initial one first."""
    first = initial.partition(AT)[0]
    grouped: dict[str, list[str]] = {first: []} if first else {}
    for evidence in evidences:
        name, _, value = evidence.partition(AT)
        grouped.setdefault(name, []).extend([value] if value else [])
    return grouped


def _who(age: int, sex: str) -> str:
    girl = sex == "F"
    if age == 0:
        return f"I am a baby {'girl' if girl else 'boy'} less than a year old."
    noun = ("woman" if girl else "man") if age >= ADULT else ("girl" if girl else "boy")
    return f"I am {'an' if age in VOWELS else 'a'} {age}-year-old {noun}."
