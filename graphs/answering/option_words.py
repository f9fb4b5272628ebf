"""How well a sentence fits an option: the words that only the option has, and whether the sentence denies them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from graphs.verdicts.contract import Sentence
from tools.text.negation import denies, prose_clauses
from tools.text.tokens import tokens

STATEMENT = re.compile(r"[;；]")
# A sentence that says of all it lists that it is no good; ours.
UNFIT = re.compile(
    r"\b(?:ineffective|too slow|unhelpful|harmful|(?:should|must|to) be avoided|not recommended|(?:adds?|of) little|"
    r"no (?:benefit|role|place|use)|(?:do|does|did) not help)\b|无效|应避免|不推荐",
    re.IGNORECASE,
)


def own_words(stem: str, texts: Mapping[str, str]) -> dict[str, set[str]]:
    """The words of each option that neither the stem nor every option holds."""
    bags = {label: set(tokens(text)) for label, text in texts.items()}
    common = set.intersection(*bags.values()) if len(bags) > 1 else set()
    asked = set(tokens(stem))
    return {label: (bag - common - asked) or (bag - common) or bag for label, bag in bags.items()}


def fit(held: float | None, closeness: float) -> float:
    """How well a sentence fits an option: words first, then meaning (shares ours); 0 for one that it denies."""
    return 0.0 if held is None else 0.6 * held + 0.4 * closeness


def holds(wanted: set[str], sentence: Sentence) -> float | None:
    """Share of the wanted words in a sentence or its title, None when the clause that holds most of them is denied."""
    if not wanted:
        return 0.0
    said = wanted & set(tokens(sentence.text))
    best = max(prose_clauses(sentence.text), key=lambda c: len(wanted & set(tokens(c))), default="")
    part = max(STATEMENT.split(sentence.text), key=lambda c: len(wanted & set(tokens(c))), default="")
    if said and (denies(best) or UNFIT.search(part)):
        return None
    return len(said | (wanted & set(tokens(sentence.evidence.title)))) / len(wanted)
