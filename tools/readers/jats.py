"""JATS articles, as PubMed Central and publishers give them: abstract and body, sections, lists, tables, captions.

References, acknowledgements, notes on authors and licences are left out, and so are citation marks set as superscripts
and the TeX of formulas. Everything else keeps its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from prompts.errors import DataError
from tools.evidence import Frozen, Status
from tools.literature.article import level_of, status_of
from tools.literature.publications import MONTHS
from tools.readers.contract import Problem, Record, Section
from tools.readers.files import name_of, problem, read_bytes
from tools.readers.layout import Layout, Markup
from tools.readers.normal import iso_date, own_id
from tools.text.language import language_of
from tools.yaml_files import read_yaml

BLOCKS = """abstract trans-abstract body sec p title list list-item def-list def-item disp-quote boxed-text statement
table-wrap table-wrap-group table fig fig-group caption fn-group fn supplementary-material disp-formula-group
verse-group speech preformat array app app-group glossary notes floats-group floats-wrap sub-article response label
tr td th table-wrap-foot attrib term def""".split()
DROPPED = """ref-list tex-math annotation annotation-xml alt-text long-desc object-id permissions
front front-stub back ack bio contrib-group processing-meta index-term private-char hr
col colgroup""".split()
TITLED = ("sec", "app", "glossary", "notes", "app-group", "abstract", "trans-abstract", "floats-group")
BACK = ("app-group", "app", "glossary", "sec", "notes")  # what of the back matter is content
CAPTIONED = ("fig", "table-wrap", "supplementary-material", "media", "boxed-text", "fig-group", "table-wrap-group")
MARKS = re.compile(r"[\s,;:–—−\-\[\]()]*")  # what stands between citation marks
ABSTRACT, FLOATS = "Abstract", "Tables and figures"
SAID: dict[str, dict[str, str]] = read_yaml(Path(__file__).with_name("jats.yaml"))
DATES = ("epub", "pub", "epub-ppub", "ppub", "collection", "epreprint")  # ours: when it could first be read
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
WELL_FORMED = "Fetch it anew: the file is cut off or damaged."


class JatsReader:
    """Reads ``article`` and ``pmc-articleset``."""

    suffixes = (".nxml", ".xml")

    def read(self, path: Path) -> Iterator[Record | Problem]:
        """A record an article; articles without words, and a file that is no XML, as problems."""
        try:
            root = parse_jats(read_bytes(path))
        except DataError as error:
            yield problem(error)
            return
        articles = [root] if root.tag == "article" else list(root.iterchildren("article"))
        if not articles:
            yield Problem(where="", what="The answer of PubMed Central holds no article.", advice="Fetch it anew.")
        for number, article in enumerate(articles, start=1):
            where = f"article {number}" if len(articles) > 1 else ""
            yield read_article(article, name_of(path), where)


def parse_jats(data: bytes) -> Any:
    """The root element, namespaces taken off its names.

    Entities are neither expanded nor fetched; a document that declares any of its own is refused.

    Raises:
        DataError: XML that is cut or damaged, or that declares entities.
    """
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False)
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise DataError(f"This is not well-formed XML: {str(error)[:120]}.", WELL_FORMED) from error
    dtd = root.getroottree().docinfo.internalDTD
    if dtd is not None and next(iter(dtd.entities()), None) is not None:
        raise DataError("The XML declares entities, which are not expanded.", "Save it without a DTD of its own.")
    for element in root.iter(tag=etree.Element):
        element.tag = str(element.tag).rpartition("}")[2]
    return root


def read_article(article: Any, name: str, where: str = "") -> Record | Problem:
    """The record of an ``article`` element.

    Args:
        name: the file's name, the id of an article without a PMCID.
        where: the place in the file, for the problem of an article without a word.
    """
    front = read_front(article)
    layout = Layout()
    walker = _Article(layout)
    walker.whole(article)
    text, sections = layout.finish()
    title = front.title or name
    if not text:
        what = f"The article {title[:80]!r} has neither abstract nor body."
        return Problem(where=where, what=what, advice="Nothing of it can be cited: leave it out, or add its PDF.")
    return Record(
        id=front.id or own_id(name, title, text),
        title=title,
        text=text,
        kind="article",
        sections=sections,
        language=front.language_for(text),
        date=front.date,
        publication_types=front.publication_types,
        status=front.status,
        level=front.level,
    )


def read_body(body: Any) -> tuple[str, tuple[Section, ...]]:
    """The text and the sections of a ``body`` element, of an article or of a part of a book."""
    layout = Layout()
    _Article(layout).flow(body)
    return layout.finish()


class _Article(Markup):
    blocks: ClassVar = frozenset(BLOCKS)
    dropped: ClassVar = frozenset(DROPPED)
    spaced: ClassVar = Markup.spaced | {"disp-formula"}
    floating: ClassVar = frozenset({*CAPTIONED, "fn"})

    def whole(self, article: Any) -> None:
        """Abstracts, body, what of the back matter is content, floats, and articles within the article."""
        for abstract in article.iterfind("front/article-meta/*"):
            if abstract.tag in ("abstract", "trans-abstract"):
                self._titled(abstract, ABSTRACT)
        self._matter(article)

    def _matter(self, article: Any) -> None:
        for child in article:
            if child.tag == "body" or child.tag == "floats-wrap":
                self.flow(child)
            elif child.tag == "floats-group":
                self._titled(child, FLOATS)
            elif child.tag == "back":
                for part in child.iterchildren(*BACK):
                    self.block(part)
            elif child.tag in ("sub-article", "response"):
                self._within(child)

    def block(self, element: Any) -> None:
        """A block by its kind."""
        if element.tag == "label" or (element.tag == "title" and element.getparent().tag in TITLED):
            return  # numbers of sections and items; `_titled` reads titles, `_captioned` the labels of its own
        if element.tag in TITLED:
            self._titled(element)
        elif element.tag in CAPTIONED:
            self._captioned(element)
        elif element.tag == "def-item":
            self._definition(element)
        else:
            super().block(element)

    def skipped(self, element: Any) -> bool:
        """Left out besides: a superscript of citation marks alone."""
        return super().skipped(element) or (element.tag == "sup" and _cites_only(element))

    def _titled(self, element: Any, otherwise: str = "") -> None:
        """Read an element below its own title; without one, below ``otherwise``, or where it stands."""
        outer = self.path
        found = element.find("title")
        own = "" if found is None else self.inline(found)
        head = () if not otherwise or own.lower().startswith(otherwise.lower()) else (otherwise,)
        self.path = (*outer, *head, *((own,) if own else ()))
        self.flow(element)
        self.path = outer

    def _captioned(self, element: Any) -> None:
        label, caption = element.find("label"), element.find("caption")
        parts = [] if label is None else [self.inline(label).rstrip(".:") + "."]
        parts += [] if caption is None else [self.inline(p) for p in caption if not self.skipped(p)]
        self.layout.paragraph(self.path, " ".join(parts))
        for child in element:
            if child is not caption and child is not label and not self.skipped(child):
                self.block(child)

    def _definition(self, element: Any) -> None:
        parts = [self.inline(child) for child in element if not self.skipped(child)]
        self.layout.paragraph(self.path, ": ".join(p for p in parts if p))

    def _within(self, article: Any) -> None:
        outer = self.path
        title = article.find(".//title-group/article-title")
        name = "" if title is None else self.inline(title)
        self.path = (*outer, name) if name else outer
        for abstract in article.iterfind("front-stub/abstract"):
            self._titled(abstract, ABSTRACT)
        self._matter(article)
        self.path = outer


def _cites_only(element: Any) -> bool:
    """Whether an element holds nothing but marks that point to references."""
    marks = element.findall("xref[@ref-type='bibr']")
    if not marks or len(marks) != len(element):
        return False
    return all(MARKS.fullmatch(t or "") for t in (element.text, *(m.tail for m in marks)))


# What stands before an article: ids, title, date, language, publication types, editorial status.


class Front(Frozen):
    """What the front matter tells. ``id`` is "" without a PMCID: a full text never takes the id of its abstract."""

    id: str
    title: str
    date: str
    language: str
    publication_types: tuple[str, ...]
    status: Status

    @property
    def level(self) -> str | None:
        """The level of evidence; None when no type tells."""
        return level_of(self.publication_types, self.title) if self.publication_types else None

    def language_for(self, text: str) -> str:
        """The language that the article names, else the text's own."""
        return self.language or language_of(text)


