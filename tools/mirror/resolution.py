"""From what a query says to what is searched: untagged words mapped, phrases checked, warnings as eSearch has them.

- QuotedPhraseNotFound: a quoted phrase stands nowhere. Without a tag its words go through term mapping (PubMed User
  Guide, "Searching for a phrase"); with a tag it finds nothing, so that an exact request is never widened.
- PhraseNotFound: any other term that stands nowhere. Several words with a tag but without quotes are then searched
  each in that field; PubMed's index of phrases holds only some, here every phrase of the collection counts as found.
- PhraseIgnored: stop words. FieldNotFound: a tag that PubMed does not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from tools.mirror.entries import ABSTRACT, HELD_SUBSETS
from tools.mirror.syntax import EXPLODED, WORDS, Combination, Field, Node, Operator, QueryError, Term, Untagged
from tools.mirror.words import STOPWORDS, words

# Automatic term mapping: untagged words become MeSH headings and words in all fields.
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


# Filters of PubMed's side bar that are another field by another name (User Guide, "Filters"). Its filters that are
# search strategies of their own, such as systematic reviews, are not held.
LANGUAGES = "chinese dutch english french german italian japanese korean polish portuguese russian spanish".split()
FILTERS = {name: (Field.LANGUAGE, name) for name in LANGUAGES}
FILTERS["humans"] = (Field.MESH, "humans")
TYPES = ("case reports", "clinical trial", "guideline", "meta-analysis", "randomized controlled trial", "review")
FILTERS |= {name.replace(" ", "").replace("-", ""): (Field.TYPE, name) for name in TYPES}


def _normal(term: Term, collection: Collection) -> Term:
    """A term with its heading's own name, and checked where only some values are held."""
    if term.field is Field.SUBSET and (meant := FILTERS.get("".join(term.words))):
        field, name = meant
        return _normal(replace(term, field=field, text=name, words=tuple(words(name))), collection)
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
