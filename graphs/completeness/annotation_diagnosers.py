"""Who diagnoses for annotation: the knowledge graph, a language model, and either with its diagnoses kept on disk."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import sqlite3
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from graphs.completeness.annotation import Diagnoser
from prompts.diagnosis import DiagnosisReply
from prompts.language_model import LanguageModel
from prompts.shown import one_line
from prompts.templates import load_prompt
from tools.databases import told
from tools.files import private_file
from tools.knowledge_graph.lookup import KnowledgeGraph

ROOT = Path(__file__).resolve().parents[2]
CODE = ("tools/knowledge_graph/*.py", "tools/text/*.py", "tools/text/*.yaml")  # what a look-up runs through
WAIT = 60.0  # ours: seconds that a write waits for another annotation in the same data folder
NAME = 200  # ours: characters of a model's diagnosis that are kept


class DiagnoserByGraph:
    """The first disease of the graph's ranking, without what a look-up says beside it (questions, findings, contrasts).

    Args:
        graph: the graph; its records, where it has any, are not learnt from. version: its content and its encoder.
    """

    name = "graph"

    def __init__(self, graph: KnowledgeGraph, version: str) -> None:
        self._graph = graph
        self.version = f"{version} {code_sha256()}"

    async def diagnose(self, text: str) -> str:
        """The English name, "" where nothing was ranked."""
        return await asyncio.to_thread(self._first, text)

    def _first(self, text: str) -> str:
        standing = self._graph.read(text).standing
        if not standing.seen:
            return ""
        return self._graph.graph.diseases[int(self._graph.shares(standing).argmax())].name


class DiagnoserByModel:
    """A language model's diagnosis from its own knowledge."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        prompt = load_prompt("diagnosis")
        self.name = model.name
        self.version = f"{prompt.id} {prompt.hash}"

    async def diagnose(self, text: str) -> str:
        """The diagnosis, "" where the model names none; raises ServiceError when it fails."""
        reply, _ = await self._model.structured("diagnosis", DiagnosisReply, case=text)
        return one_line(reply.diagnosis, NAME)


class DiagnoserKept:
    """A diagnoser whose diagnoses are kept by content, so that an annotation that was stopped goes on.

    Kept under the sha256 of the text, the diagnoser and all that its diagnoses depend on. Each is on disk as soon as it
    is made. It may be used in one event loop after another, not in two at once.

    Args:
        inner: who diagnoses. path: an SQLite file. jobs: diagnoses at once, at most.

    Raises DataError, here and in use, where the file is damaged or cannot be written.
    """

    def __init__(self, inner: Diagnoser, path: Path, jobs: int) -> None:
        private_file(path)
        self.name, self.version = inner.name, inner.version
        self._inner, self._path = inner, path
        self._jobs = jobs
        self._loop: asyncio.AbstractEventLoop | None = None
        self._bound = asyncio.Semaphore(jobs)
        self._running: dict[str, asyncio.Future[str]] = {}
        self._table = self._open()
        self.made = 0

    def _open(self) -> sqlite3.Connection:
        with self._statements():
            table = sqlite3.connect(self._path, timeout=WAIT, isolation_level=None, check_same_thread=False)
            try:
                table.execute("PRAGMA journal_mode = WAL")
                table.execute("PRAGMA synchronous = NORMAL")
                table.execute("CREATE TABLE IF NOT EXISTS diagnoses (key TEXT PRIMARY KEY, diagnosis TEXT NOT NULL)")
            except sqlite3.DatabaseError:
                table.close()
                raise
        return table

    @contextlib.contextmanager
    def _statements(self) -> Iterator[None]:
        """What SQLite says of a file becomes a DataError that says what to do."""
        with told(self._path, str(self._path), "Delete it; diagnoses are made again."):
            yield

    async def diagnose(self, text: str) -> str:
        """The kept diagnosis, else a new one; the same text is not diagnosed twice at once."""
        key = hashlib.sha256(f"{self.name}\0{self.version}\0{text}".encode()).hexdigest()
        with self._statements():
            row = self._table.execute("SELECT diagnosis FROM diagnoses WHERE key = ?", (key,)).fetchone()
        if row is not None:
            return str(row[0])
        self._enter(asyncio.get_running_loop())
        if key not in self._running:
            self._running[key] = asyncio.ensure_future(self._make(key, text))
        return await asyncio.shield(self._running[key])

    def _enter(self, loop: asyncio.AbstractEventLoop) -> None:
        """Take up a new loop: what waits belongs to the loop that it waits in."""
        if loop is not self._loop:
            self._loop, self._bound, self._running = loop, asyncio.Semaphore(self._jobs), {}

    async def _make(self, key: str, text: str) -> str:
        try:
            async with self._bound:
                diagnosis = await self._inner.diagnose(text)
            with self._statements():
                self._table.execute("INSERT OR REPLACE INTO diagnoses VALUES (?, ?)", (key, diagnosis))
            self.made += 1
            return diagnosis
        finally:
            self._running.pop(key, None)

    def close(self) -> None:
        """Close the file."""
        self._table.close()


@cache
def code_sha256() -> str:
    """sha256 over the files that a look-up runs through: other code, other diagnoses."""
    digest = hashlib.sha256()
    for pattern in CODE:
        for path in sorted(ROOT.glob(pattern)):
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
