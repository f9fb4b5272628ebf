"""Generated questions beside those that were written with the library's documents, as its search gives them."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from prompts.errors import DataError, InputError
from tools.encoders import Encoder
from tools.evidence import content_key
from tools.indexes.generations import MANIFEST
from tools.indexes.lexical import Lexicon
from tools.library.contract import QuestionHit, SearchableLibrary
from tools.library.document import LibraryQuestion
from tools.library.monograph import paragraphs
from tools.library.search import lexical, wordings
from tools.questions.contract import IndexedHit
from tools.questions.index import AnsweredQuestions, open_questions
from tools.questions.settings import SearchSettings
from tools.text.tokens import tokens


# Several indexes of answered questions searched as one: their words weigh alike, and each document comes once.
class FoundIn(NamedTuple):
    """A hit, and the index that it is from."""

    source: AnsweredQuestions
    hit: IndexedHit


def search_together(indexes: Sequence[AnsweredQuestions], encoder: Encoder, question: str, k: int) -> list[FoundIn]:
    """At most k hits of each index, best first; of equal ones the newer, then the one that answers more questions.

    A document comes once, with its best hit. BM25 counts a word as rare as it is in all indexes together, and is a
    share of the best question of them all, so that scores of a small index and of a large one can be compared.

    Args:
        encoder: that of the indexes.
    """
    if not question.strip() or not indexes:
        return []
    vectors = encoder.encode_queries(wordings(question))
    asked = Counter(tokens(lexical(question)))
    every = [index.lexicon for index in indexes]
    words = [own.weighted(_weights(asked, own, every)) for own in every]
    most = max(float(of.max(initial=0.0)) for of in words)
    pairs = zip(indexes, words, strict=True)
    near = [index.candidates(vectors, of, most, k) for index, of in pairs]
    least = max((part.least for part in near if len(part.score)), default=0.0)
    found = [
        FoundIn(index, hit)
        for index, part in zip(indexes, near, strict=True)
        for hit in index.documents(part, k, least)
    ]
    found.sort(key=_order, reverse=True)  # stable: equal in all of it, they stay in the order of the indexes
    once: dict[str, FoundIn] = {}
    for each in found:
        once.setdefault(each.hit.document, each)
    return list(once.values())


def _order(found: FoundIn) -> tuple[float, str, int]:
    document = found.hit.document
    return found.hit.score, found.source.date_of(document), found.source.answered(document)


def _weights(asked: Counter[str], own: Lexicon, every: Sequence[Lexicon]) -> dict[str, float]:
    """For each token the factor by which its BM25 in one index becomes that of all of them."""
    count = sum(map(len, every))
    out = {}
    for token, times in asked.items():
        held = own.holding(token)
        if held:
            together = _rarity(sum(lexicon.holding(token) for lexicon in every), count)
            out[token] = times * together / _rarity(held, len(own))
    return out


def _rarity(held: int, count: int) -> float:
    """The weight of a token in BM25 (Robertson; Lucene's form, as `Lexicon` has it)."""
    return math.log(1 + (count - held + 0.5) / (held + 0.5))


class PreparedQuestions:
    """The indexes of generated questions of a library's collections. Those that are not built are left out.

    What another process builds is found by the next search. A question of a document that is gone, or whose text has
    changed since, is left out.

    Args:
        folders: one index a collection.

    An index that is damaged, or was made with another encoder, is left out too; `problems` names it.
    """

    def __init__(
        self,
        library: SearchableLibrary,
        folders: Sequence[Path],
        encoder: Encoder,
        settings: SearchSettings | None = None,
    ) -> None:
        self._library, self._folders, self._encoder = library, tuple(folders), encoder
        self._settings = settings or SearchSettings()
        self._lock = threading.Lock()
        self._opened: dict[Path, tuple[int, AnsweredQuestions | None]] = {}
        self.problems: dict[Path, str] = {}

    def search(self, question: str, limit: int) -> list[QuestionHit]:
        """The nearest generated questions, one a document, best first."""
        if limit < 1:
            return []
        found = search_together(list(self._indexes()), self._encoder, question, limit)
        hits = (self._hit(each.source, each.hit) for each in found)
        return list(islice((hit for hit in hits if hit is not None), limit))

    def answered(self, document: str) -> int:
        """How many generated questions a document answers."""
        return sum(index.answered(document) for index in self._indexes())

    def __len__(self) -> int:
        """Number of questions."""
        return sum(len(index) for index in self._indexes())

    def _indexes(self) -> Iterator[AnsweredQuestions]:
        for folder in self._folders:
            try:
                changed = (folder / MANIFEST).stat().st_mtime_ns
            except OSError:  # it is not built
                continue
            with self._lock:
                held = self._opened.get(folder)
                if held is None or held[0] != changed:
                    held = self._opened[folder] = (changed, self._open(folder))
            if held[1] is not None:
                yield held[1]

    def _open(self, folder: Path) -> AnsweredQuestions | None:
        self.problems.pop(folder, None)
        try:
            return open_questions(folder, self._encoder, self._settings)
        except DataError as error:
            self.problems[folder] = str(error)
            return None

    def _hit(self, index: AnsweredQuestions, found: IndexedHit) -> QuestionHit | None:
        try:
            document = self._library.document(found.document)
        except InputError:  # it was removed since
            return None
        if content_key(document.text) != index.text_of(found.document):
            return None
        lines = (p for p in paragraphs(document.text) if p.start <= found.start and found.end <= p.end)
        paragraph = next(lines, None)
        known = LibraryQuestion(
            text=found.question.text,
            start=found.start,
            end=found.end,
            paragraph_start=paragraph.start if paragraph else found.start,
            paragraph_end=paragraph.end if paragraph else found.end,
        )
        return QuestionHit(
            document=document,
            question=known,
            similarity=found.similarity,
            lexical=found.words,
            generated=True,
            judged=found.judged,
        )
