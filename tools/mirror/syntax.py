"""PubMed's query language as a typed tree.

The tree is what the text says, before any mapping: `tools.mirror.resolution` maps untagged words, `tools.mirror.engine`
finds the records. Operators are kept in a flat chain because PubMed evaluates them strictly from left to right
(PubMed User Guide, "Combining search terms with Boolean operators").
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as attribute
from enum import Enum

from prompts.errors import InputError


class QueryError(InputError):
    """A query that PubMed's language does not allow, or that this mirror cannot answer rightly.

    Args:
        at: the position in the query, in characters from 0.
    """

    def __init__(self, what: str, advice: str = "", at: int = 0) -> None:
        super().__init__(f"{what} (at character {at + 1} of the query).", advice)
        self.at = at


class Field(Enum):
    """The searchable fields; the value is PubMed's name in a query translation."""

    ALL = "All Fields"
    TITLE_ABSTRACT = "Title/Abstract"
    TITLE = "Title"
    ABSTRACT = "Abstract"
    TEXT = "Text Word"
    KEYWORD = "Other Term"
    MESH = "MeSH Terms"
    MAJOR = "MeSH Major Topic"
    TYPE = "Publication Type"
    PUBLISHED = "Date - Publication"
    ENTERED = "Date - Entry"
    LANGUAGE = "Language"
    AUTHOR = "Author"
    JOURNAL = "Journal"
    PMID = "UID"
    IDENTIFIER = "Article Identifier"
    SUBSET = "Filter"


class Operator(Enum):
    """A Boolean operator."""

    AND = "AND"
    OR = "OR"
    NOT = "NOT"


DATES = frozenset({Field.PUBLISHED, Field.ENTERED})
WORDS = frozenset({Field.ALL, Field.TITLE_ABSTRACT, Field.TITLE, Field.ABSTRACT, Field.TEXT, Field.KEYWORD})
EXPLODED = frozenset({Field.MESH, Field.MAJOR, Field.TYPE})
NEARNESS = frozenset({Field.TITLE, Field.TITLE_ABSTRACT})  # PubMed also allows the affiliation, which is not held


@dataclass(frozen=True, slots=True)
class Untagged:
    """Words without a tag or with [all], for automatic term mapping.

    Attributes:
        units: the words between spaces, each as its indexed words; a hyphenated one has several.
        text: as typed. at: where it stands.
    """

    units: tuple[tuple[str, ...], ...]
    text: str
    at: int = attribute(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Term:
    """A term to find in one field.

    Attributes:
        words: the indexed words; more than one is a phrase.
        text: as typed, without quotes, star and tag.
        quoted, truncated, explode: whether it was in quotes, ended with a star, includes narrower headings.
        tagged: False for a quoted or truncated term without a tag.
        held: another member of the same OR finds all that this one finds; it is written, not evaluated.
    """

    words: tuple[str, ...]
    field: Field
    text: str
    quoted: bool = False
    truncated: bool = False
    explode: bool = True
    tagged: bool = True
    held: bool = attribute(default=False, compare=False)
    at: int = attribute(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Near:
    """Words in any order with at most ``distance`` other words among them, in one field."""

    words: tuple[str, ...]
    field: Field
    distance: int
    text: str
    at: int = attribute(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Dates:
    """A range of dates, both ends included, as numbers YYYYMMDD; ``text`` as PubMed writes it."""

    field: Field
    low: int
    high: int
    text: str
    at: int = attribute(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Combination:
    """A chain of operators, evaluated from left to right; terms without an operator between them are joined by AND."""

    first: Node
    rest: tuple[tuple[Operator, Node], ...]


Node = Untagged | Term | Near | Dates | Combination
