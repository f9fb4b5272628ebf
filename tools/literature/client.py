"""The E-utilities client: searches, records, links and full texts; kept with their age, failing by type."""

from __future__ import annotations

import asyncio
import hashlib
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, Protocol
from xml.etree.ElementTree import Element, ParseError, tostring

from prompts.errors import ServiceError
from tools.evidence import Frozen
from tools.literature.article import Article
from tools.literature.calls import Calls, Parsed, Sleep
from tools.literature.failures import EUtilitiesError, Reason, failure
from tools.literature.publications import Records, collect_records, parse_record
from tools.literature.replies import (
    SearchResult,
    parse_xml,
    pmc_articles,
    pmc_links,
    search_result,
    text_of,
)
from tools.literature.settings import CEILING, LiteratureSettings
from tools.literature.shared_tables import PostgresTables, Rows, SharedTables, SqliteTables
from tools.readers.contract import Problem
from tools.recorder import watcher

__all__ = ["EUtilities", "Fetched", "PubMed", "SearchResult"]

PAGE = 1_000  # ids asked for at a time; ours: an answer stays below 100 kB
FULL_TEXTS = 10  # full texts asked for at a time; ours: an answer stays at a few MB
SORTS = {"relevance": "relevance", "date": "pub_date"}
Sort = Literal["relevance", "date"]


class Fetched(Frozen):
    """Records in the order asked for, with what is not among them: PMIDs that PubMed does not know, and problems."""

    articles: tuple[Article, ...]
    missing: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


class PubMed(Protocol):
    """What the literature tool needs of PubMed."""

    async def search(self, query: str, limit: int) -> SearchResult:
        """The first ``limit`` PMIDs for a query. Raises ServiceError; an empty result means nothing was found."""

    async def fetch(self, pmids: Sequence[str]) -> list[Article]:
        """The records of some PMIDs, in their order; what PubMed does not know is left out. Raises ServiceError."""