def read_front(article: Any) -> Front:
    """The front matter of an ``article`` element; what is missing is empty."""
    meta = article.find("front/article-meta")
    kind = (article.get("article-type") or "").lower()
    title = _title(meta)
    language = (article.get(LANGUAGE) or "").lower().split("-")[0]
    types = _types(kind, meta)
    return Front(
        id=_id(meta),
        title=_named(kind, title),
        date=_date(meta),
        language=language if language.isalpha() else "",
        publication_types=types,
        status=_status(kind, title, article, types),
    )


def _id(meta: Any) -> str:
    for element in [] if meta is None else meta.iterfind("article-id"):
        number = (element.text or "").strip().upper().removeprefix("PMC").split(".")[0]
        if element.get("pub-id-type") in ("pmc", "pmcid") and number.isdigit():
            return f"pmc:PMC{number}"
    return ""


def _title(meta: Any) -> str:
    group = None if meta is None else meta.find("title-group")
    if group is None:
        return ""
    reader = _Title(Layout())
    parts = [reader.inline(t) for t in group if t.tag in ("article-title", "subtitle")]
    return ": ".join(p for p in parts if p)


class _Title(Markup):
    dropped = frozenset({"xref", "fn", "tex-math", "annotation"})


def _named(kind: str, title: str) -> str:
    """The title; a notice may bear the very title of the article that it is about, so it is named as a notice."""
    notice = SAID["notices"].get(kind, "")
    known = ("retract", "correct", "errat", "corrigend", "concern", "withdraw", "addend")
    return title if not notice or any(word in title.lower() for word in known) else f"{notice}: {title}"


def _types(kind: str, meta: Any) -> tuple[str, ...]:
    subjects = [] if meta is None else meta.iterfind("article-categories/subj-group/subject")
    said = [kind, *(" ".join((s.text or "").lower().split()) for s in subjects)]
    return tuple(dict.fromkeys(SAID["types"][s] for s in said if s in SAID["types"]))


def _status(kind: str, title: str, article: Any, types: tuple[str, ...]) -> Status:
    said = {r.get("related-article-type") for r in article.iterfind("front/article-meta//related-article")}
    return status_of(
        types, [] if kind in SAID["notices"] else [SAID["forward"][s] for s in said if s in SAID["forward"]], title
    )


def _date(meta: Any) -> str:
    dates = {} if meta is None else {d.get("pub-type") or d.get("date-type"): d for d in meta.iterfind("pub-date")}
    for kind in (*DATES, None):
        iso = iso_of(dates[kind]) if kind in dates else ""
        if iso:
            return iso
    return ""


def iso_of(date: Any) -> str:
    """ISO, as precise as the element is."""
    year, month, day = ((date.findtext(part) or "").strip() for part in ("year", "month", "day"))
    if len(year) != 4 or not year.isdigit():
        return ""
    number = int(month) if month.isdigit() else MONTHS.get(month[:3].lower(), 0)
    return iso_date("-".join((year, str(number), day) if number and day.isdigit() else (year, str(number))))
