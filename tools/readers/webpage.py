"""Web pages: the words of the body below their headings, without menus, scripts and styles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from prompts.errors import DataError
from tools.readers.contract import Problem, Record
from tools.readers.files import decode, problem, read_bytes
from tools.readers.layout import Layout, Markup
from tools.readers.normal import iso_date, one_line, own_document

BLOCKS = """html body main article section div p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table caption thead tbody tfoot
tr td th blockquote pre figure figcaption address details summary fieldset hr center""".split()
DROPPED = """head script style nav aside form noscript template svg math iframe object embed canvas audio video button
select option input textarea dialog""".split()
RUNNING = ("header", "footer")  # dropped unless they are an article's own
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([A-Za-z0-9._:-]+)", re.IGNORECASE)
DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
DECLARED_IN = 4096  # ours; the HTML standard asks for the first 1,024 bytes, pages keep to it loosely
DATES = ("citation_publication_date", "dc.date", "dcterms.modified", "article:modified_time", "article:published_time")


class WebpageReader:
    """Reads HTML in the encoding that its mark or its ``meta`` names, else in UTF-8."""

    suffixes = (".html", ".htm", ".xhtml")

    def read(self, path: Path) -> Iterator[Record | Problem]:
        """One record, or the problem that stands in its way."""
        try:
            data = read_bytes(path)
            declared = CHARSET.search(data[:DECLARED_IN])
            yield read_html(decode(data, declared[1].decode("ascii") if declared else "utf-8"), path.stem)
        except DataError as error:
            yield problem(error)


def read_html(html: str, name: str) -> Record:
    """The record of a web page.

    Args:
        name: the file's name, its title when it has none.

    Raises:
        DataError: no text in the body.
    """
    root = parse_html(html)
    body = root.find("body")
    title = _title(root) or name
    text, sections = lay_out(root if body is None else body, title)
    if not text:
        raise DataError("The page holds no text of its own.", "A page made by scripts must be saved as it is shown.")
    language = (root.get("lang") or "").lower().split("-")[0]
    return own_document(name, title, text, sections, language=language if language.isalpha() else "", date=_date(root))


def parse_html(html: str) -> Any:
    """The root element; raises DataError for what holds no element at all."""
    from lxml import etree

    try:
        root = etree.fromstring(DECLARATION.sub("", html), etree.HTMLParser(no_network=True, remove_comments=True))
    except (etree.XMLSyntaxError, ValueError) as error:
        raise DataError("This is not HTML.", "Save the page again.") from error
    if root is None:
        raise DataError("The page is empty.", "Save the page again.")
    return root


def lay_out(body: Any, title: str = "") -> tuple[str, Any]:
    """The text and the sections of an element; a first heading that repeats the title is no section's name."""
    layout = Layout()
    _Page(layout, title).flow(body)
    return layout.finish()


class _Page(Markup):
    blocks: ClassVar = frozenset((*BLOCKS, *RUNNING))
    dropped: ClassVar = frozenset(DROPPED)

    def __init__(self, layout: Layout, title: str) -> None:
        super().__init__(layout)
        self._title = title.casefold()
        self._levels: list[tuple[int, str]] = []

    def block(self, element: Any) -> None:
        """A heading opens a section at its level; all else is read in place."""
        if element.tag in HEADINGS:
            self._heading(int(element.tag[1]), self.inline(element))
        else:
            super().block(element)

    def table(self, element: Any) -> None:
        """Rows as lines; a table that only lays out the page is read like any block."""
        if (
            next(element.iter("p", "ul", "ol", "div", *HEADINGS), None) is not None
            or len(list(element.iter("table"))) > 1
        ):
            self.flow(element)
        else:
            for caption in element.iterchildren("caption"):
                self.flow(caption)
            super().table(element)

    def skipped(self, element: Any) -> bool:
        """Left out besides: what is hidden, and the page's own header and footer."""
        if super().skipped(element) or element.get("hidden") is not None:
            return True
        return element.tag in RUNNING and next(element.iterancestors("article", "main"), None) is None

    def _heading(self, level: int, words: str) -> None:
        self._levels = [h for h in self._levels if h[0] < level]
        if words:
            self._levels.append((level, words))
        names = [h[1] for h in self._levels]
        self.path = tuple(names[1:] if names and names[0].casefold() == self._title else names)


def _title(root: Any) -> str:
    first = root.find(".//h1")
    named = one_line("".join(root.findtext("head/title") or ""))
    return named or ("" if first is None else one_line("".join(first.itertext())))


def _date(root: Any) -> str:
    said = {(m.get("name") or m.get("property") or "").lower(): m.get("content") or "" for m in root.iter("meta")}
    return next((d for name in DATES if (d := iso_date(said.get(name, "")))), "")
