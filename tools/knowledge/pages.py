"""Pages written for patients and clinicians: MedlinePlus topics, MedQuAD's answers, chapters of LiverTox.

Sources of the formats: NLM's description of the health topic XML; MedQuAD's released files; for LiverTox the JATS and
BITS tags of NCBI's archive, by documentation alone.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prompts.errors import DataError
from tools.readers.contract import Problem, Record, Section
from tools.readers.files import name_of, problem, read_bytes
from tools.readers.jats import iso_of, parse_jats, read_body
from tools.readers.layout import Layout
from tools.readers.normal import iso_date, one_line, slug
from tools.readers.webpage import lay_out, parse_html

LIKELIHOOD = "Likelihood score"


class XmlFileReader(ABC):
    """Reads an XML file of a root that it knows, whole; any other is a problem of the file."""

    suffixes: tuple[str, ...] = (".xml", ".xml.gz")
    roots: frozenset[str]
    publisher: str

    def read(self, path: Path) -> Iterator[Record | Problem]:
        """The records of a file."""
        try:
            root = parse_jats(read_bytes(path))
            if root.tag not in self.roots:
                what = f"The XML has the root {root.tag}, and is none of {self.publisher}'s."
                raise DataError(what, f"Its files have the root {' or '.join(sorted(self.roots))}.")
            yield from self.records(root, name_of(path))
        except DataError as error:
            yield problem(error)

    @abstractmethod
    def records(self, root: Any, name: str) -> Iterator[Record | Problem]:
        """The records below a root element of the file of this name."""


class MedlinePlusReader(XmlFileReader):
    """Reads ``mplus_topics_*.xml``: the summary of each English topic; the links to other sites are left out."""

    roots = frozenset({"health-topics"})
    publisher = "MedlinePlus"

    def records(self, root: Any, name: str) -> Iterator[Record | Problem]:
        """A record a topic."""
        del name
        month, _, rest = (root.get("date-generated") or "").partition("/")
        date = iso_date(f"{rest[3:7]}-{month}-{rest[:2]}")
        for topic in root.iterchildren("health-topic"):
            title = one_line(topic.get("title") or "")
            if (topic.get("language") or "English") != "English":
                continue  # the starter library and its encoder are English; the catalogue says so
            summary = topic.findtext("full-summary") or ""
            text, sections = _summary(summary, title)
            if not text or not title:
                yield Problem(where=title or "topic", what="The topic has no summary.", advice="Nothing is to be done.")
                continue
            called = [one_line(c.text or "") for c in topic.iterchildren("also-called")]
            if called:
                more, last = f"\n\nAlso called: {', '.join(called)}.", sections[len(sections) - 1]
                sections = (*sections[:-1], last.model_copy(update={"end": last.end + len(more)}))
                text += more
            yield Record(
                id=f"page:{slug(' '.join((topic.get('id') or '', title)))}",
                title=title,
                text=text,
                kind="page",
                sections=sections,
                date=date,
                source=topic.get("url") or "",
            )


def _summary(html: str, title: str) -> tuple[str, tuple[Section, ...]]:
    return lay_out(parse_html(f"<div>{html}</div>"), title) if html.strip() else ("", ())


class MedQuadReader(XmlFileReader):
    """Reads a document of MedQuAD: each question with its answer is a section."""

    roots = frozenset({"Document", "DiseaseFile"})  # one released file has the second
    publisher = "MedQuAD"

    def records(self, root: Any, name: str) -> Iterator[Record | Problem]:
        """One record, or the problem that its answers were taken out for their copyright."""
        focus, place = one_line(root.findtext("Focus") or ""), root.get("source") or ""
        layout = Layout()
        for pair in root.iterfind("QAPairs/QAPair"):
            question = one_line(pair.findtext("Question") or "")
            for line in (pair.findtext("Answer") or "").split("\n"):
                layout.paragraph((question,) if question else (), line)
        text, sections = layout.finish()
        if not text or not focus:
            advice = "MedQuAD leaves out answers whose copyright is another's."
            yield Problem(where=f"{place} {name}".strip(), what="It holds no answer.", advice=advice)
            return
        yield Record(
            id=f"page:{slug(f'{place} {name}')}",
            title=focus,
            text=text,
            kind="page",
            sections=sections,
            source=", ".join(filter(None, (place, root.get("url")))),
        )


class LiverToxReader(XmlFileReader):
    """Reads a chapter of LiverTox (NCBI Bookshelf's NXML), one file a medicine. Not tried on a real file."""

    suffixes = (".nxml", ".xml")
    roots = frozenset({"book-part", "book-part-wrapper", "book", "article"})
    publisher = "NCBI Bookshelf"

    def records(self, root: Any, name: str) -> Iterator[Record | Problem]:
        """One record; the likelihood score stands in its text, and in its level where the text states it."""
        body = root.find(".//body")
        titles = [found for tag in ("title", "article-title") for found in root.iterfind(f".//title-group/{tag}")]
        title = one_line("".join(titles[0].itertext())) if titles else name.replace("_", " ")
        text, sections = read_body(body) if body is not None else ("", ())
        if not text:
            yield Problem(where=name, what="The chapter has no text.", advice="Fetch it anew.")
            return
        dates = sorted(
            filter(None, map(iso_of, [*root.iterfind(".//pub-history//date"), *root.iterfind(".//pub-date")]))
        )
        score = text.partition(f"{LIKELIHOOD}:")[2].strip()[:2].strip(" (.")
        yield Record(
            id=f"page:{slug(name)}",
            title=f"{title}: effects on the liver",
            text=text,
            kind="page",
            sections=sections,
            date=dates[-1] if dates else "",
            level=f"review of liver injury by a medicine{f', likelihood score {score}' if score else ''}",
        )


# Summaries of the National Guideline Clearinghouse: recommendations with their rating, their date and its caution.
# The clearinghouse was closed in July 2018 and nothing of it was renewed since: every summary counts as past its
# review, so that an answer which cites one says so.

CLOSED = "2018-07-16"  # AHRQ's last day of the clearinghouse
KEPT = {  # field of a summary: heading here; the order is that of a document here
    "Major Recommendations": "Recommendations",
    "Rating Scheme for the Strength of the Recommendations": "Strength of recommendations",
    "Rating Scheme for the Strength of the Evidence": "Strength of evidence",
    "Contraindications": "Contraindications",
    "FDA Warning/Regulatory Alert": "Regulatory alert",
    "Potential Benefits": "Potential benefits",
    "Potential Harms": "Potential harms",
    "Disease/Condition(s)": "Conditions",
    "Target Population": "Target population",
    "Interventions and Practices Considered": "Interventions considered",
    "Qualifying Statements": "Qualifying statements",
    "Guideline Status": "Status when the clearinghouse was closed (2018)",
    "Bibliographic Source(s)": "Bibliographic source",
}
NOTHING = re.compile(r"(?:not (?:applicable|stated)|none (?:stated|provided|available))\.?", re.IGNORECASE)
REPLACED = re.compile(r"\b(?:superseded|withdrawn|has been (?:updated|replaced))\b", re.IGNORECASE)
YEAR = re.compile(r"\b(?:19|20)\d\d\b")
MONTHS = {name: n for n, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), start=1)}
LONGEST = 160  # ours: characters of a copyright statement that stand with a citation


