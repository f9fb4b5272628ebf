"""The readers of published texts, and below them the catalogue of open sources with the reader of each.

Pages for patients and clinicians (MedlinePlus, MedQuAD, LiverTox), and what curators wrote. Sources of the formats:
NLM's description of the health topic XML; MedQuAD's released files; for LiverTox the JATS and BITS tags of NCBI's
archive, by documentation alone. Labels of medicines have their reader in `labels.py`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field

from prompts.errors import DataError, InputError
from tools.evidence import Frozen
from tools.knowledge.labels import LabelReader
from tools.readers.contract import Problem, Reader, Record, Section
from tools.readers.files import decode, name_of, problem, read_bytes
from tools.readers.jats import iso_of, parse_jats, read_body
from tools.readers.layout import Layout
from tools.readers.normal import iso_date, one_line, slug
from tools.readers.webpage import lay_out, parse_html
from tools.yaml_files import read_yaml

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


# What curators wrote of diseases: Monarch's disorder files (YAML) with their quotations, ontologies in OBO.

LEFT_OUT = frozenset({"datasets", "references", "history", "mappings", "clinical_trials", "computational_models"})
SUPPORTS = ("SUPPORT", "PARTIAL")  # what a quotation does for its statement; others are left out
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
JOINED = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")  # has_symptom: relations in definitions are written in words
RELEASE = re.compile(r"\d{4}-\d\d-\d\d")
XREFS = ("ICD10CM", "ICD11", "MESH", "UMLS_CUI", "ORDO", "OMIM")


class DisorderReader:
    """Reads a disorder of Monarch's dismech: each list of named statements is a section, each with its quotations."""

    suffixes = (".yaml", ".yml")

    def read(self, path: Path) -> Iterator[Record | Problem]:
        """One record; a file of another kind is a problem."""
        try:
            text = decode(read_bytes(path))
            found = yaml.load(text, yaml.CSafeLoader)
            if not isinstance(found, dict) or not found.get("name"):
                raise DataError("The YAML is no disorder: it has no name.", "Give files of kb/disorders.")
            yield _disorder(found, name_of(path))
        except (yaml.YAMLError, ValueError) as error:  # a date that no calendar has is the latter
            what = " ".join(str(error).split())[:120]
            yield Problem(where="", what=f"The YAML is damaged or cut off: {what}.", advice="Fetch it anew.")
        except DataError as error:
            yield problem(error)


def _disorder(found: Mapping[str, Any], name: str) -> Record | Problem:
    layout = Layout()
    layout.paragraph(("Description",), _said(found.get("description")))
    for key, rows in found.items():
        if isinstance(rows, list) and key not in LEFT_OUT:
            for row in rows:
                if isinstance(row, dict) and row.get("name"):
                    layout.paragraph((key.replace("_", " ").capitalize(),), _statement(row))
    text, sections = layout.finish()
    if not text:
        return Problem(where=name, what="The disorder has no statement.", advice="Leave it out.")
    named = found.get("disease_term")
    term = named.get("term") if isinstance(named, dict) else None
    return Record(
        id=f"disorder:{slug(name)}",
        title=_said(found["name"]) or name,
        text=text,
        kind="disorder",
        sections=sections,
        date=iso_date(found.get("updated_date") or found.get("creation_date")),
        source=_said(term.get("id")) if isinstance(term, dict) else "",
    )


def _statement(row: Mapping[str, Any]) -> str:
    often = _said(row.get("frequency")).replace("_", " ").lower()
    said = _said(row.get("description")) or _said(row.get("notes"))
    parts = [f"{_said(row['name'])}{f' ({often})' if often else ''}{f': {said}' if said else ''}"]
    stated = [e for e in row.get("evidence") or () if isinstance(e, dict) and e.get("supports") in SUPPORTS]
    # the reference stands first, so that no sentence is parted from it
    parts += [f"{_said(e.get('reference'))}: “{said}”" for e in stated if (said := _said(e.get("snippet")))]
    return " ".join(part if part.endswith((".", "”")) else f"{part}." for part in parts)


def _said(value: object) -> str:
    """A text on one line; "" for anything else, which aliases could make endless."""
    return one_line(value) if isinstance(value, str) else ""


