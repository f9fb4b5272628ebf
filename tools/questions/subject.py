"""Whether two questions that read alike are about the same thing.

A general encoder puts "What causes myocarditis?" beside "What causes pericarditis?", and an overactive thyroid beside
an underactive one. Answering one with the other would be wrong, so words decide: ours, the paper has no such check.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from tools.library.document import Document
from tools.literature.vocabulary import MEDICAL_ENDING, NO_TERM
from tools.medicines.names import other_names
from tools.text.tokens import stem, tokens

# ours: words that make a question another one; a pair in which each question has one side is two questions
OPPOSITES = (
    ("over", "under"), ("hyper", "hypo"), ("acute", "chronic"), ("child", "adult"), ("children", "adults"),
    ("baby", "adult"), ("left", "right"), ("before", "after"), ("start", "stop"), ("high", "low"), ("upper", "lower"),
    ("latent", "active"), ("stable", "unstable"), ("viral", "bacterial"), ("men", "women"), ("oral", "intravenous"),
    ("safe", "useful"), ("symptoms", "treatment"), ("symptoms", "causes"), ("causes", "treatment"),
    ("prevent", "treat"), ("diagnosed", "treated"),
)  # fmt: skip
PREFIX = 8  # ours: letters by which forms of one word are told (anaphylaxis, anaphylactic)
WORD = re.compile(r"[a-z]+|\d+")
ABBREVIATION = re.compile(r"\b[A-Z][A-Z0-9]{1,5}\b")


def same_subject(asked: str, known: str, document: Document, subjects: frozenset[str]) -> bool:
    """Whether nothing in the words speaks against two questions being the same.

    A medical word of the question asked must stand in the known question or the title, a medicine by any of its names;
    an abbreviation, or a word of the title of any document, somewhere in the document. Numbers must not differ, and
    there must be no opposites.

    Args:
        asked: the question asked. known: the question of the document.
        subjects: the words of the titles of the library (`subject_words`).
    """
    ours, theirs = _words(asked), _words(known)
    if _opposed(ours, theirs) or not _numbers(ours) <= _numbers(theirs):
        return False
    near, far = frozenset(tokens(f"{known} {document.title}")), _stems(document)
    abbreviations = {w.lower() for w in ABBREVIATION.findall(asked)}
    named = [w for w in ours if w in abbreviations or w in subjects]
    others = {written.lower(): names for written, names in other_names(asked).items()}
    return all(_holds_any(far, w, others) for w in named) and all(
        _holds_any(near, w, others) for w in ours if MEDICAL_ENDING.search(w)
    )


@lru_cache(maxsize=4)  # one library has one set of titles until it changes
def subject_words(titles: tuple[str, ...]) -> frozenset[str]:
    """The words of the titles, without those that name no subject."""
    return frozenset(w for title in titles for w in _words(title) if w not in NO_TERM and not w.isdigit())


def _opposed(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    return any(_side(ours, a, b) * _side(theirs, a, b) < 0 for a, b in OPPOSITES)


def _side(words: frozenset[str], a: str, b: str) -> int:
    """1 when only the first of two opposites is there, -1 when only the second, else 0."""
    has_a, has_b = (any(w == x or (len(x) > 3 and w.startswith(x)) or _prefixed(w, x) for w in words) for x in (a, b))
    return int(has_a) - int(has_b)


def _prefixed(word: str, prefix: str) -> bool:
    return prefix in ("over", "under", "hyper", "hypo") and word.startswith(prefix)


def _numbers(words: frozenset[str]) -> frozenset[str]:
    return frozenset(w for w in words if w.isdigit())


def _holds_any(stems: frozenset[str], word: str, others: Mapping[str, Sequence[str]]) -> bool:
    """Whether a word is held, or every word of another name of the medicine that it is."""
    return _holds(stems, word) or any(set(tokens(name)) <= stems for name in others.get(word, ()))


def _holds(stems: frozenset[str], word: str) -> bool:
    return (
        not tokens(word)
        or stem(word) in stems
        or (len(word) > PREFIX and any(s.startswith(word[:PREFIX]) for s in stems))
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.lower()))


@lru_cache(maxsize=1024)
def _stems(document: Document) -> frozenset[str]:
    questions = " ".join(q.text for q in document.questions)
    return frozenset(tokens(f"{document.title} {questions} {document.text}"))
