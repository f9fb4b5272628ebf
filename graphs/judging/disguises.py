"""The forms of a text that a machine may read in it where a person sees nothing, or another thing."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

# Letters of Cyrillic and Greek that look like Latin ones, and these; ours, from the shapes of common fonts.
LOOK_ALIKE = str.maketrans(
    "аеорсхуіјѕһԁԛԝѵкмтвнАВЕКМНОРСТХУІЈЅοαινρτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcxyijshdqwvkmtbhABEKMHOPCTXYIJSoaivptuxABEZHIKMNOPTYX",
)
LATIN = re.compile(r"[A-Za-z]")
TAGS = 0xE0000  # the block of invisible tags repeats ASCII from here
PACKED = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")  # ours: 18 bytes; a shorter order says nothing
PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2}|[\w.~-]){24,}")
ESCAPES = 3  # ours: escapes in such a run; one or two are in any address


def disguised(text: str) -> Iterator[str]:
    """The text as it is seen, then its other forms: look-alike letters read as Latin ones, packed texts opened."""
    seen = unicodedata.normalize("NFKC", "".join(_seen(c) for c in text))
    yield seen
    if not seen.isascii() and LATIN.search(seen) and (latin := seen.translate(LOOK_ALIKE)) != seen:
        yield latin
    for found in PACKED.findall(seen):
        if opened := _opened(found):
            yield opened
    for found in PERCENT.findall(seen):
        if found.count("%") >= ESCAPES:
            yield unquote(found)


def _seen(character: str) -> str:
    """The character; nothing for one that is not shown, and the letter of an invisible tag."""
    code = ord(character)
    if TAGS < code < TAGS + 0x80:
        return chr(code - TAGS)
    return "" if unicodedata.category(character) == "Cf" else character


def _opened(packed: str) -> str:
    """What a run of base64 says; "" when that is no text."""
    try:
        raw = base64.b64decode(packed.replace("-", "+").replace("_", "/") + "=" * (-len(packed) % 4), validate=True)
        said = raw.decode("utf-8")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return ""
    return said if said.isprintable() and " " in said else ""
