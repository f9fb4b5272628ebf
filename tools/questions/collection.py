"""Documents as answers are sought in them: where they are from, their words, the meaning of their windows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from prompts.errors import InputError
from tools.encoders import Encoder, Vectors
from tools.library.document import Document, Window, lead
from tools.library.files import candidates
from tools.library.own import paragraph_windows
from tools.medicines.pages import KIND as MEDICINE
from tools.passages.batched_bm25 import BatchedBM25
from tools.questions.contract import Answer, Question, SourceDocument
from tools.readers.contract import Problem, Section
from tools.readers.reading import read, suffix_of, suffixes
from tools.text.tokens import tokens


# The tokens of questions, which every step of a build asks for again.
@lru_cache(maxsize=65536)  # ours: those of some thousand documents; the steps of a build go through them in turn
def bag(text: str) -> tuple[str, ...]:
    """What `tokens` gives, remembered."""
    return tuple(tokens(text))


# Documents that questions are written for: of a library, or of files and folders.
AUTHOR = "author"  # who wrote a document's own questions


def of_library(documents: Iterable[Document]) -> list[SourceDocument]:
    """The documents of a library; what is retracted is left out, and pages of medicines, which answer questions of
    their own and are checked for the rest (`tools.medicines.checks`)."""
    return [
        SourceDocument(id=d.id, title=d.title, text=d.text, date=d.date, language=d.language, windows=d.windows)
        for d in documents
        if d.status.usable and d.kind != MEDICINE
    ]


def own_questions(documents: Iterable[Document]) -> list[Question]:
    """The questions that were written with the documents of a library."""
    return [
        Question(text=q.text, answers=(Answer(document=d.id, start=q.start, end=q.end),), writer=AUTHOR)
        for d in documents
        if d.status.usable and d.kind != MEDICINE
        for q in d.questions
    ]


def of_paths(paths: Iterable[Path]) -> tuple[list[SourceDocument], list[Problem]]:
    """The documents of files and folders, each once, and what could not be read of them.

    Raises:
        InputError: a path is not there.
    """
    named = list(paths)
    for path in named:
        if not path.exists():
            raise InputError(f"There is no file or folder {path}.", "Check the path.")
    found: dict[str, SourceDocument] = {}
    problems: list[Problem] = []
    for candidate in candidates(named):
        if candidate.problem is not None:
            problems.append(Problem(where=str(candidate.path), what=candidate.problem.what, advice=""))
        elif candidate.named or suffix_of(candidate.path) in suffixes():
            for item in read(candidate.path):
                if isinstance(item, Problem):
                    problems.append(item.model_copy(update={"where": f"{candidate.path.name} {item.where}".strip()}))
                elif item.status.usable:
                    found.setdefault(
                        item.id,
                        SourceDocument(
                            id=item.id, title=item.title, text=item.text, date=item.date, language=item.language
                        ),
                    )
    return list(found.values()), problems


CHUNK = 64  # ours: documents whose windows are embedded between two reports of progress
LEXICAL = 0.5  # ours: words and meaning count alike
Scores = NDArray[np.float32]
Progress = Callable[[str, int, int], None]


class Rarity:
    """Weight of a token among documents: log(1 + (n - df + 0.5) / (df + 0.5)), as in BM25 (Robertson)."""

    def __init__(self, bags: Sequence[Sequence[str]]) -> None:
        self._n = len(bags)
        self._df = Counter(token for bag in bags for token in set(bag))

    def __call__(self, token: str) -> float:
        """The weight; that of a token of one document for one that none holds."""
        df = max(self._df[token], 1)
        return math.log(1 + (self._n - df + 0.5) / (df + 0.5))


class Collection:
    """A collection that questions are asked of.

    Args:
        documents: in any order; ids differ.
    """

    def __init__(self, documents: Sequence[SourceDocument]) -> None:
        self.documents = tuple(documents)
        self.number = {d.id: n for n, d in enumerate(documents)}
        bags = [tokens(f"{d.title} {d.text}") for d in documents]
        self.rarity = Rarity(bags)
        self._words = BatchedBM25(bags)
        self._windows: Vectors | None = None
        self._first: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._places: list[list[tuple[int, int]]] = []

    def embed(self, encoder: Encoder, progress: Progress | None = None) -> None:
        """Embed the windows of all documents, once."""
        parts: list[Vectors] = []
        first: list[int] = []
        count = 0
        self._places = []
        for at in range(0, len(self.documents), CHUNK):
            part = self.documents[at : at + CHUNK]
            cut = [_windows(document, encoder) for document in part]
            for places in cut:
                first.append(count)
                count += len(places)
            self._places += [[(w.start, w.end) for w in places] for places in cut]
            texts = [_window_text(d, w) for d, places in zip(part, cut, strict=True) for w in places]
            parts.append(encoder.encode_documents(texts))
            if progress is not None:
                progress("documents", min(at + CHUNK, len(self.documents)), len(self.documents))
        self._windows = np.concatenate(parts) if parts else np.empty((0, encoder.dimension), dtype=np.float32)
        self._first = np.array(first, dtype=np.int64)

    def spans(self, answers: Sequence[Answer], encoder: Encoder) -> Vectors:
        """Array (answers, dimension): the words of each answer, after the title of its document."""
        rows: dict[str, int] = {}
        places = []
        for answer in answers:
            document = self.documents[self.number[answer.document]]
            before = lead(document.title, "") if document.title.strip() else ""
            places.append(rows.setdefault(f"{before}{document.text[answer.start : answer.end]}", len(rows)))
        return encoder.encode_documents(list(rows))[places]

    def best_window(self, number: int, vector: Vectors) -> tuple[int, int]:
        """The place of the window of a document, by number, that is nearest to a question's vector (dimension,)."""
        if self._windows is None:
            raise RuntimeError("the windows are not embedded")
        places = self._places[number]
        first = int(self._first[number])
        return places[int(np.argmax(self._windows[first : first + len(places)] @ vector))]

    def answering(self, questions: Sequence[str], vectors: Vectors) -> Scores:
        """Array (documents, questions): how well each answers, 0..1; BM25 as a share of the best, and cosine, alike.

        Args:
            vectors: of the questions, (questions, dimension).
        """
        words = self._words.scores([bag(q) for q in questions])
        most = words.max(axis=0, initial=np.float32(1e-9))
        meaning = self.nearness(vectors)
        return np.asarray(LEXICAL * words / most + (1 - LEXICAL) * meaning, dtype=np.float32)

    def nearness(self, vectors: Vectors) -> Scores:
        """Array (documents, questions): cosine of the nearest window. `embed` comes first."""
        if self._windows is None:
            raise RuntimeError("the windows are not embedded")
        return np.asarray(np.maximum.reduceat(self._windows @ vectors.T, self._first, axis=0), dtype=np.float32)


def _windows(document: SourceDocument, encoder: Encoder) -> Sequence[Window]:
    """The windows of a document as they are embedded; an empty one where there is no text."""
    if document.windows:
        return document.windows
    sections = (Section(title="", start=0, end=len(document.text)),)
    found = list(paragraph_windows(document.title, document.text, sections, encoder))
    return found or (Window(start=0, end=0, section=""),)


def _window_text(document: SourceDocument, window: Window) -> str:
    """What is embedded of a window: its words after the title; the title alone where there is no text."""
    before = lead(document.title, window.section) if document.windows or document.title.strip() else ""
    return f"{before}{document.text[window.start : window.end]}" or document.id
