"""A reference: what is known of a publication or a document. A field that no record gives stays empty."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from tools.evidence import Evidence, EvidenceId, Frozen, Origin, Status
from tools.literature.article import Article, Author, MeshHeading

STARTER = "Anamnesis starter library"
LACKING = "Authors, journal and DOI may be lacking."
NOT_HELD = "PubMed's record of it is not kept here any more; complete it by its number."
PREPRINT = "Preprint"  # the publication type
TITLE = 80  # ours: characters of a text without a title that name it
# collections of what nobody published -> what a reference to it says of that
NATURES = {
    "graph": "Entry of a knowledge graph, not a publication",
    "rare": "Entry on a rare disease, not a publication",
    "record": "Record of a collection of cases, not a publication",
    "calculation": "Calculated from what was told, not a publication",
    "given": "Given by whoever asked, not assessed",
}
ENTRIES = ("graph", "rare", "record")  # those whose pieces are entries of a whole
NO_REFERENCE = {"generated": "generated texts", "case": "parts of the case"}  # what has no reference -> its words


class Reference(Frozen):
    """A reference.

    Attributes:
        id: id of the document (``pubmed:12345678``).
        kind: ``document`` is what is neither an article nor a book: a monograph of the library, a user's file, a label;
            ``entry`` is of a knowledge graph or a collection of records.
        date: of publication, or when a document was written: ISO, as precise as known.
        container: the journal, or the book or graph that it stands in. short: the journal's ISO abbreviation.
        vernacular: the title in the publication's own language, where ``title`` is a translation.
        abstract: one line a part, with its label.
        issn_type: ``Print`` or ``Electronic``.
        types: publication types, as PubMed names them.
        keywords: the authors'; MeSH headings are NLM's.
        source, licence: the published set that an imported document belongs to, and its terms.
        nature: what it is, where nobody published it.
        review: whether a clinician reviewed it, where its collection says so.
        lacking: which fields a publication may lack here, and why; "" where its record was at hand.
    """

    id: str
    kind: Literal["article", "book", "document", "entry"]
    title: str = ""
    vernacular: str = ""
    abstract: str = ""
    authors: tuple[Author, ...] = ()
    container: str = ""
    short: str = ""
    issn: str = ""
    issn_type: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    date: str = ""
    languages: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    mesh: tuple[MeshHeading, ...] = ()
    keywords: tuple[str, ...] = ()
    status: Status = Status.OK
    doi: str = ""
    pmid: str = ""
    pmcid: str = ""
    source: str = ""
    licence: str = ""
    nature: str = ""
    review: str = ""
    lacking: str = ""

    @property
    def url(self) -> str:
        """Where PubMed or PubMed Central shows it; "" for anything else."""
        if self.pmid:
            return f"https://pubmed.ncbi.nlm.nih.gov/{self.pmid}/"
        return f"https://pmc.ncbi.nlm.nih.gov/articles/{self.pmcid}/" if self.pmcid else ""

    @property
    def preprint(self) -> bool:
        """Whether it is an article that no journal has published."""
        return self.kind == "article" and (self.status is Status.PREPRINT or PREPRINT in self.types)

    @property
    def subjects(self) -> tuple[str, ...]:
        """MeSH headings with their subheadings, the authors' keywords, and the publication types, each once."""
        headings = ("/".join([h.name, *(q.name for q in h.qualifiers)]) for h in self.mesh)
        return tuple(dict.fromkeys([*headings, *self.keywords, *self.types]))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know of it: its editorial status, whose set it is of, its terms, what it may lack."""
        status = "" if self.status is Status.OK else f"Status: {self.status.value.replace('_', ' ')}"
        return tuple(
            filter(
                None,
                (status, self.nature, self.review, f"Licence: {self.licence}" if self.licence else "", self.lacking),
            )
        )

    @property
    def span(self) -> tuple[str, str]:
        """First and last page; PubMed's ``123-8`` is 123 and 128. The last is "" where ``pages`` is no plain range."""
        first, dash, last = self.pages.partition("-")
        if not dash or not last.isalnum():
            return self.pages, ""
        whole = first[: len(first) - len(last)] + last if first.isdigit() and last.isdigit() else last
        return first, whole


