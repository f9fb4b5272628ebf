"""Plain text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prompts.errors import DataError
from tools.readers.contract import Problem, Record
from tools.readers.files import decode, problem, read_bytes
from tools.readers.layout import Layout
from tools.readers.normal import normalise, one_line, own_id
from tools.readers.wrapped import unwrap
from tools.text.language import language_of

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
        yield Record(
            id=own_id(path.stem, title, text),
            title=title,
            text=text,
            kind="document",
            sections=sections,
            language=language_of(text),
        )


def title_of(paragraphs: list[str]) -> str:
    """The first paragraph when it reads like a title: short, no sentence, something after it; else ""."""
    first = one_line(paragraphs[0]) if len(paragraphs) > 1 else ""
    return first if len(first) <= TITLE and not first.endswith((".", "。", ":", "：", ",", ";")) else ""
