"""Sentences that answer a question: "first line for gout if NSAIDs are out" asks for one or two of a page's sentences.

QB-RAG answers questions that were written beforehand; a page answers more than anybody has written down. A trained head
(`tools/reading/answering.py`) reads the question beside every sentence of the documents whose subject it names. Ours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from prompts.errors import InputError
from tools.library.contract import QuestionHit, SearchableLibrary
from tools.library.document import Document, LibraryQuestion
from tools.library.monograph import COLLECTION, Section, paragraphs
from tools.medicines.answering import answer_of
from tools.medicines.blame import States, asks_if_usual, asks_of_blame, suspects
from tools.medicines.checks import Answer, asks_of_studies, check, known_of, record_of
from tools.medicines.constraints import asked_of
from tools.medicines.names import medicines_in
from tools.medicines.pages import KIND, slug
from tools.questions.sections import DOCUMENTS, SectionQuestions, folded, titles
from tools.reading.answering import Told, answering, nearness, part_asked
from tools.reading.contract import Reader
from tools.text.language import is_english
from tools.text.questions import is_closed, is_question, parts
from tools.text.sentences import Span, sentences
from tools.text.tokens import tokens

HOW = ("what it is", "taking it")  # parts that tell how one works and when, which no study is asked for
WHICH = re.compile(r"\b(?:which|what)\s+(?:[\w-]+\s+){0,2}$", re.IGNORECASE)  # before a class of which one is sought
OF_CLASS = 2  # ours: medicines of a class whose pages are read for it
MEDICINES = 3  # ours: medicines of a question whose pages are read
LONGEST = 200  # ours: sentences of a document that is read whole; a longer one is searched as passages


class Least(NamedTuple):
    """What a sentence needs to be told.

    Attributes:
        none: probability that nothing answers, from which nothing is told. first: of the first sentence, below which
            nothing is. further: of a sentence beside the first.
    """

    none: float
    first: float
    further: float


LEAST = Least(0.3, 0.35, 0.05)  # ours, on questions of training that were held out (`dev reader answers` prints them)
OF_MEDICINE = Least(0.75, 0.1, 0.03)  # ours: the page of a medicine that is named is surely about what is asked
MOST = 5  # sentences
NEAREST = 5  # of the pages of medicines, that are read where none surely answers


class SentenceQuestions(SectionQuestions):
    """Finds the sentences that answer an open question, or the whole section that it asks for."""

    def search(self, question: str, told: str = "") -> list[QuestionHit]:
        """The whole section where one is asked for; else the sentences that answer, best first; none where probably
        nothing does. Similarity is the probability.

        Args:
            told: what was told before: a question that names nothing may be of the medicine that stands there.
        """
        whole = super().search(question)
        if whole or not is_english(question) or (is_closed(question) and not self._asks_how(question)):
            return whole
        found = [h.document for h in self._library.search(question, DOCUMENTS) if h.document.language == "en"]
        named = [document for document in found if self.named(question, document)]
        named += self._medicines(question) or ([] if named else self._medicines(told))
        medicines = bool(named) and all(document.kind == KIND for document in named)
        pool = [(document, span, told) for document in named for span, told in sentences_of(document)]
        best: dict[int, float] = {}
        for part in _asked(question) if named else []:
            asked = generic(self._by_title(part, named) if named[0].kind != KIND else part)
            for n, share in _answers(asked, [told for _, _, told in pool], OF_MEDICINE if medicines else LEAST):
                best[n] = max(share, best.get(n, 0.0))
        order = sorted(best, key=lambda n: -best[n])[:MOST]
        return [_hit(*pool[n][:2], question, best[n]) for n in order]

    def _by_title(self, part: str, named: Sequence[Document]) -> str:
        """A question with the subject by its title: in the place of another name of it, or before it."""
        names = [(document, self.named(part, document)) for document in named]
        if any(name in titles(document) and name in folded(part) for document, name in names):
            return part
        document, name = next(((d, n) for d, n in names if n and n in folded(part)), (named[0], ""))
        written = re.compile(rf"(?<!\w){re.escape(name)}s?(?!\w)", re.IGNORECASE)
        if name and written.search(part):
            return written.sub(lambda _: document.title, part, count=1)
        return f"{document.title}: {part}"

    def _asks_how(self, question: str) -> bool:
        """Whether a closed question is of how a medicine is taken or stopped ("should it be taken with food?")."""
        return bool(self._medicines(question)) and part_asked(generic(question)) == "taking it"

    def beside(self, question: str) -> list[QuestionHit]:
        """The sentences nearest to a question in the pages of the medicines that it names, as evidence."""
        pool = [(d, span, told) for d in self._medicines(question) for span, told in sentences_of(d)]
        near = nearness(question, [told for *_, told in pool])
        hits = [_hit(*pool[int(n)][:2], question, 0.0) for n in (-near).argsort(kind="stable")[:NEAREST]]
        return [hit.model_copy(update={"direct": False}) for hit in hits]

    def _medicines(self, text: str) -> list[Document]:
        """The pages of the medicines that a text names; where it names a class alone, of its best known ones, unless
        it asks which of the class to choose."""
        if not text or (asks_of_studies(text) and part_asked(generic(text)) not in HOW):
            return []
        named = medicines_in(text)
        records = [record for m in named if (record := record_of(m)) is not None]
        if not records:
            classes = [m for m in named if not WHICH.search(text[: m.start])]
            records = [record for m in classes for record in known_of(m)[:OF_CLASS]]
        pages = list(dict.fromkeys(f"{COLLECTION}:{slug(record.name)}" for record in records))
        return [document for page in pages[:MEDICINES] if (document := self._document(page)) is not None]

    def _document(self, id: str) -> Document | None:
        try:
            return self._library.document(id)
        except InputError:  # the library may be without pages of medicines
            return None


@lru_cache(maxsize=64)
def sentences_of(document: Document) -> tuple[tuple[Span, Told], ...]:
    """The sentences of a document with their places; none of one that is too long to be read whole."""
    told = told_of(document.title, document.text, document.sections)
    return told if len(told) <= LONGEST else ()


def told_of(title: str, text: str, sections: Sequence[Section]) -> tuple[tuple[Span, Told], ...]:
    """The sentences of a text with headings, and where they stand."""
    out: list[tuple[Span, Told]] = []
    place: dict[str, int] = {}
    for paragraph in paragraphs(text):
        section = next((s.title for s in sections if s.start <= paragraph.start < s.end), "")
        for span in sentences(paragraph.of(text)):
            said = " ".join(span.of(paragraph.of(text)).split())
            if tokens(said):
                at = Span(paragraph.start + span.start, paragraph.start + span.end)
                out.append((at, Told(said, title, section, place.get(section, 0))))
                place[section] = place.get(section, 0) + 1
    return tuple(out)


def _asked(question: str) -> list[str]:
    """What a message asks: each question in it by itself, where more is told or asked beside; else the message."""
    said = parts(question)
    asked = [part for part in said if is_question(part)]
    return asked if asked and len(said) > 1 else [question]


def _answers(question: str, told: Sequence[Told], least: Least) -> list[tuple[int, float]]:
    """Which sentences answer, and how probably, best first."""
    shares = answering(question, told).tolist()
    order = sorted(range(len(told)), key=lambda n: -shares[n])[:MOST]
    if not told or shares[-1] >= least.none or shares[order[0]] < least.first:
        return []
    return [(n, shares[n]) for n in order if n == order[0] or shares[n] >= least.further]


def generic(question: str) -> str:
    """A question with medicines by the names of their pages."""
    for medicine in reversed(medicines_in(question)):
        name, end = record_of(medicine), medicine.start + len(medicine.written)
        question = question[: medicine.start] + name.name + question[end:] if name is not None else question
    return question


def _hit(document: Document, span: Span, question: str, share: float) -> QuestionHit:
    """A sentence as the answer to the question."""
    paragraph = next(p for p in paragraphs(document.text) if p.start <= span.start < p.end)
    known = LibraryQuestion(
        text=question,
        start=span.start,
        end=span.end,
        paragraph_start=paragraph.start,
        paragraph_end=paragraph.end,
    )
    return QuestionHit(document=document, question=known, similarity=min(1.0, share), lexical=0.0, direct=True)


# Whether a medicine may be taken, as the pages of medicines have it (`tools.medicines.checks`).

CHECKS = 4  # ours: checks that are told of one question


class MedicineQuestions:
    """Finds what the pages of medicines say to whether one may be taken.

    Args:
        library: holds the pages; one without a page says nothing of its medicine.
        reader: what the words of a page say of the question (`tools.medicines.answering`).
        states: ids of the findings that a text states; None: no medicine is blamed.
    """

    def __init__(self, library: SearchableLibrary, reader: Reader, states: States | None = None) -> None:
        self._library, self._reader, self._states = library, reader, states

    def search(self, question: str, told: str = "") -> list[QuestionHit]:
        """What may not be taken and why, the gravest first, and what that answers; none where the question is about
        something else. Where the gravest answers nothing for sure, none does.

        Args:
            told: what is told of the patient beside the question.
        """
        if self._states is not None and self.blames(question, told):
            closed = is_closed(asked_of(question)) and not asks_if_usual(question)
            answer: Answer = "yes" if closed else ""
            blamed = [self._hit(s.page, "side effects", s.says, answer) for s in suspects(question, told, self._states)]
            return [hit for hit in blamed if hit is not None]
        found = check(question, told)
        answer = answer_of(question, told, found, self._reader)
        answers = [answer, *(found.answer(c) if answer else "" for c in found.checks[1:CHECKS])]
        hits = [self._hit(c.page, c.beside, c.says, a) for c, a in zip(found.checks, answers, strict=False)]
        return [hit for hit in hits if hit is not None]

    def blames(self, question: str, told: str = "") -> bool:
        """Whether a question asks if a medicine causes what is told, which side effects alone answer."""
        return self._states is not None and asks_of_blame(question, told)

    def _hit(self, page: str, about: str, said: str, answer: Answer) -> QuestionHit | None:
        try:
            document = self._library.document(f"{COLLECTION}:{page}")
        except InputError:
            return None
        start = document.text.find(said)
        if start < 0 or not said:  # the page has no such part
            return None
        end = start + len(said)
        asked = f"{document.title}: {about.replace('_', ' ')}?"
        known = LibraryQuestion(text=asked, start=start, end=end, paragraph_start=start, paragraph_end=end)
        return QuestionHit(document=document, question=known, similarity=1.0, lexical=1.0, direct=True, answer=answer)
