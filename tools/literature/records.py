"""The records of what a search listed: read, and what is not among them named."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Protocol, runtime_checkable

from tools.literature.adapt_e.contract import DateRange
from tools.literature.article import Article
from tools.literature.client import Fetched, PubMed
from tools.literature.failures import Reason, failure


@runtime_checkable
class NamesMissing(Protocol):
    """A PubMed that tells which records did not come, and which cannot be read."""

    async def fetch_records(self, pmids: Sequence[str]) -> Fetched:
        """The records of some PMIDs, in their order, with what is not among them. Raises ServiceError."""


async def read_records(pubmed: PubMed, pmids: Sequence[str], listed: Container[str]) -> Fetched:
    """The records of what was found, in that order.

    Args:
        listed: the PMIDs that the source itself listed; what was found by meaning it need not hold.

    Raises:
        ServiceError: the source failed, or gave none of them: a search that listed them has not found nothing.
    """
    if not pmids:
        return Fetched(articles=())
    if isinstance(pubmed, NamesMissing):
        fetched = await pubmed.fetch_records(pmids)
    else:
        articles = tuple(await pubmed.fetch(pmids))
        sent = {a.pmid for a in articles}
        fetched = Fetched(articles=articles, missing=tuple(p for p in pmids if p not in sent))
    if not fetched.articles and any(p in listed for p in pmids):
        raise failure(Reason.INCOMPLETE, f"The source gave none of {len(set(pmids))} records that were found.")
    return fetched


def within(article: Article, dates: DateRange | None) -> bool:
    """Whether a record was published in a range; what its date leaves open counts as inside."""
    if dates is None:
        return True
    if not article.date:
        return False
    since, until = (d.isoformat() if d else "" for d in (dates.since, dates.until))
    shown = len(article.date)
    return article.date >= since[:shown] and (not until or article.date <= until[:shown])
