"""A PubMed record as a value: what it says, when, where and by whom, and what has been said of it since."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from pydantic import Field

from tools.evidence import Evidence, Found, Frozen, Origin, Status
from tools.literature.design import stated_design

# Level of evidence by PubMed's publication types, the first that fits; names of the levels are ours.
PROTOCOL = "study protocol"
LEVELS = (
    (PROTOCOL, {"Clinical Trial Protocol"}),
    ("guideline", {"Guideline", "Practice Guideline", "Consensus Development Conference"}),
    ("systematic review", {"Systematic Review"}),
    ("meta-analysis", {"Meta-Analysis", "Network Meta-Analysis"}),
    (
        "randomised trial",
        {"Randomized Controlled Trial", "Pragmatic Clinical Trial", "Equivalence Trial", "Adaptive Clinical Trial"},
    ),
    (
        "clinical trial",  # of any design: a phase alone does not tell that a trial was randomised
        {"Clinical Trial", "Controlled Clinical Trial"}
        | {f"Clinical Trial, Phase {phase}" for phase in ("I", "II", "III", "IV")},
    ),
    ("review", {"Review", "Scoping Review"}),
    ("observational study", {"Observational Study", "Twin Study"}),
    ("case report", {"Case Reports"}),
)
OTHER_LEVEL = "other"
# Types of what reports no study of its own: its abstract is not asked for a design; ours
OPINIONS = frozenset(("Letter", "Editorial", "Comment", "News", "Newspaper Article", "Lecture", "Address", "Interview"))
# ours: how a title names the design, where no type does (records that are not indexed have none); a protocol
# goes before any type, because it has no results
OF_PROTOCOL = re.compile(
    r"\b(?:study|trial|review) protocol\b|\bprotocol (?:for|of) an?\b|\brationale and design\b", re.I
)
BY_TITLE = (
    ("meta-analysis", re.compile(r"\bmeta-?analy(?:sis|ses)\b", re.I)),
    ("systematic review", re.compile(r"\bsystematic(?:ally)? (?:literature )?reviews?\b", re.I)),
    (
        "randomised trial",
        re.compile(r"\b(?<!non-)(?<!non)randomi[sz]ed\b.{0,60}\b(?:trial|study|comparison)\b|\bRCT\b", re.I),
    ),
    ("case report", re.compile(r"\b(?:case report|case series|a report of \w+ cases?)\b", re.I)),
    (
        "observational study",
        re.compile(
            r"\b(?:cohort|case-control|cross-sectional|population-based|registry|longitudinal|prospective|retrospective)"
            r"(?: [\w-]+){0,3} (?:study|analysis|survey|review|cohort)\b",
            re.I,
        ),
    ),
)

AUTHORS = 6  # authors that a reference names before "et al" (the Vancouver style of NLM)

# CoMeta reads the full text of type Review at depth 2; that these count as reviews too is ours.
REVIEWS = frozenset(
    {"Review", "Scoping Review", "Systematic Review", "Meta-Analysis", "Network Meta-Analysis"}
    | {"Guideline", "Practice Guideline", "Consensus Development Conference"}
)

NOTICES = frozenset({"Retraction of Publication", "Retraction Notice"})  # the type's older and newer name
# RefType of CommentsCorrections that say something about the record itself, the gravest first
STATUS_BY_REFERENCE = (
    (Status.RETRACTED, {"RetractionIn", "RetractedandRepublishedIn", "RetractedAndRepublishedIn"}),
    (Status.RETRACTION_NOTICE, {"RetractionOf", "PartialRetractionOf"}),
    (Status.CONCERN, {"ExpressionOfConcernIn", "ExpressionOfConcernFor", "PartialRetractionIn"}),
    (Status.CORRECTED, {"ErratumIn", "CorrectedandRepublishedIn", "CorrectedAndRepublishedIn", "UpdateIn"}),
)
# ours: publishers rename a title before PubMed sets the type, so the name alone is enough to be left out
RENAMED = re.compile(r"^\W*(?:retracted|withdrawn)(?:\s+(?:article|paper))?\s*[:.\]-]", re.IGNORECASE)


def level_of(publication_types: Sequence[str], title: str = "", abstract: str = "") -> str:
    """The level of evidence that publication types stand for, else that the title names, else that the abstract states
    of its own study."""
    if OF_PROTOCOL.search(title):
        return PROTOCOL
    types = set(publication_types)
    typed = next((level for level, names in LEVELS if types & names), "")
    named = typed or next((level for level, words in BY_TITLE if words.search(title)), "")
    return named or (stated_design(abstract) if types.isdisjoint(OPINIONS) else "") or OTHER_LEVEL


def is_review(publication_types: Sequence[str]) -> bool:
    """Whether the full text is read at depth 2."""
    return not REVIEWS.isdisjoint(publication_types)


def status_of(publication_types: Sequence[str], references: Sequence[str], title: str = "") -> Status:
    """The editorial status, the gravest that holds.

    Args:
        publication_types: as PubMed names them.
        references: RefType of every CommentsCorrections of the record.
        title: one that begins with RETRACTED or WITHDRAWN is believed.
    """
    types = set(publication_types)
    if "Retracted Publication" in types or RENAMED.match(title):
        return Status.RETRACTED
    preprint = "Preprint" in types
    for status, names in STATUS_BY_REFERENCE:
        if names & set(references) and not (preprint and status is Status.CORRECTED):
            return status
        if status is Status.RETRACTION_NOTICE and types & NOTICES:
            return status
    if "Expression of Concern" in types:
        return Status.CONCERN
    return Status.PREPRINT if preprint else Status.OK


# RefType of the entries that retract a record
NOTICE_TYPES = ("RetractionIn", "PartialRetractionIn", "RetractedandRepublishedIn", "RetractedAndRepublishedIn")


class Availability(StrEnum):
    """Whether a record has an abstract; ``withdrawn`` is one that only says that the article was withdrawn."""

    AVAILABLE = "available"
    NONE = "none"
    WITHDRAWN = "withdrawn"


class AbstractPart(Frozen):
    """A part of an abstract: ``abstract[start:end]`` is its text, the label left out.

    ``category`` is NLM's own reading of the label (``BACKGROUND``, ``METHODS``, ``RESULTS``, ...), "" when not given.
    """

    label: str
    category: str
    start: int
    end: int


class OtherAbstract(Frozen):
    """A further abstract: in plain language, in another language, or from another collection."""

    type: str
    language: str
    text: str


class Qualifier(Frozen):
    """A MeSH subheading."""

    name: str
    major: bool


class MeshHeading(Frozen):
    """A MeSH heading with its subheadings. ``major`` tells whether the heading itself is a main subject."""

    name: str
    id: str
    major: bool
    qualifiers: tuple[Qualifier, ...] = ()


class Author(Frozen):
    """An author as the record gives the name; ``collective`` is a group's name, the other fields are then empty."""

    last: str = ""
    fore: str = ""
    initials: str = ""
    suffix: str = ""
    collective: str = ""
    orcid: str = ""