class EUtilities:
    """PubMed through NCBI's E-utilities, or a mirror that speaks the same. Every method raises EUtilitiesError.

    Args:
        settings: address, e-mail, key, time limits, where and how long answers are kept.
        sleep: how to wait, for tests.
    """

    def __init__(self, settings: LiteratureSettings, sleep: Sleep = asyncio.sleep) -> None:
        self._settings = settings
        self.calls = Calls(settings, sleep)
        self._cache = answers_for(settings)

    async def search(
        self, query: str, limit: int, *, offset: int = 0, sort: Sort = "relevance", fresh: bool = False
    ) -> SearchResult:
        """The PMIDs ``offset`` to ``offset + limit`` for a query, in pages; ``fresh`` asks even what is kept."""
        if not query.strip():
            raise failure(Reason.BAD_QUERY, "The query is empty.")
        if offset < 0 or limit < 0 or offset + limit > CEILING:
            raise failure(Reason.BEYOND_LIMIT, f"PubMed lists only the first {CEILING:,} records of a search.")
        first = await self._page(query, offset, min(limit, PAGE), sort, fresh)
        ids, warnings = list(first.ids), list(first.warnings)
        wanted = min(limit, max(0, first.count - offset))
        for start in range(offset + PAGE, offset + wanted, PAGE):
            page = await self._page(query, start, min(PAGE, offset + wanted - start), sort, fresh)
            ids += page.ids
            warnings += page.warnings
        return first.model_copy(update={"ids": tuple(dict.fromkeys(ids)), "warnings": tuple(dict.fromkeys(warnings))})

    async def fetch(self, pmids: Sequence[str]) -> list[Article]:
        """The records of some PMIDs, in their order; a failure when PubMed sends none of them."""
        fetched = await self.fetch_records(pmids)
        if pmids and not fetched.articles:
            raise failure(Reason.INCOMPLETE, f"PubMed sent none of {len(set(pmids))} records.")
        return list(fetched.articles)

    async def fetch_records(self, pmids: Sequence[str]) -> Fetched:
        """The records of some PMIDs, in batches, and a word on each that is not among them."""
        wanted = list(dict.fromkeys(pmids))
        if not all(p.isascii() and p.isdigit() for p in wanted):
            raise failure(Reason.BAD_QUERY, "A PMID is a number.")
        found = await asyncio.to_thread(self._kept_records, wanted)
        missing = [p for p in wanted if p not in found]
        problems: list[Problem] = []
        for at in range(0, len(missing), self._settings.batch):
            records = await self._fetch_batch(missing[at : at + self._settings.batch])
            found.update({a.pmid: a for a in records.articles})
            problems += records.problems
        return Fetched(
            articles=tuple(found[p] for p in wanted if p in found),
            missing=tuple(p for p in wanted if p not in found),
            problems=tuple(problems),
        )

    async def kept(self, pmids: Sequence[str]) -> dict[str, Article]:
        """The records that were kept, by PMID; nothing is asked of PubMed."""
        return await asyncio.to_thread(self._kept_records, list(dict.fromkeys(pmids)))

    async def pmcids(self, pmids: Sequence[str]) -> dict[str, str]:
        """PMCID by PMID for the records that have a copy in PubMed Central."""
        found: dict[str, str] = {}
        wanted = list(dict.fromkeys(pmids))
        for at in range(0, len(wanted), self._settings.batch):
            some = wanted[at : at + self._settings.batch]
            # ids as a list: each record then has a link set of its own
            parameters = {"dbfrom": "pubmed", "db": "pmc", "linkname": "pubmed_pmc", "id": some, "retmode": "xml"}
            found |= await self._kept_call("elink", parameters, pmc_links, self._settings.search_days)
        return {p: found[p] for p in wanted if p in found}

    async def full_texts(self, pmcids: Sequence[str]) -> dict[str, bytes]:
        """JATS XML by PMCID of articles in PubMed Central; without a body where the publisher does not allow it."""
        wanted = list(dict.fromkeys(p.upper() for p in pmcids))
        found = await asyncio.to_thread(self._cache_get, "pmc", wanted, self._settings.record_days)
        missing = [p for p in wanted if p not in found]
        for at in range(0, len(missing), FULL_TEXTS):
            some = missing[at : at + FULL_TEXTS]
            parameters = {"db": "pmc", "id": ",".join(p.removeprefix("PMC") for p in some), "retmode": "xml"}
            sent = await self.calls.call("efetch", parameters, pmc_articles)
            await asyncio.to_thread(self._cache_put, "pmc", sent)
            found |= {p: sent[p] for p in some if p in sent}
        return found

    async def _page(self, query: str, start: int, count: int, sort: Sort, fresh: bool) -> SearchResult:
        parameters = {"db": "pubmed", "term": query, "retstart": start, "retmax": count, "sort": SORTS[sort]}

        def parse(body: bytes) -> SearchResult:
            return search_result(body, start=start, asked=count)

        days = -1.0 if fresh else self._settings.search_days
        return await self._kept_call("esearch", {**parameters, "retmode": "xml"}, parse, days)

    async def _kept_call(
        self, utility: str, parameters: Mapping[str, Any], parse: Callable[[bytes], Parsed], days: float
    ) -> Parsed:
        """A call whose body is kept once it was parsed; a kept one that no longer parses is asked for again."""
        name = "\n".join(f"{k}={v}" for k, v in sorted(parameters.items()))
        kept = await asyncio.to_thread(self._cache_get, utility, [name], days)
        if kept:
            try:
                return parse(kept[name])
            except EUtilitiesError:
                await asyncio.to_thread(self._cache.drop, utility, self._named(name))

        def parse_and_keep(body: bytes) -> Parsed:
            parsed = parse(body)
            self._cache_put(utility, {name: body})
            return parsed

        return await self.calls.call(utility, parameters, parse_and_keep)

    async def _fetch_batch(self, pmids: Sequence[str]) -> Records:
        def parse(body: bytes) -> Records:
            root = parse_xml(body, "PubmedArticleSet")
            records = collect_records(root)
            if not records.articles and len(pmids) > 1:
                raise failure(Reason.INCOMPLETE, f"PubMed sent none of {len(pmids)} records that it had listed.")
            self._cache_put("record", _by_pmid(root, records))
            return records

        parameters = {"db": "pubmed", "id": ",".join(pmids), "retmode": "xml"}
        return await self.calls.call("efetch", parameters, parse)

    def _kept_records(self, pmids: Sequence[str]) -> dict[str, Article]:
        from defusedxml.ElementTree import fromstring

        found: dict[str, Article] = {}
        for pmid, body in self._cache_get("record", pmids, self._settings.record_days).items():
            try:
                record = parse_record(fromstring(body))
            except (ParseError, ValueError):
                continue
            if isinstance(record, Article) and record.pmid == pmid:
                found[pmid] = record
        return found

    def _cache_get(self, kind: str, names: Sequence[str], days: float) -> dict[str, bytes]:
        if days <= 0:
            return {}
        named = {self._named(n): n for n in names}
        found = {named[n]: value for n, value in self._cache.get(kind, list(named), days).items()}
        watcher().event("cache", cache=kind, hits=len(found), misses=len(named) - len(found))
        return found

    def _cache_put(self, kind: str, values: Mapping[str, bytes]) -> None:
        if self._settings.cache:
            self._cache.put(kind, {self._named(n): value for n, value in values.items()})

    def _named(self, name: str) -> str:
        return f"{self._settings.base_url.rstrip('/')}\n{name}"


def _by_pmid(root: Element, records: Records) -> dict[str, bytes]:
    """The XML of each record that was read, the latest version of each."""
    versions = {a.pmid: str(a.version) for a in records.articles}
    found = {}
    for element in root:
        pmid = element.find("*/PMID")
        name = text_of(pmid)
        if pmid is not None and name in versions and pmid.get("Version", "1") == versions[name]:
            found[name] = tostring(element, encoding="utf-8")
    return found


