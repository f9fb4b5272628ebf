"""A block made a part: read, cut into passages, embedded, written. Both engines run these functions and no others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from prompts.errors import AnamnesisError
from tools.corpus.contract import Done, Embedded, Method, Publications, Task
from tools.corpus.parts import has_part, write_part
from tools.corpus.reading import read_block
from tools.encoders import Encoder
from tools.indexes.contract import Entry
from tools.library.document import Document, Window
from tools.library.own import document_of, own_document
from tools.passages.continuity import continuity
from tools.passages.contract import Passage, StoredDocument, context_of, with_neighbours
from tools.passages.seos import SPECIAL, SeosSettings, cut_parts, fitted, parts_of, to_embed
from tools.readers.contract import Record


def read_part(task: Task) -> Publications | Done:
    """The publications of a part, or how its task ended: the part is there, or its block cannot be read."""
    if has_part(Path(task.parts), task.key):
        return Done(key=task.key)
    try:
        return read_block(task.block)
    except AnamnesisError as error:
        return Done(key=task.key, what=error.what, advice=error.advice)


def write(task: Task, read: Publications, encoder: Encoder) -> Done:
    """Cut, embed and write what was read for a task."""
    try:
        write_part(Path(task.parts), task.key, read, embed(read.records, encoder, task.method), encoder)
    except AnamnesisError as error:
        return Done(key=task.key, what=error.what, advice=error.advice)
    except OSError as error:
        what = f"The part cannot be written: {error.strerror or error}."
        return Done(key=task.key, what=what, advice="Check the disk, and build again.")
    return Done(key=task.key)


def make_part(task: Task, encoder: Encoder) -> Done:
    """Make a part, unless it is there. What fails is told in the outcome."""
    read = read_part(task)
    return read if isinstance(read, Done) else write(task, read, encoder)


def embed(records: Sequence[Record], encoder: Encoder, method: Method) -> Embedded:
    """Publications as documents with passages, all passages embedded in one call; of a retracted one there are none."""
    if method == "sections":
        return _by_sections(records, encoder)
    usable = [r for r in records if r.status.usable]
    stored = [StoredDocument(id=r.id, title=r.title, text=r.text) for r in usable]
    cut = dict(zip((r.id for r in usable), _passages(stored, encoder, method), strict=True))
    documents = [_document(r, cut.get(r.id, ())) for r in records]
    entries = [_entry(d, p) for d in documents for p in cut.get(d.id, ())]
    return Embedded(documents, entries, encoder.encode_documents([e.text for e in entries]))


def _by_sections(records: Sequence[Record], encoder: Encoder) -> Embedded:
    """Records as a user's documents are: windows of whole paragraphs under their headings."""
    documents = [own_document(r, encoder) for r in records]
    entries = [_entry(d, p) for d in documents if d.status.usable for p in window_passages(d)]
    return Embedded(documents, entries, encoder.encode_documents([e.text for e in entries]))


def window_passages(document: Document) -> tuple[Passage, ...]:
    """The windows of a document as passages: what reads it closely then takes what was embedded when it was built."""
    cut = [
        Passage(
            start=w.start,
            end=w.end,
            core_start=w.start,
            core_end=w.end,
            section=w.section or None,
            context=context_of(document.title, w.section),
        )
        for w in document.windows
    ]
    return with_neighbours(document.id, cut)


def _passages(documents: Sequence[StoredDocument], encoder: Encoder, method: Method) -> list[tuple[Passage, ...]]:
    if method in ("seos", "seos_paper"):
        return segment_all(documents, encoder, SeosSettings(method=method))
    return [tuple(_whole(d, encoder)) for d in documents]


def _whole(document: StoredDocument, encoder: Encoder) -> list[Passage]:
    """The whole text as one passage; one beyond what the encoder reads is cut at its clauses."""
    end = len(document.text)
    whole = Passage(start=0, end=end, core_start=0, core_end=end, context=context_of(document.title, None))
    return fitted(document.text, [whole], encoder.limit - SPECIAL, encoder)


def _document(record: Record, passages: Sequence[Passage]) -> Document:
    windows = tuple(Window(start=p.start, end=p.end, section=p.section or "") for p in passages)
    return document_of(record, record.sections, windows)


def _entry(document: Document, passage: Passage) -> Entry:
    return Entry(
        id=passage.id(document.id),
        text=passage.embedded_text(document.text),
        collection=document.collection,
        kind=document.kind,
        date=document.date,
        language=document.language,
    )


# SEOS over many documents at once: the same passages as one by one, with all their sentences embedded in one call.


def segment_all(
    documents: Sequence[StoredDocument], encoder: Encoder, settings: SeosSettings | None = None
) -> list[tuple[Passage, ...]]:
    """What `tools.passages.seos.segment` gives for each document, in order."""
    chosen = settings or SeosSettings()
    parts = [parts_of(document, encoder, chosen) for document in documents]
    wanted = [to_embed(found, chosen) for found in parts]
    sentences = [
        document.text[u.start : u.end]
        for document, (split, _) in zip(documents, wanted, strict=True)
        for units in split
        for u in units
    ]
    vectors = encoder.encode_documents(sentences)
    passages, at = [], 0
    for document, found, (split, windows) in zip(documents, parts, wanted, strict=True):
        curves = []
        for units, window in zip(split, windows, strict=True):
            own = vectors[at : at + len(units)]
            curves.append(continuity(own, window) if len(units) else np.empty(0))
            at += len(units)
        cuts = cut_parts(document.text, found, curves, encoder, chosen)
        passages.append(with_neighbours(document.id, [p for cut in cuts for p in cut.passages]))
    return passages