class Correction(Frozen):
    """An entry of CommentsCorrections: how another publication bears on this one, or this one on it."""

    type: str
    pmid: str
    source: str


class Accession(Frozen):
    """An entry in a data bank, for example a trial's registration."""

    bank: str
    number: str


class Exclusion(Frozen):
    """A record that may not be used: its status, and who says so: PMIDs of the notices, else their source in words."""

    pmid: str
    title: str
    status: Status
    notices: tuple[str, ...] = ()


class Article(Frozen):
    """A PubMed record. ``abstract`` is the stored document: one line a part, with its label; "" when there is none.

    All dates are ISO, as precise as the record is, "" when it gives none.

    Attributes:
        pmid: the PMCID of an article that is known by that alone (`by_pmcid`).
        date, year: of publication. electronic: published online. entered: into PubMed. completed, revised: by NLM.
        history: every dated step of the record (received, accepted, entrez, pubmed, ...).
        language: the first one, in the contract's codes; languages: all, as PubMed codes them.
        level: level of evidence in words (`level_of`).
        corrections: CommentsCorrections as they are; a notice, a comment, or only a reference (``Cites``).
        issn_type: ``Print`` or ``Electronic``, as the record has it.
        version: of the PMID; above 1 for the few journals that publish in versions.
    """

    pmid: str
    title: str
    abstract: str
    publication_types: tuple[str, ...]
    status: Status
    level: str
    date: str
    year: int | None
    journal: str
    language: str
    version: int = Field(default=1, ge=1)
    book: bool = False
    vernacular_title: str = ""
    parts: tuple[AbstractPart, ...] = ()
    availability: Availability = Availability.AVAILABLE
    other_abstracts: tuple[OtherAbstract, ...] = ()
    copyright: str = ""
    electronic: str = ""
    entered: str = ""
    completed: str = ""
    revised: str = ""
    history: tuple[tuple[str, str], ...] = ()
    mesh: tuple[MeshHeading, ...] = ()
    supplementary: tuple[str, ...] = ()
    substances: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    iso_abbreviation: str = ""
    issn: str = ""
    issn_type: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    authors: tuple[Author, ...] = ()
    doi: str = ""
    pmcid: str = ""
    corrections: tuple[Correction, ...] = ()
    accessions: tuple[Accession, ...] = ()

    @property
    def exclusion(self) -> Exclusion | None:
        """Why the record may not be used as evidence, None when it may."""
        if self.status.usable:
            return None
        named = [c.pmid or c.source for c in self.corrections if c.type in NOTICE_TYPES]
        return Exclusion(pmid=self.pmid, title=self.title, status=self.status, notices=tuple(filter(None, named)))

    @property
    def reference(self) -> str:
        """How it is cited, in a line: authors, title, journal, year, volume, issue, pages and DOI, as far as known."""
        names = [a.collective or f"{a.last} {a.initials}".strip() for a in self.authors]
        by = ", ".join([*names[:AUTHORS], "et al"] if len(names) > AUTHORS else names)
        issue = f"({self.issue})" if self.issue else ""
        numbers = f";{self.volume}{issue}" if self.volume else ""
        when = f"{self.date[:4]}{numbers}{f':{self.pages}' if self.pages else ''}"
        parts = (by, self.title, self.iso_abbreviation or self.journal, when, f"doi:{self.doi}" if self.doi else "")
        return ". ".join(part.rstrip(".") for part in parts if part)

    @classmethod
    def by_pmcid(cls, piece: Evidence) -> Article:
        """The article of which a full text was read, as a passage of it (``pmc:PMC1@0-9``) tells."""
        pmcid = piece.document_id.removeprefix("pmc:")
        known = piece.model_dump(include={"title", "publication_types", "status", "language"})
        level, date = piece.level or OTHER_LEVEL, piece.date or ""
        return cls(pmid=pmcid, pmcid=pmcid, abstract="", level=level, date=date, year=None, journal="", **known)

    def evidence(self, found: Sequence[Found] = ()) -> Evidence:
        """The whole abstract as evidence; only for a record that has one."""
        return Evidence(
            id=f"pubmed:{self.pmid}@0-{len(self.abstract)}",
            text=self.abstract,
            title=self.title,
            kind="abstract",
            origin=Origin.RETRIEVED,
            publication_types=self.publication_types,
            level=self.level,
            status=self.status,
            date=self.date or None,
            language=self.language,
            reference=self.reference,
            found=tuple(found),
        )
