"""A PubMed record as a value: what it says, when, where and by whom, and what has been said of it since."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from pydantic import Field

from tools.evidence import Evidence, Found, Frozen, Origin, Status

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


# The design of a study as its own abstract states it, for a record whose publication types tell none.
#
# Only a plain statement on the study itself counts ("we randomly assigned 212 adults", "in this systematic review"):
# not that trials are needed, were done before, or were what a review summed up. In doubt nothing is told.

# All patterns are ours; the names of the designs are those of `tools.literature.article.LEVELS`.
LONGEST = 1_500  # ours, characters: what is longer is no sentence
LABEL = re.compile(r"^([A-Z][A-Z /&,'’()-]{2,60}):\s")
SENTENCE_END = re.compile(r"(?<=[.!?;])\s+(?=[A-Z0-9])")
NOT_OF_METHODS = re.compile(
    r"BACKGROUND|INTRODUCTION|CONTEXT|RATIONALE|CONCLUSION|DISCUSSION|INTERPRETATION|IMPLICATION|LIMITATION|COMMENT|KNOWN"
)
COCHRANE = (
    re.compile(r"^SELECTION CRITERIA:", re.M),
    re.compile(r"^(?:MAIN RESULTS|(?:AUTHORS?|REVIEWERS?)\W.*):", re.M),
)

CUE = re.compile(  # a sentence without any of these states no design: most are passed over by this
    r"random|systematic|meta-?analy|search|cochrane|cohort|case|cross-sectional|retrospective|observational|-controlled"
    r"|-blind|-arm\b|open-label|phase |year-old|month-old| will ",
    re.IGNORECASE,
)

WORDS = r"(?:\w[\w,/-]{0,30}\s){0,8}?"
DID = r"(?:conducted|performed|did|undertook|carried out|ran|designed|completed|report|reported|present)"
DONE = (
    r"(?:conducted|performed|done|undertaken|carried out|enrolled|included|treated|studied|compared|investigated"
    r"|evaluated|examined|assessed|tested|entered)"
)
PEOPLE = (
    r"(?:patients?|participants|subjects|volunteers|women|men|adults|children|infants|neonates|newborns|people"
    r"|individuals|adolescents|girls|boys|students|residents|veterans|smokers|mothers|couples|nurses|practices|clinics"
    r"|hospitals|villages|schools|clusters|households|wards|centres|centers|who)"
)
RANDOMISED = r"(?:(?!non)\w{1,20}-)?(?<!non)(?<!non-)(?<!un)randomi[sz]ed"
PART = r"(?:-\w{1,20})?(?:[\s,/]{1,3}\w[\w-]{0,30}){0,8}?[\s-]"


def _own(design: str) -> str:
    """A statement that a study is of a design: of this one, of what was done here, or at the head of a sentence."""
    return (
        rf"\b(?:this|our|(?:the )?(?:present|current))\s{WORDS}(?:was\san?\s{WORDS})?{design}"
        rf"|\bwe\s(?:\w+ly\s)?{DID}\s(?:the\s(?:first|results\sof)\s)?(?:an?\s|this\s)?{WORDS}{design}"
        rf"|\bwe\s[^.;]{{0,160}}?\b(?:in|using|by)\san?\s{WORDS}{design}"
        rf"|\b(?:was|were)\s(?:\w[\w-]{{0,20}}\s){{0,2}}?{DONE}\b[^.;]{{0,160}}?\b(?:in|as|using|by)\s(?:an?|this)\s{WORDS}{design}"
        rf"|\b(?:study|trial|it|this|investigation|design)\s(?:was|is|had|used|followed|employed)\s(?:an?|the)\s{WORDS}{design}"
        rf"|\b(?:an?|the)\s{WORDS}{design}\b[^.;]{{0,100}}?\s(?:was|were)\s(?:\w[\w-]{{0,20}}\s){{0,2}}?"
        r"(?:conducted|performed|done|undertaken|carried out)\b"
        rf"|^\W*(?:(?:in|using|by)\s)?(?:an?\s)?{WORDS}{design}"
    )


class Design(NamedTuple):
    """How a design is stated: what says it, what in the same sentence says that it is not the study's own."""

    level: str
    states: re.Pattern[str]
    denies: re.Pattern[str]


# Of other work, of work to come, or of none.
ELSEWHERE = (
    r"\b(?:future|further|additional|ongoing|awaited|needed|warranted|recommended|lacking|scarce|protocol|planned"
    r"|will be|would be|should|may be|could be"
    r"|not (?:been )?(?:possible|performed|done|available|feasible))\b"
    r"|\b(?:previous|prior|earlier|recent|published|larger?|another|other|no|few|several|one)\s(?:\w[\w,-]{0,20}\s){0,5}?"
    r"(?:trial|study|studies|review|meta-analys[ei]s|cohort)\b"
    r"|\b(?:has|have) (?:been )?(?:shown|suggested|demonstrated|reported|found|indicated)\b"
    r"|\b(?:showed|suggested|demonstrated|reported|found|indicated) that\b|\bet al\b"
    r"|^\W*(?:there|although|because|since|if|unlike|despite|while|until|no|only|one|most|such|data|results)\b"
)
ANIMALS = (
    r"\b(?:rats?|mice|mouse|rabbits?|dogs?|pigs?|piglets?|sheep|lambs?|cows?|calves|cattle|horses?|cats|monkeys|hens"
    r"|broilers|chicks|hamsters|guinea|in vitro|specimens?|teeth|molars|cadaver\w*|plots?|samples)\b"
)
OF_MANY = r"\b(?:trials|studies|reviews?|reviewed|meta-analy\w+|pooled|databases?|searched|mendelian)\b"
OF_DATA = (
    r"\b(?:secondary|post[- ]hoc|ancillary|exploratory|retrospective(?:ly)?) (?:\w+ )?analy|\bsub-?study\b"
    r"|\bdata (?:from|of)\b"
)
PLANNED = re.compile(rf"\b(?:{PEOPLE}|we|study|trial|outcomes?)\swill\s", re.IGNORECASE)  # a protocol has no results
DATABASES = re.compile(
    r"\b(?:medline|pubmed|embase|cochrane|central|cinahl|web of science|scopus|psycinfo|lilacs|amed)\b", re.IGNORECASE
)
SEARCHED = re.compile(r"\bsearch(?:ed|es)?\b", re.IGNORECASE)


