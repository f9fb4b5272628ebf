"""Who diagnoses for annotation: the graph, a model, either kept on disk; and which diagnosis is the reference."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from evals.training.gate_annotation import Diagnoser
from prompts.gate import DiagnosisReply
from prompts.language_model import LanguageModel
from prompts.shown import one_line
from prompts.templates import load_prompt
from tools.databases import told
from tools.files import private_file
from tools.icd10 import ICD10
from tools.indexes.lexical import Lexicon
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.knowledge_graph.names import DiagnosisNames, Names
from tools.knowledge_graph.schema import Graph
from tools.text.abbreviations import expand

ROOT = Path(__file__).resolve().parents[2]
CODE = (
    "tools/knowledge_graph/*.py",
    "tools/knowledge_graph/*.yaml",
    "tools/text/*.py",
    "tools/text/*.yaml",
)  # what a look-up runs through
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


# The reference of a case: which diagnoses are it, and which units by themselves retrieve a document of it.
#
# Before the search abbreviations are written out, and beside each name of a disease or a finding its other names are
# searched for too, English for Chinese among them (ours: synonyms and abbreviations hamper BM25).
RETRIEVED = 5  # ours: documents that a unit retrieves; the paper's m is not published
REMEMBERED = 4096  # ours: pairs of a diagnosis and a reference that are remembered


class Held(NamedTuple):
    """A document as it is searched. ``name``: the last part of its id, a disease's id in the starter collection."""

    name: str
    title: str
    text: str


class ReferenceByNames:
    """References by the names of a graph's diseases, and a library's documents about them.

    Args:
        graph, table: names of diseases, and of ICD-10 codes.
        codes: the codes that a diagnosis names (`tools.icd10.linking.Linker.codes`), for what the graph does not know.
        documents: what units are searched in.
    """

    def __init__(
        self,
        graph: Graph,
        table: ICD10 | None,
        codes: Callable[[str], frozenset[str]],
        documents: Sequence[Held],
    ) -> None:
        self._names, self._synonyms, self._codes = DiagnosisNames(graph, table), Names(graph), codes
        self._documents = tuple(documents)
        self._lexicon = Lexicon([f"{d.title}. {d.text}" for d in documents])
        self._same = lru_cache(REMEMBERED)(self._compare)
        self._about = lru_cache(REMEMBERED)(self._documents_of)

    def same(self, diagnosis: str, reference: str) -> bool:
        """Whether both name one disease of the graph, or else have an ICD-10 category in common."""
        return self._same(diagnosis.strip(), reference.strip())

    def documented(self, reference: str) -> bool:
        """Whether there is any document of the disease."""
        return bool(self._about(reference))

    def retrieved_by(self, unit: str, text: str, reference: str) -> str:
        """Title of the first document of the disease among the `RETRIEVED` best for the unit, "" for none."""
        about = self._about(reference)
        scores = self._lexicon.scores(self.query(unit, text))
        best = (-scores).argsort(kind="stable")[:RETRIEVED]
        return next((self._documents[i].title for i in best.tolist() if scores[i] > 0 and i in about), "")

    def query(self, unit: str, text: str) -> str:
        """What is searched for: the unit with its abbreviations written out, and other names of what it names."""
        written = expand(unit, text)
        others = [name for names in self._synonyms.found_in(written).values() for name in names]
        return " ".join([written, *dict.fromkeys(others)])

    def _compare(self, diagnosis: str, reference: str) -> bool:
        if not diagnosis or not reference:
            return False
        if diagnosis.casefold() == reference.casefold():
            return True
        first, second = self._names.disease(diagnosis), self._names.disease(reference)
        if first is not None and second is not None:
            return first == second
        return bool(self._codes(diagnosis) & self._codes(reference))

    def _documents_of(self, reference: str) -> frozenset[int]:
        """Positions of the documents whose title or name is the reference."""
        disease = self._names.disease(reference)
        return frozenset(
            i
            for i, document in enumerate(self._documents)
            if (disease is not None and document.name == disease) or self.same(document.title, reference)
        )
