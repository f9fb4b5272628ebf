"""What a piece of a query asks for, once its tag is known."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from tools.mirror.dates import read_dates
from tools.mirror.syntax import DATES, Combination, Dates, Field, Near, Node, Operator, QueryError, Term, Untagged
from tools.mirror.tags import Tag
from tools.mirror.words import words

SHORTEST_TRUNCATED = 4  # characters before a star (PubMed User Guide, "Truncating search terms")
TRUNCATED = re.compile(r"[^\W_]\*$")
INNER_STAR = re.compile(r"[^\W_]\*(?=.)|\*(?=[^\W_])")


@dataclass(frozen=True, slots=True)
class Wording:
    """Text as typed, without its quotes, and where it stands."""

    text: str
    quoted: bool
    at: int


def tagged(wording: Wording, tag: Tag, today: date, warnings: list[str]) -> Node:
    """A term with a tag. An unknown tag is a warning, and the term is searched without it, as PubMed does."""
    field = tag.field
    if field is None:
        warnings.append(f"FieldNotFound: [{tag.name}]")
        return untagged(wording, warnings)
    if field in DATES:
        return read_dates(field, wording.text.strip(), wording.at, today)
    if tag.distance is not None:
        return _near(wording, field, tag.distance, warnings)
    if field is Field.ALL and not wording.quoted:
        return untagged(wording, warnings)
    text, truncated = _star(wording, warnings)
    return Term(
        words=_words(text, wording.at),
        field=field,
        text=text,
        quoted=wording.quoted,
        truncated=truncated,
        explode=tag.explode,
        at=wording.at,
    )


def untagged(wording: Wording, warnings: list[str]) -> Node:
    """Words for automatic term mapping; what is quoted or truncated stands for itself, in all fields."""
    if wording.quoted:
        text, truncated = _star(wording, warnings)
        term = _words(text, wording.at)
        return Term(term, Field.ALL, text, quoted=True, truncated=truncated, tagged=False, at=wording.at)
    nodes: list[Node] = []
    plain: list[str] = []
    for piece in wording.text.split():
        if "*" in piece:
            text, truncated = _star(Wording(piece, False, wording.at), warnings)
            if truncated:
                nodes += [_run(plain, wording.at)] if plain else []
                nodes.append(Term(tuple(words(text)), Field.ALL, text, truncated=True, tagged=False, at=wording.at))
                plain = []
                continue
            piece = text
        plain.append(piece)
    nodes += [_run(plain, wording.at)] if plain else []
    rest = tuple((Operator.AND, node) for node in nodes[1:])
    return Combination(nodes[0], rest) if rest else nodes[0]


def date_range(low: Wording, low_tag: Tag | None, high: Wording, tag: Tag | None, today: date) -> Dates:
    """Two ends with a colon between; the second end has the tag, the first the same or none."""
    if tag is None or tag.field not in DATES:
        raise QueryError("A range needs the tag of a date", "Write ranges as 2010:2015[dp].", high.at)
    if low_tag is not None and low_tag.field is not tag.field:
        raise QueryError("The ends of a range have different tags", "Use the same tag at both ends.", low.at)
    return read_dates(tag.field, f"{low.text.strip()}:{high.text.strip()}", low.at, today)


def _run(pieces: list[str], at: int) -> Untagged:
    units = [tuple(words(piece)) for piece in pieces]
    return Untagged(tuple(u for u in units if u), " ".join(pieces), at)


def _near(wording: Wording, field: Field, distance: int, warnings: list[str]) -> Node:
    if not wording.quoted:
        raise QueryError("Proximity needs its words in quotes", 'Write "hip pain"[tiab:~2].', wording.at)
    text, truncated = _star(wording, warnings)
    found = _words(text, wording.at)
    if truncated:
        warnings.append("OutputMessage: Proximity does not work with truncation; the distance was ignored.")
        return Term(found, field, text, quoted=True, truncated=True, at=wording.at)
    distinct = tuple(dict.fromkeys(found))
    if len(distinct) == 1:
        return Term(distinct, field, distinct[0], quoted=True, at=wording.at)
    return Near(distinct, field, distance, text, wording.at)


def _star(wording: Wording, warnings: list[str]) -> tuple[str, bool]:
    """The text without its star, and whether it is truncated."""
    text = wording.text.strip()
    if INNER_STAR.search(text):
        raise QueryError(f"The star in '{text[:40]}' does not end the term", "Put * at the end only.", wording.at)
    stem = text.removesuffix("*")
    if not TRUNCATED.search(text):
        return text.replace("*", " ").strip(), False
    if sum(len(word) for word in words(stem)) < SHORTEST_TRUNCATED:
        warnings.append(f"OutputMessage: '{text}' is too short for truncation; the star was ignored.")
        return stem, False
    return stem, True


def _words(text: str, at: int) -> tuple[str, ...]:
    found = tuple(words(text))
    if not found:
        raise QueryError(f"'{text[:40]}' has no letter or digit", "Give a word.", at)
    return found
