"""A query in PubMed's language, parsed; everything that cannot be read is a QueryError.

The rules are those of the PubMed User Guide (pubmed.ncbi.nlm.nih.gov/help): operators in capitals, evaluated from left
to right; parentheses nest; words side by side are joined by AND; a tag behind several words makes them a phrase. Lower
case ``and`` is a stop word there, ``or`` and ``not`` are words like any other. Departures, all to the strict side:
two operators in a row, an operator without a term, a star inside a word and unbalanced signs are errors.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import Enum, auto

from tools.mirror.syntax import (
    DATES,
    EXPLODED,
    NEARNESS,
    Combination,
    Dates,
    Field,
    Near,
    Node,
    Operator,
    QueryError,
    Term,
    Untagged,
    read_dates,
)
from tools.mirror.words import words

# The tokens of a query. What is no token ends up inside a word, where indexing turns it into a space.
LONGEST = 100_000  # characters; ours: the longest published strategies have about 30,000
SIGNS = {"&": Operator.AND, "|": Operator.OR}  # PubMed User Guide, "PubMed character conversions"
WORD = re.compile(r'[^\s()\[\]"&|]+')
HISTORY = re.compile(r"#\d+")


class Kind(Enum):
    """The kinds of token."""

    OPEN = auto()
    CLOSE = auto()
    QUOTED = auto()
    TAG = auto()
    COLON = auto()
    OPERATOR = auto()
    WORD = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """A token, its text without quotes or brackets, and where it begins."""

    kind: Kind
    text: str
    at: int


def scan(query: str) -> list[Token]:
    """The tokens of a query, the last of kind END. Raises QueryError."""
    if len(query) > LONGEST:
        raise QueryError(f"The query has {len(query):,} characters, more than {LONGEST:,}", "Shorten it.", LONGEST)
    if any("\ud800" <= sign <= "\udfff" for sign in query):
        raise QueryError("The query has a broken character", "Type it again.", 0)
    text = query.replace("“", '"').replace("”", '"')
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        token, at = _next(text, at, tokens[-1].kind if tokens else Kind.OPEN)
        tokens.append(token)
    return [*tokens, Token(Kind.END, "", len(text))]


def _next(text: str, at: int, before: Kind) -> tuple[Token, int]:
    """The token that begins at ``at``, and where the next may begin."""
    sign = text[at]
    if sign in "()":
        return Token(Kind.OPEN if sign == "(" else Kind.CLOSE, sign, at), at + 1
    if sign == '"':
        return _closed(text, at, '"', Kind.QUOTED, "A quotation mark is not closed")
    if sign == "[":
        return _closed(text, at, "]", Kind.TAG, "A square bracket is not closed")
    if sign == "]":
        raise QueryError("A square bracket closes nothing", "Write tags as [tiab].", at)
    if sign in SIGNS:
        return Token(Kind.OPERATOR, SIGNS[sign].value, at), at + 1
    if sign == ":" and before in (Kind.TAG, Kind.QUOTED):
        return Token(Kind.COLON, sign, at), at + 1
    return _word(text, at)


def _word(text: str, at: int) -> tuple[Token, int]:
    match = WORD.match(text, at)
    word = match[0] if match else text[at]
    if HISTORY.fullmatch(word):
        raise QueryError(f"{word} names an earlier search, which is not kept here", "Write the search out.", at)
    kind = Kind.OPERATOR if word in Operator.__members__ else Kind.WORD
    return Token(kind, word, at), at + len(word)


def _closed(text: str, at: int, sign: str, kind: Kind, complaint: str) -> tuple[Token, int]:
    end = text.find(sign, at + 1)
    if end < 0:
        raise QueryError(complaint, f"Add {sign} where it ends.", at)
    return Token(kind, text[at + 1 : end], at), end + 1


# The tags of PubMed's fields, short and long (PubMed User Guide, "Search field tags").
NAMES: dict[Field, str] = {
    Field.ALL: "all|all fields|all field",
    Field.TITLE_ABSTRACT: "tiab|title/abstract|title abstract",
    Field.TITLE: "ti|title|titl",
    Field.ABSTRACT: "ab|abstract",
    Field.TEXT: "tw|text word|text words|word|text",
    Field.KEYWORD: "ot|other term|other terms",
    Field.MESH: "mh|mesh|mesh terms|mesh term",
    Field.MAJOR: "majr|mesh major topic|major topic|mesh:maj",
    Field.TYPE: "pt|publication type|publication types|ptyp",
    Field.PUBLISHED: "dp|pdat|date - publication|publication date|date of publication",
    Field.ENTERED: "edat|date - entry|date - entrez|entry date|entrez date",
    Field.LANGUAGE: "la|lang|language",
    Field.AUTHOR: "au|author|authors|auth",
    Field.JOURNAL: "ta|jour|journal|journal title abbreviation",
    Field.PMID: "pmid|uid",
    Field.IDENTIFIER: "aid|article identifier|doi|lid|location id",
    Field.SUBSET: "sb|filter|subset",
}
TAGS = {name: field for field, names in NAMES.items() for name in names.split("|")}
# PubMed's fields that the mirror does not hold: answering from another field would be a wrong result.
NOT_HELD = frozenset(
    "ad|affiliation|auid|author identifier|book|cois|conflict of interest statements|cn|corporate author|crdt|"
    "date - create|create date|dcom|date - completion|completion date|rn|ec/rn number|ed|editor|1au|first author name|"
    "author - first|fau|full author name|author - full|fir|full investigator name|investigator - full|gr|"
    "grants and funding|grant number|ir|investigator|isbn|ip|issue|lastau|last author name|author - last|mhda|"
    "date - mesh|mesh date|sh|mesh subheading|mesh subheadings|subheading|lr|date - modification|modification date|"
    "jid|nlm unique id|pg|pagination|ps|personal name as subject|subject - personal name|pa|pharmacological action|"
    "pl|place of publication|pubn|publisher|si|secondary source id|nm|supplementary concept|tt|transliterated title|"
    "vi|volume|epdat|ppdat|date - electronic|date - print".split("|")
)
NEAR = re.compile(r"(.*?)\s*:\s*~\s*(\d{1,6})")  # six digits: more words than any record has


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag as read: its field (None when PubMed has no such field), ``explode``, and the distance of a proximity."""

    field: Field | None
    name: str
    explode: bool = True
    distance: int | None = None


