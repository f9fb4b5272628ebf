"""Text being laid out: a line a paragraph, a heading line over each section, offsets counted as it grows."""

from __future__ import annotations

from tools.readers.contract import Section
from tools.readers.normal import one_line

JOINT = " / "  # between nested headings: "Methods / Patients"


class Layout:
    """Collects paragraphs under their headings.

    Headings stand in the text as Markdown has them (``## Methods / Patients``), as in the starter's monographs, and
    outside their sections.

    Args:
        headings: whether heading lines are written; sections carry their titles either way.
    """

    def __init__(self, *, headings: bool = True) -> None:
        self._headings = headings
        self._parts: list[str] = []
        self._length = 0
        self._path: tuple[str, ...] | None = None
        self._sections: list[tuple[str, int, int]] = []

    def paragraph(self, path: tuple[str, ...], text: str) -> None:
        """Add a paragraph below these headings, the outermost first; one of white space alone is left out."""
        line = one_line(text)
        if not line:
            return
        if path != self._path:
            self._begin(path)
        elif self._parts:
            self._write("\n")
        title, start = JOINT.join(path), self._length
        self._write(line)
        if self._sections and path == self._path:
            title, start, _ = self._sections.pop()
        self._sections.append((title, start, self._length))
        self._path = path

    def finish(self) -> tuple[str, tuple[Section, ...]]:
        """The text, and its sections in order."""
        sections = tuple(Section(title=title, start=start, end=end) for title, start, end in self._sections)
        return "".join(self._parts), sections

    def _begin(self, path: tuple[str, ...]) -> None:
        if self._parts:
            self._write("\n\n")
        if path and self._headings:
            self._write(f"## {JOINT.join(path)}\n")

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