def _design(level: str, states: str, denies: str) -> Design:
    return Design(level, re.compile(states, re.IGNORECASE), re.compile(denies, re.IGNORECASE))


META = r"meta-?analys[ei]s\b(?! of (?:previous|prior))"
SYSTEMATIC = r"(?:systematic(?:\s\w+)?\sreview|systematic\s(?:literature\s)?search|cochrane\sreview)\b"
GUIDANCE = r"|\b(?:guidelines?|consensus)\b"
CONTROLLED = (
    r"(?:placebo-controlled|double-blind(?:ed)?|single-arm|non-?randomi[sz]ed|open-label|phase\s(?:i{1,3}v?|[1-4])[ab]?"
    rf"(?:/(?:i{{1,3}}|[1-4])[ab]?)?){PART}?(?:trial|study)\b"
)
OBSERVED = (
    r"(?:cohort study|case-control study|cross-sectional (?:study|survey)|observational study"
    r"|retrospective (?:\w[\w-]{0,20} ){0,3}?(?:study|review|analysis))\b"
)
DESIGNS = (
    _design("meta-analysis", rf"{_own(META)}|\bwe meta-analy[sz]ed\b", ELSEWHERE + GUIDANCE),
    _design(
        "systematic review", rf"{_own(SYSTEMATIC)}|\bwe systematically (?:searched|reviewed)\b", ELSEWHERE + GUIDANCE
    ),
    _design(
        "randomised trial",
        rf"{_own(RANDOMISED + PART + r'(?:trial|study|design|comparison|experiment)')}",
        f"{ELSEWHERE}|{ANIMALS}|{OF_MANY}|{OF_DATA}",
    ),
    _design(
        "randomised trial",
        rf"\b{PEOPLE}\b[^.;]{{0,120}}?\b(?:was|were)\s(?:\w[\w-]{{0,20}}\s){{0,2}}?"
        rf"(?:randomly\s(?:assigned|allocated|divided)|{RANDOMISED})\b"
        r"|\bwe\s(?:then\s)?(?:randomly\s(?:assigned|allocated)|randomi[sz]ed)\b"
        rf"|\b{PEOPLE}\b[^.;]{{0,60}}?\srandomly\s(?:assigned|allocated)\s(?:in|to)\b"
        rf"|\b{PEOPLE}\b[^.;]{{0,60}}?\b(?:received|took|given|underwent)\b[^.;]{{0,100}}?\bin\s(?:an?\s)?random(?:i[sz]ed)?\s"
        r"(?:order|sequence)\b",
        f"{ANIMALS}|{OF_MANY}|{OF_DATA}"
        r"|\b(?:will|would|should|can|could|must) (?:then )?be\b"
        r"|\b(?:not|never|had been|have been|has been) randomi[sz]ed|\bnot randomly\b"
        r"|\bprevious (?:\w+ )?trial\b|\bet al\b",
    ),
    _design(
        "case report",
        r"\bwe (?:report|describe|present)(?: here| herein)? (?:on )?(?:an?|the|one|two|three) (?:\w[\w-]{0,20} ){0,3}?"
        r"(?:cases?\b|\d{1,2}[- ](?:year|month|week|day)s?[- ]old)"
        r"|\b(?:an?|the|one) case (?:of [^.;]{3,80}? )?is (?:reported|described|presented)\b",
        r"\bcase(?:-control| series of \d{2,})|\bcontrols\b",
    ),
    _design("clinical trial", _own(CONTROLLED), f"{ELSEWHERE}|{ANIMALS}|{OF_MANY}|{OF_DATA}"),
    _design(
        "observational study",
        rf"{_own(OBSERVED)}|\bwe retrospectively (?:reviewed|analy[sz]ed|evaluated|studied|identified)\b"
        r"|\bwere retrospectively (?:reviewed|analy[sz]ed|evaluated|studied)\b",
        rf"{ELSEWHERE}|{ANIMALS}|\b(?:studies|reviews|meta-analy\w+|trials|searched)\b",
    ),
)


def stated_design(abstract: str) -> str:
    """The level of evidence of the design that an abstract states of its own study; "" where it states none."""
    if all(part.search(abstract) for part in COCHRANE):
        return "systematic review"
    told = list(_own_sentences(abstract))
    if any(map(PLANNED.search, told)):
        return ""
    for design in DESIGNS:
        if any(design.states.search(text) and not design.denies.search(text) for text in told):
            return design.level
        if design.level == "systematic review" and any(map(_searches, told)):
            return design.level
    return ""


def _searches(text: str) -> bool:
    """Whether a sentence says that two databases or more were searched."""
    return SEARCHED.search(text) is not None and len({m[0].lower() for m in DATABASES.finditer(text)}) > 1


def _own_sentences(abstract: str) -> Iterator[str]:
    """The sentences of an abstract that may state its methods, without the labels of its parts."""
    for line in abstract.split("\n"):
        label = LABEL.match(line)
        if label is not None and NOT_OF_METHODS.search(label[1]):
            continue
        text = line[label.end() :] if label is not None else line
        yield from (s for s in SENTENCE_END.split(text) if len(s) <= LONGEST and CUE.search(s))
