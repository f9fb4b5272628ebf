"""Whether a text is about what a question names: by the names and the words of its title."""

from __future__ import annotations

from collections.abc import Sequence

from graphs.judging.key_terms import Subject, mentions
from tools.literature.word_lists import NO_TERM
from tools.text.tokens import tokens

# Words of titles that name no subject by themselves; ours.
GENERAL = frozenset(
    tokens(
        " ".join(NO_TERM) + " disease syndrome acute chronic treatment prevention primary secondary screening testing"
        " test infection attack exacerbation people rule using therapy drug drugs medicine line"
    )
)


def about(texts: Sequence[tuple[str, str]], question: str, subjects: Sequence[Subject]) -> list[bool]:
    """Of each (title, text), whether it is about what a question names.

    A question names what a title names too: one of its ``subjects`` (by any of their names), a whole title, or else a
    word of one. All texts are when no title holds a name: then nothing tells them apart.
    """
    titles = {title for title, _ in texts}
    named = [s for s in subjects if any(mentions(title, name) for title in titles for name in s)]
    asked = set(tokens(question))
    words = [set(tokens(title)) - GENERAL for title in titles]
    whole = set().union(*(w for w in words if w <= asked))
    wanted = whole if whole or named else set().union(*words) & asked
    if not named and not wanted:
        return [True] * len(texts)
    return [_about(f"{title}. {text}", named, wanted) for title, text in texts]


def _about(text: str, named: Sequence[Subject], words: set[str]) -> bool:
    return any(mentions(text, name) for subject in named for name in subject) or bool(words & set(tokens(text)))
