"""A record that a reader gave, as a document of the library: windows of whole paragraphs, and their vectors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tools.encoders import Encoder, Vectors
from tools.evidence import content_key
from tools.library.document import (
    Document,
    LibraryQuestion,
    Window,
    lead,
    pack,
    questions_of,
    window_budget,
    window_text,
)
from tools.readers.contract import Record, Section
from tools.text.sentences import Span

BATCH = 256  # ours: windows embedded in one call and stored in one transaction, and so lost when interrupted
# ours: the end of a sentence, and what ends in a full stop without ending one
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"'“‘(\[]?[A-Z0-9])|(?<=[.!?][\"'”’)\]])\s+(?=[A-Z])|(?<=[。！？])")
ABBREVIATED = re.compile(
    r"\b(?:e\.g|i\.e|et al|vs|cf|approx|[Ff]igs?|[Ee]qs?|Dr|Prof|Mrs?|Ms|St|[Rr]efs?|Tab|ca|[A-Z])\.$"
)
LONGEST = 8  # characters of the longest of these, and one before it
LINE = re.compile(r"\S[^\n]*")


class Embedded(NamedTuple):
    """A document with the vectors of its windows and questions, each (n, dimension); none for a retracted one."""

    document: Document
    windows: Vectors
    questions: Vectors


def own_document(record: Record, encoder: Encoder) -> Document:
    """The document of a record. Each offset counts the characters of the record's text."""
    sections = record.sections or (Section(title="", start=0, end=len(record.text)),)
    windows = tuple(paragraph_windows(record.title, record.text, sections, encoder))
    return document_of(record, sections, windows, questions_of(record.text, record.questions))


def document_of(
    record: Record,
    sections: tuple[Section, ...],
    windows: tuple[Window, ...],
    questions: tuple[LibraryQuestion, ...] = (),
) -> Document:
    """A record as a document with these windows."""
    own = {"sections": sections, "windows": windows, "questions": questions, "stated_level": record.level}
    told = {name: getattr(record, name) for name in Record.model_fields if name in Document.model_fields}
    return Document(**told | own)


def fingerprint(record: Record) -> str:
    """sha256 over all that a record says: the same for one that need not be stored again."""
    later = ("source", "licence", "reference")  # where one is unset, as before there was such a field
    unset = {name for name in later if not getattr(record, name)}
    return content_key(record.model_dump_json(exclude=unset))


def paragraph_windows(title: str, text: str, sections: Sequence[Section], encoder: Encoder) -> Iterator[Window]:
    """Windows that the encoder reads whole: paragraphs of one section, as many as fit; a long one by its sentences.

    Monographs are packed sentence by sentence (`tools.library.document.make_document`). A user's document may be a
    hundred times as long: here only a paragraph that does not fit is cut into sentences, and by punctuation alone.
    """
    leads = encoder.count_tokens([lead(title, s.title) for s in sections])
    lines = [
        [Span(s.start + m.start(), s.start + m.end()) for m in LINE.finditer(text[s.start : s.end])] for s in sections
    ]
    counts = iter(encoder.count_tokens([span.of(text) for found in lines for span in found]))
    for section, found, lead_tokens in zip(sections, lines, leads, strict=True):
        budget = window_budget(lead_tokens, encoder)
        for span in _packed(text, [(span, next(counts)) for span in found], budget, encoder):
            yield Window(start=span.start, end=span.end, section=section.title)


def texts_of(document: Document) -> list[str]:
    """What is embedded for a document: its windows, then its questions; nothing for what may not be used."""
    if not document.status.usable:
        return []
    return [window_text(document, w) for w in document.windows] + [q.text for q in document.questions]


def embed_together(documents: Sequence[Document], encoder: Encoder) -> list[Embedded]:
    """Documents with their vectors, all embedded in one call."""
    texts = [text for document in documents for text in texts_of(document)]
    vectors = encoder.encode_documents(texts)
    found = []
    at = 0
    for document in documents:
        count = len(texts_of(document))
        middle = at + min(count, len(document.windows))
        found.append(Embedded(document, vectors[at:middle], vectors[middle : at + count]))
        at += count
    return found


def embed_each(documents: Iterable[Document], encoder: Encoder) -> Iterator[Embedded]:
    """Documents with their vectors, embedded in batches."""
    batch: list[Document] = []
    for document in documents:
        batch.append(document)
        if sum(len(d.windows) for d in batch) >= BATCH:
            yield from embed_together(batch, encoder)
            batch = []
    yield from embed_together(batch, encoder)


def mean(vectors: Vectors) -> Vectors:
    """The normalised mean of a document's windows: (1, dimension)."""
    total = vectors.sum(axis=0, keepdims=True)
    return np.asarray(total / np.linalg.norm(total), dtype=np.float32)


def _packed(text: str, lines: Sequence[tuple[Span, int]], budget: int, encoder: Encoder) -> list[Span]:
    packed: list[Span] = []
    room = 0
    for span, count in _pieces(text, lines, budget, encoder):
        if packed and count <= room:
            packed[-1] = Span(packed[-1].start, span.end)
            room -= count
        else:
            packed.append(span)
            room = budget - count
    return [Span(s.start, s.start + len(s.of(text).rstrip())) for s in packed]


def _pieces(text: str, lines: Sequence[tuple[Span, int]], budget: int, encoder: Encoder) -> Iterator[tuple[Span, int]]:
    """Paragraphs that fit, and the sentences of those that do not, each with its tokens."""
    for line, tokens in lines:
        if tokens <= budget:
            yield line, tokens
            continue
        cut = quick_sentences(text, line)
        for sentence, count in zip(cut, encoder.count_tokens([s.of(text) for s in cut]), strict=True):
            if count <= budget:
                yield sentence, count
            else:
                yield from ((piece, budget) for piece in pack(text, sentence, budget, encoder))


def quick_sentences(text: str, whole: Span) -> list[Span]:
    """The sentences of a paragraph by their punctuation.

    Windows need no more than this, and it is much quicker than `tools.text.sentences`, which is for quotes.
    """
    found: list[Span] = []
    start = whole.start
    for match in SENTENCE_END.finditer(text, whole.start, whole.end):
        if not ABBREVIATED.search(text, max(start, match.start() - LONGEST), match.start()):
            found.append(Span(start, match.start()))
            start = match.end()
    return [*found, Span(start, whole.end)] if start < whole.end else found
