"""Answers of PubMed kept, with their age: public records and searches by terms, nothing of the key or e-mail.

They lie in a SQLite file, in the site's PostgreSQL, or in memory. What cannot be read is dropped and asked for again;
while the place does not serve at all, nothing is found and nothing is kept, so that everything is asked for again.
"""

from __future__ import annotations

import hashlib
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from prompts.errors import ServiceError
from tools.literature.settings import LiteratureSettings
from tools.literature.shared_tables import PostgresTables, Rows, SharedTables, SqliteTables

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