class Collected(NamedTuple):
    """References, each document once, and what was left out: what it is -> how many.

    ``failed``: what went wrong with a source of records, so that fields may be lacking; "" where nothing did.
    """

    references: tuple[Reference, ...]
    left_out: Mapping[str, int]
    failed: str = ""

    @property
    def told(self) -> str:
        """What was left out and what may be lacking, in a line; "" where nothing is."""
        counts = ", ".join(f"{number} {what}" for what, number in self.left_out.items())
        lacking = f"{LACKING} {self.failed}" if self.failed else ""
        return " ".join(filter(None, (f"No references, so left out: {counts}." if counts else "", lacking)))


def of_article(article: Article) -> Reference:
    """The reference of a PubMed record."""
    title, vernacular = article.title.removesuffix("."), article.vernacular_title.removesuffix(".")
    return Reference(
        id=f"pubmed:{article.pmid}",
        kind="book" if article.book else "article",
        title=title,
        vernacular=vernacular if vernacular != title else "",
        abstract=article.abstract,
        authors=article.authors,
        container=article.journal if article.journal != article.title else "",
        short=article.iso_abbreviation,
        issn=article.issn,
        issn_type=article.issn_type,
        volume=article.volume,
        issue=article.issue,
        pages=article.pages,
        date=article.date,
        languages=article.languages,
        types=article.publication_types,
        mesh=article.mesh,
        keywords=article.keywords,
        status=article.status,
        doi=article.doi,
        pmid=article.pmid,
        pmcid=article.pmcid,
    )


def of_evidence(item: Evidence) -> Reference | None:
    """The reference of a piece of evidence by what it says itself; None for generated text and parts of the case."""
    named = EvidenceId.parse(item.id)
    if named.collection in NO_REFERENCE or item.origin is Origin.GENERATED:
        return None
    published = named.collection in ("pubmed", "pmc")
    starter, entry, given = (named.collection in some for some in (("library",), ENTRIES, ("given",)))
    nature = NATURES.get(named.collection, "")
    text = " ".join(item.text.split())
    words = text if len(text) <= TITLE else text[:TITLE].rsplit(" ", 1)[0] + " …"
    return Reference(
        id=item.document_id,
        kind="article" if published else "entry" if entry else "document",
        title=item.title.removesuffix(".") or words,
        container=f"Knowledge graph {named.name.partition('/')[0]}" if named.collection == "graph" else "",
        date=item.date or "",
        languages=(item.language,),
        types=item.publication_types,
        status=item.status,
        pmid=named.name if named.collection == "pubmed" else "",
        pmcid=named.name if named.collection == "pmc" else "",
        source="" if given else item.source or (STARTER if starter else ""),
        licence=item.licence or "",
        nature=f"{nature}; file: {item.source}" if given and item.source else nature,
        review="Not clinically reviewed" if "not clinically reviewed" in (item.level or "") else "",
    )


def in_a_line(item: Evidence, *notes: str | None) -> str:
    """How the document of a piece of evidence is cited: by whom, title, when, ``notes`` on it, its id and address."""
    known = of_evidence(item)
    if known is None:
        return ". ".join(filter(None, (item.title.rstrip("."), item.document_id)))
    plain = (known.source or known.container, known.title, known.date)
    parts = (*((item.reference,) if item.reference else plain), *notes, known.id, known.url)
    return ". ".join(part for part in parts if part)


def collected(
    items: Iterable[Evidence], held: Mapping[str, Article], pmids: Mapping[str, str], failed: str = ""
) -> Collected:
    """The references of pieces of evidence, in order, one a document.

    Args:
        held: records of PubMed that this machine holds, by PMID; they say more than the evidence does.
        pmids: PMID of each document that is another copy of a record (``pmc:PMC1`` -> ``12345678``).
        failed: what went wrong with a source of records.
    """
    found: dict[str, Reference] = {}
    left_out: dict[str, set[str]] = {}
    for item in items:
        reference = of_evidence(item)
        if reference is None:
            what = NO_REFERENCE.get(EvidenceId.parse(item.id).collection, "other entries")
            left_out.setdefault(what, set()).add(item.document_id)
            continue
        pmid = reference.pmid or pmids.get(reference.id, "")
        if pmid in held:
            reference = of_article(held[pmid])
        elif reference.kind == "article":
            named = {"id": f"pubmed:{pmid}", "pmid": pmid} if pmid else {}
            reference = reference.model_copy(update={**named, "lacking": f"{LACKING} {failed or NOT_HELD}"})
        found.setdefault(reference.id, reference)
    return Collected(tuple(found.values()), {what: len(ids) for what, ids in left_out.items()}, failed)
