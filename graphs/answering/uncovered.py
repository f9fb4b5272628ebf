"""Parts that a question names and no sentence of its answer speaks of, in the words of whoever asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from tools.medicines.names import medicines_in, other_names
from tools.messages import messages
from tools.text.frequency import zipf
from tools.text.language import language_of
from tools.text.tokens import tokens
from tools.yaml_files import read_patterns

FORMS = Path(__file__).with_name("uncovered.yaml")
MEDICINE = "compared_medicine"
COMPARED = ("compared", "compared_also", MEDICINE)
GROUPS = ("old", "child", "pregnancy", "feeding", "kidney", "liver")


@lru_cache(maxsize=1)
def forms() -> dict[str, re.Pattern[str]]:
    """What a question may name, and what covers it."""
    return read_patterns(FORMS)


def uncovered(question: str, said: Sequence[str], language: str) -> list[str]:
    """What the question names and the answer does not speak of.

    A group of people counts where it stands beside another: the only group of a question is whom all of it is about.

    Args:
        said: the sentences of the answer, each with the title of its source.
        language: of the words in which a comparison is told.
    """
    return [*_groups(question, said), *_comparisons(question, said, language)]


def _groups(question: str, said: Sequence[str]) -> Iterator[str]:
    asked = {name: found for name in GROUPS if (found := forms()[f"asked_{name}"].search(question))}
    several = len(asked) + bool(forms()["asked_adults"].search(question)) > 1
    for name, match in sorted(asked.items(), key=lambda item: item[1].start()):
        beside = several or forms()["besides"].search(question[: match.start()])
        if beside and not any(forms()[f"found_{name}"].search(text) for text in said):
            yield match[0]


def _comparisons(question: str, said: Sequence[str], language: str) -> Iterator[str]:
    """What an English question compares with; a Chinese name cannot be looked for in English sentences."""
    if language_of(question) != "en":
        return
    found = [(form, m["other"]) for form in COMPARED for m in forms()[form].finditer(question)]
    others = [o for form, o in found if form != MEDICINE or medicines_in(o)]
    for other in dict.fromkeys(others):
        words = [w for w in re.findall(r"[a-z][\w-]+", other.lower()) if tokens(w)]
        if not words or forms()["no_rival"].search(other):
            continue
        names = [min(words, key=zipf), *(n for known in other_names(other).values() for n in known)]
        named = [set(tokens(name)) for name in names]
        spoken = [set(tokens(text)) for text in said if forms()["compares"].search(text)]
        if not any(name <= text for name in named for text in spoken):
            yield messages(language).say("gap.compared", name=other)
