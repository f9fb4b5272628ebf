"""Automatic term mapping: untagged words become MeSH headings and words in all fields.

An approximation of what the PubMed User Guide describes ("How PubMed works: automatic term mapping"): from left to
right the longest run of words that is a MeSH entry term, or a heading of this collection, is searched as a heading
and as words; every other word is searched in all fields; stop words are left out. PubMed also maps journals, authors,
spellings and plurals: not done here, but that a heading in the plural is found by its singular (ours). Without a
descriptor table there are no entry terms and no narrower headings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from tools.mirror.entries import ABSTRACT
from tools.mirror.syntax import Combination, Field, Node, Operator, QueryError, Term, Untagged
from tools.mirror.words import STOPWORDS, words

LONGEST_HEADING = 10  # words; ours: longer headings are rare, and nobody types them out
SHORTEST_PMID = 5  # digits of a number that stands for a record when the query is numbers only; ours
OPERATORS = {("or",), ("not",)}  # ("and",) is a stop word


class Vocabulary(Protocol):
    """What term mapping asks of a collection."""

    def heading(self, words: Sequence[str]) -> str | None:
        """The MeSH heading that these words name, as MeSH writes it; None when there is none."""


def map_words(run: Untagged, vocabulary: Vocabulary, warnings: list[str]) -> Node | None:
    """What a run of untagged words stands for; None when PubMed ignores all of them."""
    if run.units and all(_is_pmid(unit) for unit in run.units):
        return chain(Operator.OR, [Term(unit, Field.PMID, unit[0], at=run.at) for unit in run.units])
    concepts: list[Node] = []
    at = 0
    while at < len(run.units):
        used, concept = _concept(run, at, vocabulary, warnings)
        concepts += [concept] if concept else []
        at += used
    return chain(Operator.AND, concepts) if concepts else None


def chain(operator: Operator, nodes: Sequence[Node]) -> Node:
    """Nodes joined by one operator; raises ValueError for none."""
    if not nodes:
        raise ValueError("there is nothing to join")
    return Combination(nodes[0], tuple((operator, n) for n in nodes[1:])) if len(nodes) > 1 else nodes[0]


def separate(term: Term) -> Node:
    """A phrase broken into its words, each in the phrase's field, without stop words."""
    telling = [w for w in dict.fromkeys(term.words) if w not in STOPWORDS] or list(dict.fromkeys(term.words))
    return chain(Operator.AND, [replace(term, words=(w,), text=w, quoted=True, truncated=False) for w in telling])


def _concept(run: Untagged, at: int, vocabulary: Vocabulary, warnings: list[str]) -> tuple[int, Node | None]:
    """The concept that begins at a unit, and how many units it takes."""
    unit = run.units[at]
    if unit == (ABSTRACT,):
        return 1, Term(unit, Field.SUBSET, ABSTRACT, at=run.at)
    for length in range(min(len(run.units) - at, LONGEST_HEADING), 0, -1):
        typed = [w for u in run.units[at : at + length] for w in u]
        heading = None if _idle(typed) else _heading(typed, vocabulary)
        if heading:
            return length, _as_heading(heading, tuple(typed), run.at, hyphenated=length == 1)
    if unit in OPERATORS:
        warnings.append(f"OutputMessage: '{unit[0]}' was searched as a word; operators are written in capitals.")
    if len(unit) == 1 and unit[0] in STOPWORDS:
        warnings.append(f"PhraseIgnored: {unit[0]}")
        return 1, None
    return 1, _word(unit, run.at)


def _heading(typed: Sequence[str], vocabulary: Vocabulary) -> str | None:
    """The heading that words name, or that they name in the plural."""
    return vocabulary.heading(typed) or vocabulary.heading([*typed[:-1], f"{typed[-1]}s"])


def _is_pmid(unit: Sequence[str]) -> bool:
    return len(unit) == 1 and unit[0].isdecimal() and len(unit[0]) >= SHORTEST_PMID


def _idle(typed: Sequence[str]) -> bool:
    return typed[0] in STOPWORDS or typed[-1] in STOPWORDS


def _as_heading(heading: str, typed: tuple[str, ...], at: int, *, hyphenated: bool) -> Node:
    """The heading, or the words of its name, or the words as typed.

    What has numbers or letters standing alone, or was typed with hyphens, is searched as a phrase only (User Guide).
    """
    name = tuple(words(heading))
    members: list[Node] = [Term(name, Field.MESH, heading.lower(), at=at)]
    for phrase in dict.fromkeys((name, typed)):
        whole = _word(phrase, at)
        if len(phrase) == 1 or hyphenated or any(len(w) == 1 or w.isdecimal() for w in phrase):
            members.append(whole)
        else:
            members += [separate(whole), replace(whole, held=True)]
    return chain(Operator.OR, members)


def _word(unit: tuple[str, ...], at: int) -> Term:
    return Term(unit, Field.ALL, " ".join(unit), tagged=False, at=at)


def nothing_left(at: int) -> QueryError:
    """The error for a query of which nothing remains."""
    return QueryError("The query has only words that PubMed ignores", "Give a word that tells more.", at)
