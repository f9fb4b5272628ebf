"""What of a record can be found: the words of its columns, and the keys of its exact fields.

Columns follow PubMed's fields (User Guide, "Search field tags"): Title/Abstract is title, abstract and keywords; Text
Word adds MeSH headings, subheadings and publication types; All Fields adds journal, authors, language and identifiers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tools.mirror.records import MeshHeading, MirrorRecord
from tools.mirror.syntax import Field, number
from tools.mirror.words import key, words

COLUMNS = ("title", "abstract", "keywords", "subjects", "rest")
COLUMNS_OF = {
    Field.TITLE: COLUMNS[:1],
    Field.ABSTRACT: COLUMNS[1:2],
    Field.KEYWORD: COLUMNS[2:3],
    Field.TITLE_ABSTRACT: COLUMNS[:3],
    Field.TEXT: COLUMNS[:4],
    Field.ALL: COLUMNS,
}
# Stands between keywords, headings, names: no word of a query, so that no phrase runs from one into the next
GAP = "¶"
MEDLINE, IN_PMC, ABSTRACT = "medline", "pubmed pmc", "hasabstract"
# Citation statuses and what finds them (User Guide, "Citation Status Subsets")
SUBSETS = {"medline": MEDLINE, "pubmed-not-medline": "pubmednotmedline", "publisher": "publisher"}
SUBSETS |= dict.fromkeys(("in-process", "in-data-review"), "inprocess")
PREFIXES = {field: f"{field.name.lower()}:" for field in Field}
EVERYTHING = "all"
HELD_SUBSETS = frozenset({EVERYTHING, IN_PMC, ABSTRACT, *SUBSETS.values()})


@dataclass(frozen=True, slots=True)
class Entry:
    """A record ready for the index.

    Attributes:
        columns: the words of each of COLUMNS.
        keys: ``mesh:asthma``, ``type:review``, ...; see `prefix`.
        headings: the names of MeSH headings and publication types, for translations.
        published, entered: dates as YYYYMMDD, 0 when unknown.
    """

    record: MirrorRecord
    columns: tuple[list[str], ...]
    keys: frozenset[str]
    headings: tuple[str, ...]
    published: int
    entered: int


def prefix(field: Field) -> str:
    """What the keys of a field begin with."""
    return PREFIXES[field]


def entry(record: MirrorRecord) -> Entry:
    """Prepare a record for the index."""
    subjects = [h.name for h in record.mesh] + [s for h in record.mesh for s in h.subheadings]
    rest = [record.journal, record.journal_short, *record.authors, *record.languages, record.doi, record.pmcid]
    return Entry(
        record=record,
        columns=(
            words(record.title),
            words(record.abstract),
            _listed(record.keywords),
            _listed([*subjects, *record.publication_types]),
            _listed([*rest, *record.issns, record.pmid]),
        ),
        keys=frozenset(_keys(record)),
        headings=tuple(h.name for h in record.mesh),
        published=number(record.date),
        entered=number(record.entered),
    )


def heading_key(text: str) -> str:
    """The key of a heading with or without a subheading: ``neoplasms/diet therapy``."""
    heading, slash, subheading = text.partition("/")
    return f"{key(heading)}/{key(subheading)}" if slash else key(heading)


def _listed(texts: Iterable[str]) -> list[str]:
    found: list[str] = []
    for text in texts:
        if text:
            found += [*words(text), GAP]
    return found


def _keys(record: MirrorRecord) -> Iterable[str]:
    for heading in record.mesh:
        yield from _heading_keys(heading)
    yield from (f"{prefix(Field.TYPE)}{key(t)}" for t in record.publication_types)
    yield from (f"{prefix(Field.LANGUAGE)}{key(language)}" for language in record.languages)
    yield from (f"{prefix(Field.AUTHOR)}{key(a)}" for a in record.authors)
    journal = (record.journal, record.journal_short, *record.issns)
    yield from (f"{prefix(Field.JOURNAL)}{key(name)}" for name in journal if name)
    identifiers = (" ".join(i.lower().split()) for i in (record.doi, record.pmcid))
    yield from (f"{prefix(Field.IDENTIFIER)}{i}" for i in identifiers if i)
    yield from (f"{prefix(Field.SUBSET)}{name}" for name in _subsets(record))


def _heading_keys(heading: MeshHeading) -> Iterable[str]:
    name = key(heading.name)
    mesh, major = prefix(Field.MESH), prefix(Field.MAJOR)
    yield f"{mesh}{name}"
    if heading.major or heading.major_subheadings:
        yield f"{major}{name}"
    for subheading in heading.subheadings:
        yield f"{mesh}{name}/{key(subheading)}"
        if subheading in heading.major_subheadings:
            yield f"{major}{name}/{key(subheading)}"


def _subsets(record: MirrorRecord) -> Iterable[str]:
    if record.indexing.lower() in SUBSETS:
        yield SUBSETS[record.indexing.lower()]
    if record.pmcid:
        yield IN_PMC
    if record.abstract:
        yield ABSTRACT
