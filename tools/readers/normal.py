"""How every reader makes text, ids and dates: one form of characters and line endings before any offset is taken."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
import unicodedata
from functools import lru_cache

from tools.readers.contract import Record, Section
from tools.text.language import language_of
from tools.text.sentences import without_gaps

LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")  # what str.splitlines cuts at
# Controls, the soft hyphen, zero-width space, word joiner and byte order mark: seen by no reader, found by no search.
INVISIBLE = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u2060\ufeff]")
SURROGATE = re.compile("[\ud800-\udfff]")  # halves of a character, as a JSON escape can hold: no UTF-8 has them
MARKS = 30  # code: marks on one letter in Unicode's stream-safe text format (UAX 15); sorting more takes their square
MARKED = range(0x300, 0x20000)  # code: where Unicode has characters that combine
MAYBE_MARKS = re.compile(f"[\u0300-\U0001ffff]{{{MARKS + 1}}}")  # what holds no such run need not be looked at closely
WORD = re.compile(r"\w+")
SLUG = 60  # ours: characters of a name in an id
DIGITS = 10  # ours: hexadecimal digits of the hash in an id; 10,000 documents collide once in 20,000 libraries
ISO = re.compile(r"^\s*(?P<year>\d{4})(?:[-/](?P<month>\d{1,2})(?:[-/](?P<day>\d{1,2}))?)?(?!\d)")
FIRST, LAST = 1800, 2200  # ours: years outside are no dates of documents
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
MONTH = rf"(?P<m>(?:{'|'.join(MONTHS)})[a-z]*\.?)"
DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
WRITTEN = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<!\d){DAY}\s+{MONTH},?\s+(?P<y>\d{{4}})(?!\d)",
        rf"\b{MONTH}\s+(?:{DAY},?\s+)?(?P<y>\d{{4}})(?!\d)",
        r"(?<!\d)(?P<y>\d{4})\s?[-/.年]\s?(?P<m>\d{1,2})(?:\s?[-/.月]\s?(?P<d>\d{1,2}))?(?!\d)",
        r"(?<!\d)(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})(?!\d)",
    )
)  # dates as people write them; 3/4/2024 is two dates and is left alone
OF_ITSELF = re.compile(
    r"\b(?:dated?|version|published|issued?|updated?|revis\w+|approved|released?|effective|as of|valid from|printed)\b"
    "|日期|发布|修订|版本|更新|出版|生效",
    re.IGNORECASE,
)
OF_ANOTHER = re.compile(
    r"\b(?:born|birth|d\.?o\.?b|admi\w+|discharg\w+|seen|visit\w*|since|review\w*|expir\w+|until|next)\b|出生|入院|出院|就诊",
    re.IGNORECASE,
)
HEAD, SHORT, NEAR = 1500, 90, 40  # ours: characters where a document tells its date, of a line, and before the date


def normalise(text: str) -> str:
    """The text with ``\\n`` as its only line end, without invisible characters and long runs of white space, in
    Unicode's form NFC. Idempotent."""
    text = without_gaps(INVISIBLE.sub("", LINE_ENDS.sub("\n", text)))
    text = SURROGATE.sub("\ufffd", text)
    return text if text.isascii() else _few_marks(unicodedata.normalize("NFC", _few_marks(text)))


def _few_marks(text: str) -> str:
    """The text without marks beyond those that a letter can have."""
    return text if MAYBE_MARKS.search(text) is None else _marks().sub(r"\1", text)


@lru_cache(maxsize=1)
def _marks() -> re.Pattern[str]:
    some = "".join(chr(c) for c in MARKED if unicodedata.combining(chr(c)))
    return re.compile(f"([{re.escape(some)}]{{{MARKS}}})[{re.escape(some)}]+")


def one_line(text: str) -> str:
    """The text in normal form with every run of white space made one space."""
    return " ".join(normalise(text).split())


def slug(name: str) -> str:
    """The name as the part of an id: its words in lower case, joined by hyphens; ``document`` when it has none."""
    words = WORD.findall(normalise(name).lower().replace("_", " "))
    return "-".join(words)[:SLUG].strip("-") or "document"


def own_id(name: str, title: str, text: str) -> str:
    """The id of a document that no one else numbers: ``own:<name>-<hash of title and text>``, the same every time."""
    digest = hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()
    return f"own:{slug(name)}-{digest[:DIGITS]}"


def own_document(
    name: str,
    title: str,
    text: str,
    sections: tuple[Section, ...],
    *,
    language: str = "",
    date: str = "",
    review_by: str = "",
) -> Record:
    """A document that no one else numbers; where no language is told, the text's own."""
    return Record(
        id=own_id(name, title, text),
        title=title,
        text=text,
        kind="document",
        sections=sections,
        language=language or language_of(text),
        date=date,
        review_by=review_by,
    )


def stated_date(text: str) -> str:
    """The date that a document states of itself at its beginning, ISO and as precise as told; "" where it states none.

    It stands in a short line or behind a word that tells what it is (dated, version, published); a date of birth or of
    a visit is none of the document, nor is one that is still to come.
    """
    today = dt.datetime.now(dt.UTC).date().isoformat()
    for line in text[:HEAD].splitlines():
        found = sorted((m for pattern in WRITTEN for m in pattern.finditer(line)), key=lambda m: (m.start(), -m.end()))
        for match in found:
            before = line[max(0, match.start() - NEAR) : match.start()]
            its, others = (max((m.end() for m in cue.finditer(before)), default=0) for cue in (OF_ITSELF, OF_ANOTHER))
            if others > its or not (its or len(line) <= SHORT):
                continue
            told = match.groupdict()
            month = told["m"] if told["m"].isdigit() else str(MONTHS.index(told["m"][:3].lower()) + 1)
            date = iso_date("-".join(filter(None, (told["y"], month, told.get("d")))))
            if int(month) <= len(MONTHS) and date and date <= today:
                return date
    return ""


def iso_date(value: object) -> str:
    """``2024``, ``2024-05`` or ``2024-05-17`` from a date, a year, or text that begins with one; "" for all else.

    A part that no calendar has (month 13, 30 February) is left out with all that is finer.
    """
    if isinstance(value, dt.date):
        return value.isoformat()[:10]
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return ""
    match = ISO.match(str(value))
    if match is None or not FIRST <= int(match["year"]) <= LAST:
        return ""
    year, month, day = (int(match[part] or 0) for part in ("year", "month", "day"))
    if not 1 <= month <= 12:
        return f"{year}"
    try:
        return dt.date(year, month, day).isoformat()
    except ValueError:
        return f"{year}-{month:02d}"
