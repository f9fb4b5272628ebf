"""Whether a text is about what a question names: by the names and the words of its title."""

from __future__ import annotations

from collections.abc import Sequence

from graphs.judging.key_terms import Subject, mentions
from tools.literature.vocabulary import NO_TERM
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

    A question names what a title names too: one of its ``subjects`` (by any of their names), whole titles, or else a
    word of one. Where it names several (gout, in someone with kidney disease), those texts are about it that hold as
    many of them as any does. All texts are when no title holds a name: then nothing tells them apart.
    """
    titles = {title for title, _ in texts}
    named = [s for s in subjects if any(mentions(title, name) for title in titles for name in s)]
    asked = set(tokens(question))
    words = {frozenset(tokens(title)) - GENERAL for title in titles} - {frozenset()}
    whole = [w for w in words if w <= asked]
    if not named and not whole:
        wanted = frozenset[str]().union(*words) & asked
        return [not wanted or bool(wanted & set(tokens(f"{title}. {text}"))) for title, text in texts]
    held = [_held(f"{title}. {text}", named, whole) for title, text in texts]
    most = max(held, default=0)
    return [not most or n == most for n in held]


def _held(text: str, named: Sequence[Subject], whole: Sequence[frozenset[str]]) -> int:
    """How many of the named subjects and whole titles a text holds."""
    words = set(tokens(text))
    return sum(any(mentions(text, name) for name in s) for s in named) + sum(w <= words for w in whole)
