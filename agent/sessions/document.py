"""An answer, or a session, as a Word document (DOCX), by python-docx: the same Markdown, set small on A4."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

from prompts.errors import InputError

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

MEDIA = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
MARGIN, INDENT = 15, 5  # mm; ours: an answer with its sources then fits on a page or two
SIZES = {"Normal": 9.5, "Heading 1": 14, "Heading 2": 12, "Heading 3": 10.5, "Heading 4": 10}  # points; ours
UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # what XML 1.0 has no place for


def as_docx(markdown: str, title: str) -> bytes:
    """A Word document of a text in Markdown; links stand as text with their address, pictures by their description.

    Raises:
        InputError: python-docx is not installed.
    """
    try:
        from docx import Document
        from docx.shared import Mm, Pt
    except ImportError:
        raise InputError(
            "Word documents are written by python-docx, which is not installed.", "pip install 'anamnesis[exports]'"
        ) from None
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

    document = Document()
    document.core_properties.author, document.core_properties.title = "Anamnesis", fit(title)[:255]
    section = document.sections[0]
    section.page_width, section.page_height = Mm(210), Mm(297)
    section.left_margin = section.right_margin = section.top_margin = section.bottom_margin = Mm(MARGIN)
    for name, size in SIZES.items():
        style = document.styles[name]
        style.font.size = Pt(size)
        style.paragraph_format.space_before = Pt(0 if name == "Normal" else 6)
        style.paragraph_format.space_after = Pt(3)
    writer = _Writer(document, Mm(INDENT))
    for node in SyntaxTreeNode(MarkdownIt("commonmark").enable("table").parse(markdown)).children:
        writer.block(node)
    made = io.BytesIO()
    document.save(made)
    return made.getvalue()


def fit(text: str) -> str:
    """A text without the characters that XML has no place for."""
    return UNFIT.sub("", text)


class _Writer:
    """Writes the nodes of a Markdown tree into a document.

    Args:
        step: how far each level of a list or a quotation is moved in.
    """

    def __init__(self, document: Any, step: int) -> None:
        self._document, self._step = document, step

    def block(self, node: SyntaxTreeNode, level: int = 0, mark: str = "") -> None:
        """Write a block; ``mark`` is the bullet or number that stands before its first line."""
        if node.type in ("bullet_list", "ordered_list"):
            first = int(node.attrs.get("start", 1) or 1) if node.type == "ordered_list" else 0
            for number, item in enumerate(node.children, first):
                for place, child in enumerate(item.children):
                    sign = f"{number}." if node.type == "ordered_list" else "•"
                    self.block(child, level + 1, sign if place == 0 else "")
        elif node.type == "blockquote":
            for child in node.children:
                self.block(child, level + 1)
        elif node.type == "table":
            self._table(node)
        elif node.type == "hr":
            self._paragraph(level)
        elif node.type in ("fence", "code_block", "html_block"):
            self._run(self._paragraph(level), node.content.rstrip("\n"), code=True)
        else:
            self._text(node, level, mark)

    def _text(self, node: SyntaxTreeNode, level: int, mark: str) -> None:
        """A heading or a paragraph."""
        style = f"Heading {min(int(node.tag[1]), 4)}" if node.type == "heading" else None
        paragraph = self._paragraph(level, style)
        if mark:
            paragraph.paragraph_format.first_line_indent = -self._step
            self._run(paragraph, f"{mark}\t")
            paragraph.paragraph_format.tab_stops.add_tab_stop(self._step * level)
        for child in node.children:
            self._inline(paragraph, child)

    def _table(self, node: SyntaxTreeNode) -> None:
        rows = [row for part in node.children for row in part.children]
        table = self._document.add_table(len(rows), max(len(row.children) for row in rows), style="Table Grid")
        for number, row in enumerate(rows):
            for place, cell in enumerate(row.children):
                for child in cell.children:
                    self._inline(table.cell(number, place).paragraphs[0], child, bold=cell.type == "th")

    def _inline(self, paragraph: Any, node: SyntaxTreeNode, **marks: bool) -> None:
        if node.type in ("strong", "em"):
            marks = marks | {"bold" if node.type == "strong" else "italic": True}
        elif node.type in ("softbreak", "hardbreak"):
            self._run(paragraph, " " if node.type == "softbreak" else "\n", **marks)
        elif node.type in ("text", "code_inline", "html_inline"):
            self._run(paragraph, node.content, **marks, code=node.type == "code_inline")
        elif node.type == "image":
            self._run(paragraph, node.content, italic=True)
            return
        for child in node.children:
            self._inline(paragraph, child, **marks)
        if node.type == "link":
            self._run(paragraph, f" ({node.attrs['href']})", **marks)

    def _paragraph(self, level: int, style: str | None = None) -> Any:
        paragraph = self._document.add_paragraph(style=style)
        if level:
            paragraph.paragraph_format.left_indent = self._step * level
        return paragraph

    def _run(self, paragraph: Any, text: str, *, bold: bool = False, italic: bool = False, code: bool = False) -> None:
        run = paragraph.add_run(fit(text))
        run.bold, run.italic = bold or None, italic or None
        if code:
            run.font.name = "Consolas"
