"""Plain text, and lines that were broken to fit a page, made whole again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from prompts.errors import DataError
from tools.readers.contract import Problem, Record
from tools.readers.files import decode, problem, read_bytes
from tools.readers.layout import Layout
from tools.readers.normal import normalise, one_line, own_document
from tools.text.language import HAN

# Both begin at a word's beginning and give nothing back: a text without spaces is one word.
BREAK = re.compile(r"(?<!\w)(?P<first>\w*[^\W\d_])[-\u2010]\n(?P<second>[^\W\d_]\w*)")
HYPHENATED = re.compile(r"(?<!\w)\w++(?:-\w++)++")
BLANK = re.compile(r"\n[ \t]*+(?:\n[ \t]*+)++")
ITEM = re.compile(r"^\s*(?:[-*•‣▪◦–]\s|\(?\d{1,3}[.)]\s|\(?[a-z][.)]\s|#{1,6}\s|\|)")
WIDE = 200  # ours: a longer line was never broken to fit a page
FULL = 0.85  # ours: proportional fonts and ragged edges make full lines of unlike length
ENDS = tuple('.!?:;。！？：；"”)')
TITLE = 120  # ours: characters up to which a first line that stands alone is taken for a title


class PlainReader:
    """Reads UTF-8, and UTF-16 and UTF-32 with their marks; lines broken to fit a page are joined."""

    suffixes = (".txt", ".text")

    def read(self, path: Path) -> Iterator[Record | Problem]:
        """One record, or the problem that stands in its way."""
        try:
            paragraphs = unwrap(normalise(decode(read_bytes(path))))
        except DataError as error:
            yield problem(error)
            return
        layout = Layout()
        for paragraph in paragraphs:
            layout.paragraph((), paragraph)
        text, sections = layout.finish()
        if not text:
            yield Problem(where="", what="The file holds no text.", advice="Save it again, or leave it out.")
            return
        title = title_of(paragraphs) or path.stem
        yield own_document(path.stem, title, text, sections)


def title_of(paragraphs: list[str]) -> str:
    """The first paragraph when it reads like a title: short, no sentence, something after it; else ""."""
    first = one_line(paragraphs[0]) if len(paragraphs) > 1 else ""
    return first if len(first) <= TITLE and not first.endswith((".", "。", ":", "：", ",", ";")) else ""


def unwrap(text: str) -> list[str]:
    """The paragraphs of a text: blank lines part them, and lines that were broken for their length are joined.

    A line is taken for broken when the next word would not have fitted, or when it ends in the middle of a sentence
    and the next goes on in lower case. List items and tables keep their lines.
    """
    paragraphs: list[str] = []
    for block in BLANK.split(_hyphens(text)):
        paragraphs += _join([line.strip() for line in block.split("\n") if line.strip()])
    return paragraphs


def _join(lines: list[str]) -> list[str]:
    width = max(map(len, lines), default=0)
    joined: list[list[str]] = []
    before = ""
    for line in lines:
        if joined and width <= WIDE and _goes_on(before, line, width):
            joined[-1] += ["" if HAN.match(before[-1]) and HAN.match(line[0]) else " ", line]
        else:
            joined.append([line])
        before = line
    return ["".join(parts) for parts in joined]


def _goes_on(before: str, line: str, width: int) -> bool:
    if ITEM.match(line):
        return False
    word = 1 if HAN.match(line[0]) else len(line.split(maxsplit=1)[0]) + 1
    return len(before) + word > FULL * width or (not before.endswith(ENDS) and line[0].islower())


def _hyphens(text: str) -> str:
    """Words parted by a hyphen at a line's end; the hyphen stays where the text writes the word with it elsewhere."""
    words = {m[0].lower() for m in HYPHENATED.finditer(text)}

    def whole(match: re.Match[str]) -> str:
        first, second = match["first"], match["second"]
        keeps = f"{first}-{second}".lower() in words or not second[0].islower()
        return f"{first}-{second}" if keeps else first + second

    return BREAK.sub(whole, text)
