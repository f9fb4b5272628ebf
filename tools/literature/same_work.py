"""Records of one work: a preprint and its article, an article that was published again, the same record twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tools.evidence import Frozen, Status
from tools.literature.article import Article

# RefType of CommentsCorrections by which PubMed joins versions of one work: preprint and article, or a new edition
JOINED = frozenset(
    {"UpdateIn", "UpdateOf", "RepublishedIn", "RepublishedFrom"}
    | {f"{name}{way}" for name in ("CorrectedandRepublished", "CorrectedAndRepublished") for way in ("In", "From")}
)
LONG = 30  # ours: letters from which a title tells a work; "Editorial" or "Acute bronchitis" is of many


class SameWork(Frozen):
    """Documents of one work, in order of rank, and how that is known; ``preprints`` are those of them that are."""

    ids: tuple[str, ...]
    why: str
    preprints: tuple[str, ...] = ()


def same_works(articles: Sequence[Article]) -> tuple[SameWork, ...]:
    """The groups of records that are of one work: joined by PubMed, of one DOI, or of the same title.

    Titles are compared without case, punctuation and space, from `LONG` letters on. A group of equal titles may hold
    editions of a review of several years: it is told as what it is.
    """
    leader: dict[str, str] = {}
    reasons: dict[str, dict[str, None]] = {}
    first: dict[str, Article] = {}

    def top(pmid: str) -> str:
        while leader[pmid] != pmid:
            pmid = leader[pmid]
        return pmid

    for article in articles:
        leader.setdefault(article.pmid, article.pmid)
    for article in articles:
        for why, key in _keys(article):
            other = first.setdefault(key, article)
            one, two = top(other.pmid), top(article.pmid)
            if other.pmid != article.pmid:
                joined = {**reasons.pop(one, {}), **reasons.pop(two, {}), why: None}
                leader[two] = one
                reasons[one] = joined
    return tuple(_group([a for a in articles if top(a.pmid) == one], why) for one, why in reasons.items())


def _keys(article: Article) -> Iterator[tuple[str, str]]:
    """What joins a record to others, with the reason in words."""
    if article.doi:
        yield "same DOI", f"doi {article.doi.casefold()}"
    for note in article.corrections:
        if note.type in JOINED and note.pmid:
            yield "joined by PubMed", "pair " + " ".join(sorted((article.pmid, note.pmid)))
    title = "".join(c for c in article.title.casefold() if c.isalnum())
    if len(title) >= LONG:
        yield "same title", f"title {title}"


def _group(members: Sequence[Article], why: Iterable[str]) -> SameWork:
    preprints = tuple(f"pubmed:{a.pmid}" for a in members if _preprint(a))
    ids = tuple(dict.fromkeys(f"pubmed:{a.pmid}" for a in members))
    return SameWork(ids=ids, why=", ".join(why), preprints=preprints)


def _preprint(article: Article) -> bool:
    return article.status is Status.PREPRINT or "Preprint" in article.publication_types
