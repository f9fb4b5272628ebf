"""Answers of PubMed kept in PostgreSQL for all workers of a site: the same contract as `tools.literature.cache`.

While the database does not serve, nothing is found and nothing is kept, so that PubMed is asked again.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from prompts.errors import ServiceError
from tools.literature.cache import CHECKED, DAY, ROOM, AnswerCache, Answers, key_of
from tools.literature.settings import LiteratureSettings
from tools.postgres_line import PostgresLine

MEMORY = 64 * 2**20  # bytes kept while the process lives when nothing is kept beyond it; ours
SIZES = 0x73697A6573  # ours: number of the lock of the worker that makes room ("sizes" in ASCII)
SCHEMA = """
create table if not exists pubmed_answers
    (key bytea primary key, kept float8 not null, used float8 not null, value bytea not null);
create index if not exists pubmed_answers_by_use on pubmed_answers (used);
"""
GET = """
with found as (
    select key from pubmed_answers where key = any(%(keys)s) and kept >= %(since)s and kept <= %(until)s
    order by key for update skip locked
), marked as (
    update pubmed_answers a set used = greatest(a.used, %(now)s) from found where a.key = found.key
)
select key, value from pubmed_answers where key = any(%(keys)s) and kept >= %(since)s and kept <= %(until)s
"""
PUT = """
insert into pubmed_answers (key, kept, used, value)
select k, %(now)s, %(now)s, v from unnest(%(keys)s::bytea[], %(values)s::bytea[]) as rows (k, v) order by k
on conflict (key) do update set kept = excluded.kept, used = excluded.used, value = excluded.value
"""
DROP = "delete from pubmed_answers where key = any(%(keys)s)"
MAKE_ROOM = """
with sized as (
    select key, sum(octet_length(value)) over (order by used desc, key) as total from pubmed_answers
    where pg_try_advisory_xact_lock(%(lock)s)
)
delete from pubmed_answers where key in (select key from sized where total > %(room)s)
    and (select max(total) from sized) > %(largest)s
"""


class SharedAnswers:
    """`Answers` in PostgreSQL. Safe to use from threads and workers.

    Args:
        line: to the database, with `SCHEMA`.
        largest: bytes that the kept values may take, of all workers; the longest unused go first.
        clock: seconds since the epoch.
    """

    def __init__(self, line: PostgresLine, largest: int, clock: Callable[[], float] = time.time) -> None:
        self._line, self._largest, self._clock = line, largest, clock
        self._writes = 0

    def get(self, kind: str, names: Sequence[str], days: float) -> dict[str, bytes]:
        """The values of one kind that are known and at most ``days`` old, by name; damaged ones are dropped."""
        keys, now = {key_of(kind, name): name for name in names}, self._clock()
        if not keys:
            return {}
        values = {"keys": list(keys), "since": now - days * DAY, "until": now + DAY, "now": now}
        found: dict[str, bytes] = {}
        damaged: list[bytes] = []
        for key, value in self._ask(GET, values):
            try:
                found[keys[bytes(key)]] = zlib.decompress(value)
            except zlib.error:
                damaged.append(key)
        if damaged:
            self._ask(DROP, {"keys": damaged})
        return found

    def put(self, kind: str, values: Mapping[str, bytes]) -> None:
        """Keep values, all of them or none."""
        rows = {key_of(kind, name): zlib.compress(value) for name, value in values.items()}
        if not rows:
            return
        self._ask(PUT, {"keys": list(rows), "values": list(rows.values()), "now": self._clock()})
        self._writes += 1
        if self._writes % CHECKED == 1:
            self._ask(MAKE_ROOM, {"lock": SIZES, "largest": self._largest, "room": int(self._largest * ROOM)})

    def drop(self, kind: str, name: str) -> None:
        """Forget a value that turned out to be of no use."""
        self._ask(DROP, {"keys": [key_of(kind, name)]})

    def close(self) -> None:
        """Close the connection; the next use opens another."""
        self._line.close()

    def _ask(self, sql: str, values: Mapping[str, object]) -> list[tuple[Any, ...]]:
        with suppress(ServiceError):
            return self._line.ask(sql, values)
        return []


def answers_for(settings: LiteratureSettings) -> Answers:
    """Where the settings keep answers: the site's database, a file, or the memory of this process."""
    if not settings.cache:
        return AnswerCache(None, MEMORY)
    largest = settings.cache_mb * 2**20
    if settings.shared_database:
        return SharedAnswers(PostgresLine(settings.shared_database, SCHEMA, "anamnesis answers"), largest)
    return AnswerCache(settings.cache_folder, largest if settings.cache_folder else MEMORY)