# Answers of PubMed kept, with their age: public records and searches by terms, nothing of the key or e-mail.
# They lie in a SQLite file, in the site's PostgreSQL, or in memory. What cannot be read is dropped and asked for
# again; while the place does not serve at all, nothing is found and nothing is kept, so that everything is asked
# for again.

FILE = "answers.sqlite"
DAY = 86_400.0  # seconds
ROOM = 0.9  # ours: what is left of the largest size after making room, so that not every write does
CHECKED = 32  # ours: writes between two looks at the size
BUSY = 5.0  # seconds to wait for another process; ours: asking again costs less
MEMORY = 64 * 2**20  # bytes kept while the process lives when nothing is kept beyond it; ours
IN_FILE, IN_DATABASE = {"answers": "answers"}, {"answers": "pubmed_answers"}
SCHEMA = """
create table if not exists {answers}
    (key bytea primary key, kept float8 not null, used float8 not null, value bytea not null);
create index if not exists {answers}_by_use on {answers} (used);
"""
# a clock that was set back must not keep for ever, so what comes from beyond `until` is too old as well
KNOWN = "key in (%(keys)s) and kept >= %(since)s and kept <= %(until)s"
USE = f"""
update {{answers}} set used = %(now)s
where key in (select key from {{answers}} where {KNOWN} order by key {{skip_locked}})
"""
GET = f"select key, value from {{answers}} where {KNOWN}"
PUT = """
insert into {answers} (key, kept, used, value) values %(rows)s
on conflict (key) do update set kept = excluded.kept, used = excluded.used, value = excluded.value
"""
DROP = "delete from {answers} where key in (%(keys)s)"
MAKE_ROOM = """
with sized as (
    select key, sum(length(value)) over (order by used desc, key) as total from {answers} where {alone}
)
delete from {answers} where key in (select key from sized where total > %(room)s)
    and (select max(total) from sized) > %(largest)s
"""


class AnswerCache:
    """Values by key, each with the time at which it was kept. Safe to use from threads and processes; nothing fails.

    Args:
        tables: with `SCHEMA`.
        largest: bytes that the kept values may take; the longest unused go first.
        clock: seconds since the epoch.
    """

    def __init__(self, tables: SharedTables, largest: int, clock: Callable[[], float] = time.time) -> None:
        self._tables, self._largest, self._clock = tables, largest, clock
        self._writes = 0

    def get(self, kind: str, names: Sequence[str], days: float) -> dict[str, bytes]:
        """The values of one kind that are known and at most ``days`` old, by name; damaged ones are dropped."""
        keys, now = {key_of(kind, name): name for name in names}, self._clock()
        if not keys:
            return {}
        values = {"keys": sorted(keys), "since": now - days * DAY, "until": now + DAY, "now": now}
        found: dict[str, bytes] = {}
        damaged: list[bytes] = []
        for key, value in self._ask((USE, values), (GET, values)):
            try:
                found[keys[key]] = zlib.decompress(value)  # its checksum tells a damaged one
            except (zlib.error, TypeError):
                damaged.append(key)
        if damaged:
            self._ask((DROP, {"keys": damaged}))
        return found

    def put(self, kind: str, values: Mapping[str, bytes]) -> None:
        """Keep values, all of them or none."""
        if not values:
            return
        now = self._clock()
        rows = sorted((key_of(kind, name), now, now, zlib.compress(value)) for name, value in values.items())
        self._ask((PUT, {"rows": rows}))
        self._writes += 1
        if self._writes % CHECKED == 1:
            self._ask((MAKE_ROOM, {"largest": self._largest, "room": int(self._largest * ROOM)}))

    def drop(self, kind: str, name: str) -> None:
        """Forget a value that turned out to be of no use."""
        self._ask((DROP, {"keys": [key_of(kind, name)]}))

    def close(self) -> None:
        """Close the connection; the next use opens another."""
        self._tables.close()

    def _ask(self, *statements: tuple[str, Mapping[str, Any]]) -> Rows:
        with suppress(ServiceError):
            return self._tables.ask(*statements)
        return []


def key_of(kind: str, name: str) -> bytes:
    """The key of a kept value."""
    return hashlib.sha256(f"{kind}\n{name}".encode()).digest()


def answers_for(settings: LiteratureSettings) -> AnswerCache:
    """Where the settings keep answers: the site's database, a file, or the memory of this process."""
    folder = settings.cache_folder if settings.cache else None
    largest = settings.cache_mb * 2**20 if settings.cache else MEMORY
    if settings.cache and settings.shared_database:
        tables: SharedTables = PostgresTables(settings.shared_database, SCHEMA, IN_DATABASE, "anamnesis answers")
    elif folder is not None:
        tables = SqliteTables(folder / FILE, SCHEMA, IN_FILE, wait=BUSY)
    else:
        tables, largest = SqliteTables(None, SCHEMA, IN_FILE), MEMORY
    return AnswerCache(tables, largest)