def read_tag(text: str, at: int) -> Tag:
    """What stands between square brackets. Raises QueryError for a field that is not held, or a misplaced suffix."""
    name = " ".join(text.lower().split())
    near = NEAR.fullmatch(name)
    if near:
        field = _field(near[1], at)
        if field is not None and field not in NEARNESS:
            raise QueryError(f"Proximity is not possible in [{near[1]}]", "Use [ti:~N] or [tiab:~N].", at)
        return Tag(field, name, distance=int(near[2]))
    base, _, suffix = name.partition(":")
    if suffix.strip() == "noexp":
        field = _field(base.strip(), at)
        if field is not None and field not in EXPLODED:
            raise QueryError(f"[{name}] has nothing to explode", "Use :noexp with [mh], [majr] or [pt].", at)
        return Tag(field, name, explode=False)
    return Tag(_field(name, at), name)


def _field(name: str, at: int) -> Field | None:
    if name in NOT_HELD:
        raise QueryError(f"The field [{name}] is not held by this mirror", "Leave the term out, or ask PubMed.", at)
    return TAGS.get(name)


# What a piece of a query asks for, once its tag is known.
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


DEEPEST = 100  # ours: nested parentheses, far from Python's own limit


@dataclass(frozen=True, slots=True)
class Parsed:
    """A query's tree, and the warnings that its wording gave."""

    tree: Node
    warnings: tuple[str, ...]


