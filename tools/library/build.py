"""Building a library: monographs to documents and three indexes, once, at set-up."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from prompts.errors import DataError
from tools.encoders import Encoder, Vectors
from tools.evidence import Frozen
from tools.files import REBUILD, locked
from tools.indexes.contract import Entry
from tools.indexes.generations import generation_name, publish, read_current, unfinished
from tools.indexes.local import LocalIndex
from tools.library.document import Document, make_document, window_text
from tools.library.monograph import Monograph, read_monograph, unusable

FORMAT = 2  # raised with every change of the files or of what is embedded
# ours: kinds of documents that are searched; the others are found by the questions that they answer
PROSE = ("condition", "evidence")
CHUNK = 1024  # ours: texts embedded between two reports of progress; fewer of them have like lengths
DOCUMENTS = TypeAdapter(list[Document])
Progress = Callable[[int, int], None]


class LibraryManifest(Frozen):
    """What a built library says about itself. ``content`` is the sha256 of its sources."""

    format: int
    generation: str
    content: str
    encoder: str
    dimension: int
    documents: int
    questions: int
    built: str


def build_library(
    source: Path,
    target: Path,
    encoder: Encoder,
    progress: Progress | None = None,
    more: Sequence[Monograph] = (),
) -> bool:
    """Build the library of a folder of monographs, unless it is built already from the same content and encoder.

    Args:
        source: folder with ``*.md`` files. more: monographs beside them.
        target: folder of the built library; replaced at one instant, a reader never sees a part.
        progress: called with (texts embedded, texts in all).

    Returns:
        Whether it was built anew.

    Raises:
        DataError: a monograph cannot be used; the message names every such file.
    """
    files = sorted(source.glob("*.md"))
    if not files:
        raise DataError(f"There are no monographs in {source}.", "Name a folder with .md files.")
    content = content_hash(files, more)
    with locked(target):
        if is_current(target, content, encoder):
            return False
        documents = [make_document(m, encoder) for m in _read_all(files, more)]
        with unfinished(target) as temporary:
            manifest = _write(temporary, documents, content, encoder, progress)
            publish(target, temporary, manifest.generation, manifest.model_dump_json(indent=1).encode())
    return True


def content_hash(files: Sequence[Path], more: Sequence[Monograph] = ()) -> str:
    """sha256 over names and bytes of the source files, and over further monographs."""
    digest = hashlib.sha256()
    for file in files:
        inner = hashlib.sha256(file.read_bytes()).hexdigest()
        digest.update(f"{file.name}\n{inner}\n".encode())
    for monograph in more:
        digest.update(monograph.model_dump_json().encode())
    return digest.hexdigest()


def is_current(target: Path, content: str, encoder: Encoder) -> bool:
    """Whether ``target`` holds a sound library of this content, made with this encoder."""
    try:
        manifest = read_current(target, read_manifest)
        if (manifest.content, manifest.encoder, manifest.dimension) != (content, encoder.name, encoder.dimension):
            return False
        for index in ("documents", "windows", "questions"):
            LocalIndex.load(target / manifest.generation / index, encoder.name, encoder.dimension)
        return (target / manifest.generation / "documents.json").is_file()
    except DataError:  # nothing there, damaged, or of another format: each is mended by building
        return False


def read_manifest(raw: bytes) -> LibraryManifest:
    """The manifest of a library; raises DataError when it is damaged or of another format."""
    try:
        manifest = LibraryManifest.model_validate_json(raw)
    except ValidationError as error:
        raise DataError("The manifest of the library is damaged.", REBUILD) from error
    if manifest.format != FORMAT:
        raise DataError(f"The library has format {manifest.format}, not {FORMAT}.", REBUILD)
    return manifest


def question_id(document: Document, number: int) -> str:
    """The id of a question's row: document and number from 0."""
    return f"{document.id}/q{number}"


def _read_all(files: Sequence[Path], more: Sequence[Monograph] = ()) -> list[Monograph]:
    monographs, problems = [], []
    for file in files:
        try:
            monograph = read_monograph(file)
        except DataError as error:
            problems.append(error.what)
            continue
        problems += [f"{file.name}: {problem}" for problem in unusable(monograph, file.stem)]
        monographs.append(monograph)
    names = {file.stem for file in files}
    problems += [f"{m.front.id}: there is such a file" for m in more if m.front.id in names]
    problems += [f"{m.front.id}: {problem}" for m in more for problem in unusable(m, m.front.id)]
    monographs += more
    if problems:
        raise DataError("The library has unusable monographs: " + "; ".join(problems) + ".", "Mend or remove them.")
    return monographs


def _write(
    folder: Path, documents: list[Document], content: str, encoder: Encoder, progress: Progress | None
) -> LibraryManifest:
    searched = [d for d in documents if d.kind in PROSE]
    windows = [(d, w) for d in searched for w in d.windows]
    questions = [(d, n, q) for d in documents for n, q in enumerate(d.questions)]
    texts = [window_text(d, w) for d, w in windows] + [q.text for _, _, q in questions]
    vectors = _embed(texts, encoder, progress)
    window_rows = [entry_of(d, d.span_id(w.start, w.end), d.text[w.start : w.end]) for d, w in windows]
    question_rows = [entry_of(d, question_id(d, n), f"{q.text} {d.title}") for d, n, q in questions]
    _save(folder / "windows", window_rows, vectors[: len(windows)], encoder)
    _save(folder / "questions", question_rows, vectors[len(windows) :], encoder)
    document_rows = [entry_of(d, d.id, f"{d.title}\n{d.text}") for d in searched]
    owners = np.array([n for n, d in enumerate(searched) for _ in d.windows])
    _save(folder / "documents", document_rows, _means(vectors[: len(windows)], owners, len(searched)), encoder)
    (folder / "documents.json").write_bytes(DOCUMENTS.dump_json(documents))
    identity = hashlib.sha256(f"{FORMAT}\n{content}\n{encoder.name}\n{encoder.dimension}".encode()).hexdigest()
    built = datetime.now(UTC).isoformat(timespec="microseconds")
    return LibraryManifest(
        format=FORMAT,
        generation=generation_name(identity, built),
        content=content,
        encoder=encoder.name,
        dimension=encoder.dimension,
        documents=len(documents),
        questions=len(questions),
        built=built,
    )


def entry_of(document: Document, id: str, text: str) -> Entry:
    """A row of an index: a window, a question or the whole of a document."""
    return Entry(
        id=id,
        text=text,
        collection=document.collection,
        kind=document.kind,
        date=document.date,
        language=document.language,
    )


def _embed(texts: Sequence[str], encoder: Encoder, progress: Progress | None) -> Vectors:
    parts = []
    for at in range(0, len(texts), CHUNK):
        parts.append(encoder.encode_documents(texts[at : at + CHUNK]))
        if progress is not None:
            progress(min(at + CHUNK, len(texts)), len(texts))
    return np.concatenate(parts)


def _means(vectors: Vectors, owners: NDArray[np.int64], count: int) -> Vectors:
    """The normalised mean of each document's window vectors: (count, dimension)."""
    sums = np.zeros((count, vectors.shape[1]), dtype=np.float32)
    np.add.at(sums, owners, vectors)
    return np.asarray(sums / np.linalg.norm(sums, axis=1, keepdims=True), dtype=np.float32)


def _save(folder: Path, rows: Sequence[Entry], vectors: Vectors, encoder: Encoder) -> None:
    index = LocalIndex(encoder.name, encoder.dimension)
    index.add(rows, vectors)
    index.save(folder)
    Path(f"{folder}.lock").unlink(missing_ok=True)  # the temporary folder has one writer