class OboReader:
    """Reads an ontology in OBO 1.2 or 1.4 (Disease Ontology, Symptom Ontology): a record a term that is in use."""

    suffixes = (".obo", ".obo.gz")

    def read(self, path: Path) -> Iterator[Record | Problem]:
        """The terms; a file without any, or one that ends within a term, is a problem."""
        try:
            text = decode(read_bytes(path))
            head, *stanzas = re.split(r"^\[", text, flags=re.MULTILINE)
            release = RELEASE.search(head.partition("data-version:")[2].partition("\n")[0])
            terms = [s for s in stanzas if s.startswith("Term]")]
            if not terms or "format-version:" not in head:
                raise DataError("The file holds no term in OBO.", "Give the .obo file as it is published.")
            if not text.endswith("\n"):
                raise DataError("The file ends within a line: it is cut off.", "Fetch it anew.")
            for stanza in terms:
                found = _term(stanza, release[0] if release else "")
                if found is not None:
                    yield found
        except DataError as error:
            yield problem(error)


def _term(stanza: str, date: str) -> Record | Problem | None:
    tags: dict[str, list[str]] = {}
    for line in stanza.splitlines()[1:]:
        tag, colon, value = line.partition(": ")
        if colon:
            tags.setdefault(tag, []).append(value)
    if tags.get("is_obsolete") == ["true"]:
        return None
    code, name = (tags.get(tag, [""])[0] for tag in ("id", "name"))
    if not code or not name:
        return Problem(where=code or "term", what="The term has no id or no name.", advice="Fetch the file anew.")
    defined = QUOTED.match(tags.get("def", [""])[0])
    also = [m[1] for s in tags.get("synonym", ()) if " EXACT " in s and (m := QUOTED.match(s))]
    kinds = [parent.partition("! ")[2].partition(" {")[0] for parent in tags.get("is_a", ()) if "! " in parent]
    codes = [x.partition(" ")[0] for x in tags.get("xref", ()) if x.startswith(XREFS)]
    layout = Layout()
    if defined:
        layout.paragraph((), JOINED.sub(lambda m: m[0].replace("_", " "), defined[1].replace("\\", "")))
    for lead, values in (("Also called", also), ("A kind of", kinds), ("Codes", codes)):
        if values:
            layout.paragraph((), f"{lead}: {', '.join(values)}.")
    text, sections = layout.finish()
    if not text:
        return None
    return Record(
        id=f"term:{slug(code)}", title=one_line(name), text=text, kind="term", sections=sections, date=date, source=code
    )


CATALOGUE = Path(__file__).with_name("catalogue.yaml")
READERS: dict[str, Reader] = {
    "labels": LabelReader(),
    "medlineplus": MedlinePlusReader(),
    "medquad": MedQuadReader(),
    "livertox": LiverToxReader(),
    "guidelines": GuidelineReader(),
    "disorders": DisorderReader(),
    "obo": OboReader(),
}


class Listing(Frozen):
    """A page of the publisher's, and the pattern by which the addresses of files are found in it; ``newest``: the last
    in order alone, because their names are dates."""

    address: str
    pattern: str
    newest: bool = False


class Entry(Frozen):
    """A source.

    Attributes:
        licence: shown with every citation. terms: where the publisher states it. renewed: how often it changes.
        reader: of `READERS`. addresses, listing: how it is downloaded; with neither it is the user's own files.
        level, dated: what its documents are, and of when, where the reader does not say.
        caution: told when it is added and shown.
        held_by: folders of evaluation data that hold the same texts, so that evaluations on these leave it out.
        tried: on what its reader was tried.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,20}$")
    title: str
    publisher: str
    licence: str
    terms: str
    renewed: str
    size: str
    good_for: str
    reader: str
    addresses: tuple[str, ...] = ()
    listing: Listing | None = None
    level: str | None = None
    dated: str = ""
    caution: str = ""
    held_by: tuple[str, ...] = ()
    tried: str

    @property
    def downloadable(self) -> bool:
        """Whether the catalogue knows an address of it."""
        return bool(self.addresses or self.listing)


@lru_cache(maxsize=1)
def catalogue() -> dict[str, Entry]:
    """The sources by name."""
    return {entry.name: entry for entry in (Entry.model_validate(row) for row in read_yaml(CATALOGUE))}


def entry_of(name: str) -> Entry:
    """A source by its name; raises InputError for one that the catalogue does not have."""
    known = catalogue()
    if name not in known:
        raise InputError(f"There is no source {name}.", f"These are known: {', '.join(known)}.")
    return known[name]
