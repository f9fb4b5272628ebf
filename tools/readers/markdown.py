"""Markdown: a monograph when its front matter is one's, else a document whose headings are its sections."""

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
from tools.readers.normal import iso_date, normalise, one_line, own_document, own_id
from tools.readers.webpage import lay_out, parse_html

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
