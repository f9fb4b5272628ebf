"""The E-utilities client: one limiter, one policy for retries, typed failures, never an empty success."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar
from xml.etree.ElementTree import Element

from prompts.errors import ServiceError
from tools.evidence import Frozen
from tools.literature.limiter import limiter_for
from tools.literature.publications import Article, parse_articles, parse_xml
from tools.literature.settings import LiteratureSettings
from tools.literature.transport import TOOL, RequestError, Route, request

ATTEMPTS = 3  # ours: the first try and two more
BACK_OFF = 0.5  # seconds before the second try, doubled before each further one; ours
LONGEST_WAIT = 20.0  # seconds; ours: a server that asks for more is told no, and the user is told
REMEMBERED = 512  # ours: searches, and articles, kept in memory while the process lives
Parsed = TypeVar("Parsed")
Value = TypeVar("Value")


class SearchResult(Frozen):
    """What esearch found: how many in all, the first ids by relevance, how the query was understood, and warnings."""

    count: int
    ids: tuple[str, ...]
    translation: str = ""
    warnings: tuple[str, ...] = ()


class PubMed(Protocol):
    """What the literature tool needs of PubMed."""

    async def search(self, query: str, limit: int) -> SearchResult:
        """The first ``limit`` PMIDs for a query. Raises ServiceError; an empty result means nothing was found."""

    async def fetch(self, pmids: Sequence[str]) -> list[Article]:
        """The records of some PMIDs, in their order; what PubMed does not know is left out. Raises ServiceError."""


class EUtilities:
    """PubMed through NCBI's E-utilities, or a mirror that speaks the same.

    Args:
        settings: address, e-mail, key, timeout.
        sleep: how to wait, for tests.
    """

    def __init__(self, settings: LiteratureSettings, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._route = Route(settings.base_url, settings.timeout)
        # An empty e-mail keeps Biopython from warning about a missing one.
        self._common: dict[str, Any] = {"db": "pubmed", "tool": TOOL, "email": settings.email}
        if settings.key:
            self._common["api_key"] = settings.key
        self._limiter = limiter_for(settings.base_url, bool(settings.key))
        self._sleep = sleep
        self._searches: _Recent[SearchResult] = _Recent()
        self._articles: _Recent[Article] = _Recent()

    async def search(self, query: str, limit: int) -> SearchResult:
        """The first ``limit`` PMIDs for a query, by PubMed's relevance."""
        key = f"{limit} {query}"
        known = self._searches.get(key)
        if known is None:
            parameters = {"term": query, "retmax": limit, "sort": "relevance", "retmode": "xml"}
            known = await self._call("esearch", parameters, _search_result)
            self._searches.put(key, known)
        return known

    async def fetch(self, pmids: Sequence[str]) -> list[Article]:
        """The records of some PMIDs, in their order."""
        missing = [p for p in dict.fromkeys(pmids) if self._articles.get(p) is None]
        fresh: dict[str, Article] = {}
        if missing:
            parameters = {"id": ",".join(missing), "retmode": "xml"}
            fresh = {a.pmid: a for a in await self._call("efetch", parameters, parse_articles)}
            if not fresh:
                raise ServiceError(f"PubMed sent none of {len(missing)} records that it had listed.", "Try again.")
        found = [fresh.get(p) or self._articles.get(p) for p in dict.fromkeys(pmids)]
        for pmid, article in fresh.items():
            self._articles.put(pmid, article)
        return [a for a in found if a is not None]

    async def _call(self, utility: str, parameters: Mapping[str, Any], parse: Callable[[bytes], Parsed]) -> Parsed:
        """Ask, and ask again after a failure that may pass; the pause honours Retry-After."""
        wait = BACK_OFF
        for attempt in range(1, ATTEMPTS + 1):
            await self._sleep(self._limiter.reserve())
            try:
                body = await asyncio.to_thread(request, utility, {**self._common, **parameters}, self._route)
                return parse(body)
            except RequestError as failure:
                error, asked = _service_error(failure), failure.retry_after
            except ServiceError as failure:
                error, asked = failure, None
            if not error.retryable or attempt == ATTEMPTS or (asked or 0.0) > LONGEST_WAIT:
                raise error
            if asked is not None:
                self._limiter.hold(asked)  # for every caller; this one waits for it in `reserve`
            else:
                await self._sleep(wait)
            wait *= 2
        raise AssertionError("unreachable: the last attempt returns or raises")


def _search_result(body: bytes) -> SearchResult:
    root = parse_xml(body, "eSearchResult")
    count = (root.findtext("Count") or "").strip()
    if not count.isdigit():
        raise ServiceError("PubMed's answer has no count.", "Try again in a minute.")
    ids = tuple((i.text or "").strip() for i in root.iterfind("IdList/Id"))
    return SearchResult(
        count=int(count),
        ids=tuple(i for i in ids if i.isdigit()),
        translation=" ".join((root.findtext("QueryTranslation") or "").split()),
        warnings=_warnings(root),
    )


def _warnings(root: Element) -> tuple[str, ...]:
    items = [*root.iterfind("ErrorList/*"), *root.iterfind("WarningList/*")]
    return tuple(f"{i.tag}: {' '.join((i.text or '').split())}" for i in items if (i.text or "").strip())


def _service_error(failure: RequestError) -> ServiceError:
    if failure.status == 429:
        what, advice = "PubMed has had too many requests", "Wait a minute, or set NCBI_API_KEY for a higher limit."
    elif failure.status is not None and not failure.retryable:
        what, advice = f"PubMed refused the request ({failure.reason})", "Check the terms, the key and the address."
    else:
        what, advice = f"PubMed failed: {failure.reason}", "Try again in a minute."
    return ServiceError(f"{what}.", advice, retryable=failure.retryable)


class _Recent(Generic[Value]):
    """The values used last, by key."""

    def __init__(self) -> None:
        self._values: OrderedDict[str, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> Value | None:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: str, value: Value) -> None:
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > REMEMBERED:
                self._values.popitem(last=False)
