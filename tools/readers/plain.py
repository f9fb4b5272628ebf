"""Plain text, and lines that were broken to fit a page, made whole again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from prompts.errors import DataError
from tools.library.monograph import Monograph, locate, parse_monograph
from tools.readers.contract import Problem, Record
from tools.readers.files import decode, problem, read_bytes
from tools.readers.layout import Layout
from tools.readers.normal import iso_date, normalise, one_line, own_document, own_id
from tools.readers.webpage import lay_out, parse_html
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


# Markdown: a monograph when its front matter is one's, else a document whose headings are its sections.

FRONT = re.compile(r"\A---[ \t]*\n(?P<front>.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
KINDS = ("condition", "evidence")  # docs/knowledge-format.md: what makes front matter a monograph's
LANGUAGE = re.compile(r"^[A-Za-z]{2,3}(?:-\w+)?$")
QUOTE = "Quote texts that hold a colon."


class MarkdownReader:
    """Reads Markdown with or without front matter in YAML."""

    suffixes = (".md", ".markdown")

    def read(self, path: Path) -> Iterator[Record | Problem]:
        """One record, and a problem for each question of a monograph whose answer does not stand in it."""
        try:
            raw = normalise(decode(read_bytes(path)))
            front, body = _parted(raw)
            if front.get("kind") in KINDS and "questions" in front:
                yield from _monograph(parse_monograph(raw, path.stem))
            else:
                yield _document(front, body, path.stem)
        except DataError as error:
            yield problem(error)


def _parted(raw: str) -> tuple[dict[str, Any], str]:
    match = FRONT.match(raw)
    if match is None:
        return {}, raw
    try:
        front = yaml.safe_load(match["front"])
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise DataError("The front matter is not YAML.", QUOTE) from error
    if isinstance(front, dict):
        return front, raw[match.end() :]
    return {}, raw  # a rule across the page, not front matter


def _monograph(monograph: Monograph) -> Iterator[Record | Problem]:
    front, text = monograph.front, monograph.text
    if not text.strip():
        raise DataError("The monograph has no body.", "See docs/knowledge-format.md.")
    answered = tuple(q for q in front.questions if locate(text, q.span) is not None)
    yield Record(
        id=own_id(front.id, front.title, text),
        title=one_line(front.title),
        text=text,
        kind="monograph",
        sections=monograph.sections,
        language=front.language,
        date=front.written.isoformat(),
        review_by=front.review_by.isoformat(),
        level="monograph" if front.clinically_reviewed else "monograph (not clinically reviewed)",
        questions=answered,
    )
    for question in front.questions:
        if question not in answered:
            what = f"The answer to {question.q!r} does not stand in exactly one paragraph, once."
            yield Problem(where="questions", what=what, advice="Copy the span from the body, letter by letter.")


def _document(front: dict[str, Any], body: str, name: str) -> Record:
    from markdown_it import MarkdownIt

    root = parse_html(MarkdownIt("commonmark").enable("table").render(body) or "<body></body>")
    first = root.find(".//h1")
    said = front.get("title")
    title = one_line(said) if isinstance(said, str) else ""
    title = title or ("" if first is None else one_line("".join(first.itertext()))) or name
    page = root.find("body")
    text, sections = lay_out(root if page is None else page, title)
    if not text:
        raise DataError("The file holds no text below its headings.", "Save it again, or leave it out.")
    language = front.get("language") or front.get("lang")
    known = isinstance(language, str) and LANGUAGE.match(language)
    return own_document(
        name,
        title,
        text,
        sections,
        language=str(language).lower()[:2] if known else "",
        date=iso_date(front.get("date")),
        review_by=iso_date(front.get("review_by")),
    )
