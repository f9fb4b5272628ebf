"""What `depth` searches and asks: a mirror of abstracts and JATS articles, claims out of these, search at a depth."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evals.contract import TaskContext
from evals.datasets.literature import LiteratureDocument
from tools.evidence import Evidence, EvidenceId
from tools.files import locked
from tools.literature.article import is_review
from tools.literature.depth import TOP
from tools.readers.contract import Record
from tools.text.sentences import sentences
from tools.text.tokens import tokens

if TYPE_CHECKING:
    from tools.encoders import Encoder
    from tools.literature.adapt_e.contract import QueryPlanner
    from tools.literature.full_text import FullTextSource
    from tools.literature.settings import LiteratureSettings
    from tools.mirror.engine import Mirror
    from tools.mirror.records import MirrorRecord

FULLTEXT = "fulltext/nxml"
FORMAT = 1  # raised with every change of what is built here
LEAST, MOST = 12, 45  # ours: words of a claim; shorter ones name no subject, longer ones are lists
ABSTRACT = "abstract"
CONCLUSION = "conclusion"


class FullArticle(NamedTuple):
    """A JATS article with a body, and its PMID."""

    pmid: str
    record: Record


@dataclass(frozen=True)
class Claim:
    """A sentence of an article's own conclusions, asked as it stands.

    Attributes:
        start, end: its characters in the full text ``document``. review: whether the article is one.
    """

    text: str
    pmid: str
    document: str
    start: int
    end: int
    review: bool


Searched = tuple[Evidence, ...]
"""The first pieces of evidence for a claim."""


def read_articles(folder: Path) -> list[FullArticle]:
    """The articles of a folder that name a PMID and have a body; others and what cannot be read are passed over."""
    from prompts.errors import DataError
    from tools.literature.full_text import ids_of
    from tools.readers.jats import parse_jats, read_article

    out: dict[str, FullArticle] = {}
    for path in sorted(p for p in folder.iterdir() if p.is_file()):
        try:
            root = parse_jats(path.read_bytes())
        except DataError:
            continue
        article = root if root.tag == "article" else root.find("article")
        if article is None or article.find("body") is None:
            continue
        pmid, pmcid = ids_of(article)
        record = read_article(article, pmcid or f"pubmed-{pmid}")
        if pmid and isinstance(record, Record):
            out.setdefault(pmid, FullArticle(pmid, record))
    return list(out.values())


def claim_of(article: FullArticle) -> Claim | None:
    """The first sentence of the conclusions that can be asked, outside the abstract; None where there is none."""
    text = article.record.text
    for section in article.record.sections:
        title = section.title.casefold()
        if CONCLUSION not in title or title.startswith(ABSTRACT):
            continue
        for span in sentences(text[section.start : section.end]):
            start, end = section.start + span.start, section.start + span.end
            if LEAST <= len(text[start:end].split()) <= MOST:
                review = is_review(article.record.publication_types)
                return Claim(text[start:end], article.pmid, article.record.id, start, end, review)
    return None


def prepare_mirror(
    folder: Path, documents: Sequence[LiteratureDocument], articles: Sequence[FullArticle], context: TaskContext
) -> Path:
    """The mirror of the abstracts; those of the articles have the articles' publication types. Built the first time.

    Args:
        folder: where it is kept; its name must change with the documents.
    """
    import shutil

    from tools.mirror.database import FORMAT as MIRROR
    from tools.mirror.load import load_records

    done = folder / f"built-{FORMAT}-{MIRROR}"
    with locked(folder):
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            types = {a.pmid: a.record.publication_types for a in articles}
            rows = context.tick(documents, "mirror", len(documents))
            load_records(folder / "mirror", _records(rows, types), source="depth evaluation")
            done.touch()
    return folder / "mirror"


class DepthSearch:
    """Searches the mirror at a depth, the full texts out of a folder.

    Args:
        planner: plans each claim once for all depths.
    """

    def __init__(self, mirror: Mirror, planner: QueryPlanner, encoder: Encoder, texts: FullTextSource) -> None:
        self._mirror, self._planner, self._encoder, self._texts = mirror, planner, encoder, texts

    def search(self, claim: Claim, settings: Sequence[LiteratureSettings]) -> list[Searched]:
        """The first pieces of evidence with each of the settings, which name the depth."""
        return asyncio.run(self._search(claim, settings))

    async def _search(self, claim: Claim, settings: Sequence[LiteratureSettings]) -> list[Searched]:
        from tools.literature.live import LiveSearch
        from tools.literature.strategy import Source

        source = Source(kind="mirror", name="depth evaluation")
        plan = await self._planner.plan(claim.text, case=False)
        out = []
        for own in settings:
            live = LiveSearch(self._mirror, self._encoder, source, own, self._texts)
            found = await live.search(plan, claim.text, limit=TOP, tool="search")
            out.append(tuple(d.evidence[0] for d in found.documents if d.evidence)[:TOP])
        return out


def of_article(item: Evidence, claim: Claim) -> bool:
    """Whether a piece of evidence is of the claim's article."""
    return EvidenceId.parse(item.id).document_id in (f"pubmed:{claim.pmid}", claim.document)


def holds(item: Evidence, claim: Claim) -> bool:
    """Whether a piece of evidence holds the claim's sentence whole: at its place, or word for word elsewhere."""
    at = EvidenceId.parse(item.id)
    if at.document_id == claim.document and at.start is not None and at.end is not None:
        return at.start <= claim.start and claim.end <= at.end
    return " ".join(claim.text.split()) in " ".join(item.text.split())


def words_held(evidence: Sequence[Evidence], claim: Claim) -> float:
    """Percent of the claim's words in the piece of evidence that has most of them."""
    wanted = set(tokens(claim.text))
    return max((100 * len(wanted & set(tokens(e.text))) / max(1, len(wanted)) for e in evidence), default=0.0)


def _records(documents: Iterator[LiteratureDocument], types: dict[str, tuple[str, ...]]) -> Iterator[MirrorRecord]:
    from evals.literature_collection import mirror_record

    for document in documents:
        own = types.get(document.pmid) or document.publication_types
        yield mirror_record(document.model_copy(update={"publication_types": own}))