def parse(query: str, today: date | None = None) -> Parsed:
    """Parse a query.

    Args:
        today: what ``"last 5 years"[dp]`` counts back from; the present day when it is not given.

    Raises:
        QueryError: the query is malformed, or asks for what the mirror does not hold.
    """
    parser = _Parser(scan(query), today or datetime.now(UTC).date())
    return Parsed(parser.whole(), tuple(dict.fromkeys(parser.warnings)))


class _Parser:
    """Recursive descent over the tokens."""

    def __init__(self, tokens: list[Token], today: date) -> None:
        self._tokens, self._at, self._depth, self._today = tokens, 0, 0, today
        self.warnings: list[str] = []

    def whole(self) -> Node:
        if self._token.kind is Kind.END:
            raise QueryError("The query is empty", "Give at least one term.")
        tree = self._chain()
        if self._token.kind is Kind.CLOSE:
            raise QueryError("A parenthesis closes nothing", "Remove it, or open it.", self._token.at)
        return tree

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._token
        self._at += 1
        return token

    def _chain(self) -> Node:
        first = self._item()
        rest: list[tuple[Operator, Node]] = []
        while self._token.kind not in (Kind.END, Kind.CLOSE):
            operator = Operator.AND
            if self._token.kind is Kind.OPERATOR:
                operator = Operator(self._take().text)
            rest.append((operator, self._item()))
        return Combination(first, tuple(rest)) if rest else first

    def _item(self) -> Node:
        token = self._token
        if token.kind is Kind.OPEN:
            return self._nested()
        if token.kind in (Kind.QUOTED, Kind.WORD):
            return self._term()
        if token.kind is Kind.OPERATOR:
            raise QueryError(f"{token.text} has no term before it", "Put one operator between two terms.", token.at)
        if token.kind is Kind.TAG:
            raise QueryError(f"[{token.text[:40]}] has no term before it", "Write the term, then its tag.", token.at)
        if token.kind is Kind.COLON:
            raise QueryError("A colon joins no dates here", "Write ranges as 2010:2015[dp].", token.at)
        raise QueryError("A term is missing", "Put a term here, or remove the operator or parenthesis.", token.at)

    def _nested(self) -> Node:
        opened = self._take()
        self._depth += 1
        if self._depth > DEEPEST:
            raise QueryError(f"More than {DEEPEST} parentheses are nested", "Simplify the query.", opened.at)
        tree = self._chain()
        if self._take().kind is not Kind.CLOSE:
            raise QueryError("A parenthesis is not closed", "Add ) where it ends.", opened.at)
        self._depth -= 1
        if self._token.kind is Kind.TAG:
            raise QueryError("A tag stands behind a parenthesis", "Tag each term inside it.", self._token.at)
        return tree

    def _term(self) -> Node:
        wording, tag = self._wording()
        if self._token.kind is Kind.COLON:
            return self._range(wording, tag)
        if tag is None:
            return untagged(wording, self.warnings)
        return tagged(wording, tag, self._today, self.warnings)

    def _wording(self) -> tuple[Wording, Tag | None]:
        """Quoted text, or the words up to the next sign, with the tag behind it."""
        first = self._take()
        parts = [first.text]
        if first.kind is Kind.WORD:
            while self._token.kind is Kind.WORD:
                parts.append(self._take().text)
        wording = Wording(" ".join(parts), first.kind is Kind.QUOTED, first.at)
        if self._token.kind is not Kind.TAG:
            return wording, None
        token = self._take()
        return wording, read_tag(token.text, token.at)

    def _range(self, low: Wording, low_tag: Tag | None) -> Dates:
        """``"2010"[dp] : "2015"[dp]``: two ends, the second with a tag."""
        colon = self._take()
        if self._token.kind not in (Kind.QUOTED, Kind.WORD):
            raise QueryError("A range has no end", "Write ranges as 2010:2015[dp].", colon.at)
        high, tag = self._wording()
        return date_range(low, low_tag, high, tag, self._today)
