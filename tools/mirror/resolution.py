"""From what a query says to what is searched: untagged words mapped, phrases checked, warnings as eSearch has them.

- QuotedPhraseNotFound: a quoted phrase stands nowhere. Without a tag its words go through term mapping (PubMed User
  Guide, "Searching for a phrase"); with a tag it finds nothing, so that an exact request is never widened.
- PhraseNotFound: any other term that stands nowhere. Several words with a tag but without quotes are then searched
  each in that field; PubMed's index of phrases holds only some, here every phrase of the collection counts as found.
- PhraseIgnored: stop words. FieldNotFound: a tag that PubMed does not have.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from tools.mirror.entries import HELD_SUBSETS
from tools.mirror.syntax import EXPLODED, WORDS, Combination, Field, Node, Operator, QueryError, Term, Untagged
from tools.mirror.terms import Vocabulary, map_words, separate
from tools.mirror.words import words

HEADING_ALONE = (
    "OutputMessage: Narrower headings were not included: no MeSH descriptors are imported, so a heading finds itself."
)


class Collection(Vocabulary, Protocol):
    """What resolution asks of a collection."""

    @property
    def explodes(self) -> bool:
        """Whether narrower headings are known."""

    def found(self, node: Node) -> bool:
        """Whether any record has this term."""


def resolve(node: Node, collection: Collection, warnings: list[str]) -> Node | None:
    """The tree to search, None when PubMed would ignore all of it; adds to ``warnings``.

    Raises:
        QueryError: a subset or a subheading that the mirror does not hold; NOT with nothing left before it.
    """
    if isinstance(node, Combination):
        return _combination(node, collection, warnings)
    if isinstance(node, Untagged):
        mapped = map_words(node, collection, warnings)
        return None if mapped is None else _checked(mapped, collection, warnings)
    if isinstance(node, Term):
        return _term(node, collection, warnings)
    return node


def _combination(node: Combination, collection: Collection, warnings: list[str]) -> Node | None:
    first = resolve(node.first, collection, warnings)
    rest: list[tuple[Operator, Node]] = []
    for operator, part in node.rest:
        member = resolve(part, collection, warnings)
        if member is None:
            continue
        if first is not None:
            rest.append((operator, member))
        elif operator is Operator.NOT:
            raise QueryError("NOT has only words before it that PubMed ignores", "Give a word that tells more.")
        else:
            first = member
    return Combination(first, tuple(rest)) if first is not None and rest else first


def _term(term: Term, collection: Collection, warnings: list[str]) -> Node | None:
    term = _normal(term, collection)
    if term.field in EXPLODED and term.explode and not term.truncated and not collection.explodes:
        warnings.append(HEADING_ALONE)
    if collection.found(term) or term.field is Field.SUBSET:
        return term
    phrase = len(term.words) > 1 and term.field in WORDS
    warnings.append(f"{'QuotedPhraseNotFound' if phrase and term.quoted else 'PhraseNotFound'}: {written(term)}")
    if phrase and term.quoted and not term.tagged and not term.truncated:
        run = Untagged(tuple((w,) for w in term.words), term.text, term.at)
        return resolve(run, collection, warnings)
    if phrase and not term.quoted and not term.truncated:
        return _checked(separate(term), collection, warnings)
    return term


def _normal(term: Term, collection: Collection) -> Term:
    """A term with its heading's own name, and checked where only some values are held."""
    if term.field is Field.SUBSET and " ".join(term.words) not in HELD_SUBSETS:
        held = ", ".join(sorted(HELD_SUBSETS))
        raise QueryError(f"The filter '{term.text[:40]}' is not held by this mirror", f"It holds: {held}.", term.at)
    if term.field is Field.PMID and not all(part.isdecimal() for part in term.text.replace(",", " ").split()):
        raise QueryError(f"'{term.text[:40]}' is no PMID", "A PMID is a number.", term.at)
    if term.field not in (Field.MESH, Field.MAJOR) or term.truncated:
        return term
    name, slash, subheading = term.text.partition("/")
    if slash and len(subheading.strip()) <= 2:
        raise QueryError(f"The subheading '{subheading.strip()}' is abbreviated", "Write it out.", term.at)
    heading = collection.heading(words(name))
    if heading is None:
        return term
    return replace(term, text=f"{heading}{slash}{subheading}", words=tuple(words(heading)))


def _checked(node: Node, collection: Collection, warnings: list[str]) -> Node:
    """Mapped words, with a warning for each concept that stands nowhere."""
    if isinstance(node, Combination):
        members = [node.first, *(part for _, part in node.rest)]
        heading = node.rest[0][0] is Operator.OR
        if heading and any(isinstance(m, Term) and collection.found(m) for m in members):
            return node
        for member in members[-1:] if heading else members:
            _checked(member, collection, warnings)
    elif isinstance(node, Term) and not collection.found(node):
        warnings.append(f"PhraseNotFound: {written(node)}")
    return node


def written(term: Term) -> str:
    """A term as eSearch names it in a warning."""
    text = f"{term.text}{'*' if term.truncated else ''}"
    text = f'"{text}"' if term.quoted else text
    return f"{text}[{term.field.value}]" if term.tagged else text