class GuidelineReader(XmlFileReader):
    """Reads a summary (root ``Version``)."""

    roots = frozenset({"Version"})
    publisher = "the clearinghouse"

    def records(self, root: Any, name: str) -> Iterator[Record | Problem]:
        """One record, or the problem that the file is a stub."""
        held = {str(f.get("Name")): f for f in root.iter("Field")}
        title = _plain(held.get("Guideline Title"))
        if "Major Recommendations" not in held or not title:
            advice = "The clearinghouse kept many numbers without a summary."
            yield Problem(where=name, what="The file holds no recommendations.", advice=advice)
            return
        layout = Layout()
        for field, heading in KEPT.items():
            for path, line in _lines(held.get(field)):
                layout.paragraph((heading, *path), line)
        text, sections = layout.finish()
        released = _plain(held.get("Date Released"))
        date = _date(released)
        status = "; replaced or withdrawn" if REPLACED.search(_plain(held.get("Guideline Status"))) else ""
        yield Record(
            id=f"guideline:{slug(name)}",
            title=title.rstrip("."),
            text=text,
            kind="guideline",
            sections=sections,
            date=date,
            review_by=CLOSED,
            level=f"guideline summary, {released or 'undated'}{status}; may be superseded",
            source=_plain(held.get("Guideline Developer(s)")).split(" - ")[0],
            licence=_plain(held.get("Copyright Statement"))[:LONGEST],
        )


def _lines(field: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    """The paragraphs of a field's values, which are escaped HTML, below their headings."""
    for value in () if field is None else field.iter("FieldValue"):
        html = value.get("Value") or ""
        if not html.strip():
            continue
        text, sections = lay_out(parse_html(f"<div>{html}</div>"))
        for section in sections:
            for line in text[section.start : section.end].split("\n"):
                if not NOTHING.fullmatch(line.strip()):
                    yield (section.title,) if section.title else (), line


def _plain(field: Any) -> str:
    return one_line(" ".join(line for _, line in _lines(field)))


def _date(released: str) -> str:
    """ISO of the latest date in ``2002 Jun (revised 2013 Jun)``; "" where there is none."""
    found = list(YEAR.finditer(released))
    if not found:
        return ""
    last = max(found, key=lambda m: m[0])
    month = MONTHS.get(released[last.end() :].strip()[:3].title(), 0)
    return iso_date(f"{last[0]}-{month:02}" if month else last[0])
