"""Text being laid out, with offsets counted as it grows, and markup walked into it in document order, nothing twice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from typing import Any, ClassVar

from tools.readers.contract import Section
from tools.readers.normal import one_line

CELL = " | "  # between the cells of a table's row
EXPONENT = re.compile(r"[-+−–]?\d+")
RAISED = str.maketrans("0123456789+-−–", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻")
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


class Markup:
    """Walks a tree of lxml elements. A format says which elements are blocks, which are left out, and handles its own.

    Attributes:
        blocks: elements whose content stands in paragraphs of its own.
        dropped: elements that are left out with all they hold (what follows them stays).
        spaced: inline elements that part the words before from those after.
        floating: blocks that stand in a paragraph where they were anchored, and are read after it.
        path: the headings over the place that is being read.
    """

    blocks: ClassVar[frozenset[str]] = frozenset()
    dropped: ClassVar[frozenset[str]] = frozenset()
    spaced: ClassVar[frozenset[str]] = frozenset({"br", "break"})
    floating: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.path: tuple[str, ...] = ()

    def flow(self, element: Any) -> None:
        """Read what an element holds: runs of text as paragraphs, blocks by `block`."""
        run, later = [element.text or ""], []
        for child in element:
            if element.tag == "p" and child.tag in self.floating:
                later.append(child)
            elif self._is_inline(child):
                run.append(self._piece(child, _last(run)))
            else:
                self._flush(run)
                self.block(child)
            run.append(child.tail or "")
        self._flush(run)
        for child in later:
            self.block(child)

    def block(self, element: Any) -> None:
        """Read a block; a format overrides it for its own elements."""
        if element.tag == "table":
            self.table(element)
        else:
            self.flow(element)

    def table(self, element: Any) -> None:
        """A table: each row a line, its cells parted by bars, empty ones kept so that columns stay apart."""
        for row in element.iter("tr"):
            cells = [self.inline(cell) for cell in row if cell.tag in ("td", "th")]
            if any(cells):
                self.layout.paragraph(self.path, CELL.join(cells))

    def inline(self, element: Any) -> str:
        """All that an element holds, on one line."""
        return one_line(self._inside(element))

    def skipped(self, element: Any) -> bool:
        """Whether an element is left out."""
        return not isinstance(element.tag, str) or element.tag in self.dropped

    def _is_inline(self, element: Any) -> bool:
        if self.skipped(element):
            return True
        return element.tag not in self.blocks and next(element.iter(*self.blocks), None) is None

    def _inside(self, element: Any) -> str:
        parts = [element.text or ""]
        for child in element:
            parts.append(self._piece(child, _last(parts)))
            parts.append(child.tail or "")
        return "".join(parts)

    def _piece(self, element: Any, before: str) -> str:
        """An inline element's text; an exponent after a number stays one (10⁹, not 109)."""
        if self.skipped(element):
            name = getattr(element, "name", None)  # only an entity's node has one; HTML's own names are known
            return unescape(f"&{name};") if name else ""
        inside = self._inside(element)
        if element.tag == "sup" and before.isdigit() and EXPONENT.fullmatch(inside.strip()):
            return inside.strip().translate(RAISED)
        return f" {inside} " if element.tag in self.blocks | self.spaced else inside

    def _flush(self, run: list[str]) -> None:
        self.layout.paragraph(self.path, "".join(run))
        run.clear()


def _last(parts: Sequence[str]) -> str:
    """The character before: "" at the beginning."""
    return next((p[-1] for p in reversed(parts) if p), "")
