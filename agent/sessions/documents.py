"""Documents that a user puts into a session: read apart, kept among its texts, purged with it, never in the library."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import BaseModel, ConfigDict

from agent.messages import COLLECTION, HASH, MOST
from agent.sessions.contract import Database
from agent.sessions.home import Home
from agent.sessions.ids import now, unknown_session
from graphs.context import Passages
from prompts.errors import InputError
from tools.embedding_cache import unkept
from tools.evidence import Evidence, Origin, content_key
from tools.readers.contract import Problem, Record
from tools.readers.normal import stated_date
from tools.readers.reading import read_apart, suffix_of, suffixes

if TYPE_CHECKING:
    from agent.sessions.records import Records

LONGEST = 500_000  # ours: characters, some 150 pages; each question looks through all of it
NAME = 200  # ours: characters of a file's name
FOUND = "select id, about, text_key from documents where session = ?"
UNSAFE = re.compile(r"[^\w .-]")  # what stands in no file's name here
UNDATED = (".pdf",)  # the date that such a file gives itself is that of its making, often the day on which it is put in
AT_ONCE = 2  # ours: files that are read at once
NOT_ASSESSED = "your document, not assessed"  # its level of evidence, in words
LIBRARY = "Whoever runs this can add it to the library."


class SessionDocument(BaseModel):
    """A document of a session.

    Attributes:
        id: by its content; put in again, it is the same one.
        problems: what of it could not be read, a line each.
    """

    model_config = ConfigDict(extra="forbid")

    id: str
    name: str
    title: str
    characters: int
    added: str
    problems: list[str] = []


class _Row(NamedTuple):
    id: str
    about: str
    text_key: str


class Documents:
    """The documents of sessions. All of it is async, on the agent's own loop.

    Args:
        records: whose session it is. home: where a file lies while it is read.
        passages: which passages of a document a question is answered from; None for the first ones.
    """

    def __init__(self, database: Database, records: Records, home: Home, passages: Passages | None = None) -> None:
        self._database, self._records, self._home = database, records, home
        self._passages = passages or first_passages
        self._reading = asyncio.Semaphore(AT_ONCE)

    async def add(self, session: str, name: str, data: bytes, owner: str | None = None) -> SessionDocument:
        """Read a file and keep its text with the session, which is made where it is new.

        Raises:
            InputError: the session is another owner's, holds too many, or nothing of the file can be read: it says
                why, and what to do.
        """
        await self._records.may_enter(session, owner)
        plain = Path(name.replace("\\", "/")).name.strip()[:NAME] or "file"
        if suffix_of(Path(plain)) not in suffixes():
            raise InputError(f"{plain} is of a kind that is not read.", f"These are: {', '.join(sorted(suffixes()))}.")
        async with self._reading:
            found = await asyncio.to_thread(self._read, plain, data)
        records = [f for f in found if isinstance(f, Record)]
        problems = [f for f in found if isinstance(f, Problem)]
        if not records:
            raise InputError(f"{plain} was not read. {problems[0].what}", problems[0].advice)
        if len(records) > 1:
            raise InputError(f"{plain} holds {len(records)} documents; a session takes one a file.", LIBRARY)
        record = records[0].model_copy(update={"source": plain})
        if suffix_of(Path(plain)) in UNDATED:
            record = record.model_copy(update={"date": stated_date(record.text)})
        if len(record.text) > LONGEST:
            what = f"{plain} has {len(record.text):,} characters; a session takes {LONGEST:,}."
            raise InputError(what, f"Put in the part that matters. {LIBRARY}")
        await self._records.enter(session, owner)
        return await self._keep(session, plain, record, problems)

    async def all(self, session: str, owner: str | None = None) -> list[SessionDocument]:
        """The session's documents, in the order in which they were put in."""
        await self._records.get(session, owner)
        return [SessionDocument.model_validate_json(row.about) for row in await self._rows(session)]

    async def evidence(self, session: str, ids: Sequence[str], question: str) -> list[Evidence]:
        """The passages of some documents that a question is answered from; raises InputError for an unknown one."""
        if not ids:
            return []
        rows = {row.id: row for row in await self._rows(session)}
        for one in ids:
            if one not in rows:
                raise InputError(f"Session {session} has no document {one}.", "Put the file in again.")
        wanted = [rows[one].text_key for one in dict.fromkeys(ids)]
        records = [Record.model_validate_json(text) for text in self._database.texts.get_all(wanted)]
        share = max(1, MOST // len(records))
        with unkept():  # the vectors of its text go with the question
            found = [await asyncio.to_thread(self._passages, record, question, share) for record in records]
        return [item for items in found for item in items]

    def _read(self, name: str, data: bytes) -> list[Record | Problem]:
        with tempfile.TemporaryDirectory(prefix="document-", dir=self._home.root) as folder:  # readable by us alone
            path = Path(folder) / f"{UNSAFE.sub('_', Path(name).stem)[:60]}{suffix_of(Path(name))}"
            path.write_bytes(data)
            return read_apart(path)

    async def _keep(self, session: str, name: str, record: Record, problems: Sequence[Problem]) -> SessionDocument:
        said = [f"{p.where}: {p.what} {p.advice}" if p.where else f"{p.what} {p.advice}" for p in problems]
        document = SessionDocument(
            id=content_key(record.text)[:HASH],
            name=name,
            title=record.title,
            characters=len(record.text),
            added=now(),
            problems=said,
        )
        known = await self._rows(session)
        if len(known) >= MOST and document.id not in {row.id for row in known}:
            raise InputError(f"The session holds {MOST} documents already.", f"Begin a new session. {LIBRARY}")
        key = self._database.texts.put(session, record.model_dump_json())
        sql = (
            "insert into documents (session, id, about, text_key, added) select id, ?, ?, ?, ? from sessions"
            " where id = ? and leaving = 0 on conflict (session, id) do update set about = ?, text_key = ?"
        )
        about = document.model_dump_json()
        row = (document.id, about, key, document.added, session, about, key)
        *_, kept = await self._database.execute((sql, row), (f"{FOUND} and id = ?", (session, document.id)))
        if not kept:  # the session was deleted meanwhile
            self._database.texts.purge(session)
            raise unknown_session(session)
        return document

    async def _rows(self, session: str) -> list[_Row]:
        rows = (await self._database.execute((f"{FOUND} order by added, id", (session,))))[0]
        return [_Row(*map(str, row)) for row in rows]


def passage(record: Record, start: int, end: int) -> Evidence:
    """A slice of a document that was put in, as evidence."""
    section = next((s.title for s in record.sections if s.start <= start < s.end), "")
    return Evidence(
        id=f"{COLLECTION}:{content_key(record.text)[:HASH]}@{start}-{end}",
        text=record.text[start:end],
        title=record.title,
        kind="given",
        origin=Origin.CASE,
        level=NOT_ASSESSED,
        date=record.date or None,
        section=section or None,
        source=record.source or None,
        language=record.language,
    )


def first_passages(record: Record, question: str, limit: int) -> list[Evidence]:
    """The first paragraphs, where nothing tells which a question is answered from."""
    del question
    found, at = list[Evidence](), 0
    for line in record.text.splitlines(keepends=True):
        if line.strip() and len(found) < limit:
            found.append(passage(record, at, at + len(line.rstrip())))
        at += len(line)
    return found
