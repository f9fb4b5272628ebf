"""A document of the library as it is stored and searched: text, sections, windows, questions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from prompts.errors import InputError
from tools.contract import Notice, Severity
from tools.encoders import Encoder
from tools.evidence import Evidence, EvidenceId, Found, Frozen, Origin, Status, facts_of
from tools.library.monograph import COLLECTION, Monograph, QuestionSpan, Section, locate
from tools.notices import noted
from tools.text.sentences import Span, sentences

KIND = "monograph"
SPECIAL_TOKENS = 2  # code: a BERT encoder adds one before and one after the text
MIN_BUDGET = 32  # ours: tokens left for the text under a very long title


class Window(Frozen):
    """A piece of a document that the encoder reads whole: its characters, and the heading it stands under."""

    start: int
    end: int
    section: str


class LibraryQuestion(Frozen):
    """A question that the document answers: the characters of the answer and of its paragraph in the document."""

    text: str
    start: int
    end: int
    paragraph_start: int
    paragraph_end: int

    @property
    def whole(self) -> bool:
        """Whether the answer is all of its paragraph."""
        return (self.start, self.end) == (self.paragraph_start, self.paragraph_end)


class Document(Frozen):
    """A document. ``id`` is the document id of its evidence (``library:gerd``); dates are ISO, "" when unknown.

    ``text`` is the body without front matter; every offset counts its characters. The last six fields are what a
    document of another collection says of itself; those of the starter collection are all of one kind and level.
    """

    id: str
    title: str
    text: str
    kind: str
    language: str
    date: str
    review_by: str
    clinically_reviewed: bool = False
    icd10: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    windows: tuple[Window, ...] = ()
    questions: tuple[LibraryQuestion, ...] = ()
    status: Status = Status.OK
    publication_types: tuple[str, ...] = ()
    stated_level: str | None = None
    source: str = ""
    licence: str = ""
    reference: str = ""

    @property
    def collection(self) -> str:
        """The collection that the id names."""
        return EvidenceId.parse(self.id).collection

    @property
    def is_starter(self) -> bool:
        """Whether it belongs to the starter collection."""
        return self.collection == COLLECTION

    @property
    def level(self) -> str | None:
        """The level of evidence in words, None when nothing tells."""
        if not self.is_starter:
            return self.stated_level
        return KIND if self.clinically_reviewed else f"{KIND} (not clinically reviewed)"

    def span_id(self, start: int, end: int) -> str:
        """The evidence id of a slice."""
        return f"{self.id}@{start}-{end}"

    def section_at(self, position: int) -> str | None:
        """The heading over a character, None where there is none."""
        return next((s.title or None for s in self.sections if s.start <= position < s.end), None)

    def evidence(self, start: int, end: int, found: Sequence[Found] = ()) -> Evidence:
        """A slice of the document as evidence; raises InputError for a slice that is not in it."""
        if not 0 <= start < end <= len(self.text):
            raise InputError(f"{self.id} has no characters {start} to {end}.", "Take the span from a search result.")
        return Evidence(
            id=self.span_id(start, end),
            text=self.text[start:end],
            kind=KIND if self.is_starter else self.kind,
            origin=Origin.RETRIEVED,
            section=self.section_at(start),
            neighbours=self._neighbours(start, end),
            found=tuple(found),
            **facts_of(self),
        )

    def past_review(self, today: dt.date) -> bool:
        """Whether the review date has passed."""
        return bool(self.review_by) and self.review_by < today.isoformat()

    def _neighbours(self, start: int, end: int) -> tuple[str, ...]:
        before = [w for w in self.windows if w.end <= start][-1:]
        after = [w for w in self.windows if w.start >= end][:1]
        return tuple(self.span_id(w.start, w.end) for w in before + after)


def make_document(monograph: Monograph, encoder: Encoder) -> Document:
    """The document of a monograph whose spans are sound (`tools.library.monograph.unusable` is empty)."""
    front = monograph.front
    return Document(
        id=f"{COLLECTION}:{front.id}",
        title=front.title,
        text=monograph.text,
        kind=front.kind,
        language=front.language,
        date=front.written.isoformat(),
        review_by=front.review_by.isoformat(),
        clinically_reviewed=front.clinically_reviewed,
        icd10=front.icd10,
        sections=monograph.sections,
        windows=tuple(w for s in monograph.sections for w in _windows(monograph.text, s, front.title, encoder)),
        questions=questions_of(monograph.text, front.questions),
    )


def window_text(document: Document, window: Window) -> str:
    """What the encoder reads for a window: title and heading give a short piece its subject."""
    return f"{lead(document.title, window.section)}{document.text[window.start : window.end]}"


def review_notices(documents: Sequence[Document], language: str, today: dt.date | None = None) -> list[Notice]:
    """A notice that names the documents whose review date has passed by ``today`` (None: the current local day)."""
    day = today or dt.datetime.now().astimezone().date()
    late = sorted({d.title for d in documents if d.past_review(day)})
    return [noted("past_review_date", language, Severity.WARNING, detail="; ".join(late))] if late else []


def questions_of(text: str, questions: Sequence[QuestionSpan]) -> tuple[LibraryQuestion, ...]:
    """Questions with the places of their answers; one whose span is not in exactly one paragraph, once, is left out."""
    found = []
    for question in questions:
        place = locate(text, question.span)
        if place is not None:
            span, paragraph = place
            found.append(
                LibraryQuestion(
                    text=question.q,
                    start=span.start,
                    end=span.end,
                    paragraph_start=paragraph.start,
                    paragraph_end=paragraph.end,
                )
            )
    return tuple(found)


def _windows(text: str, section: Section, title: str, encoder: Encoder) -> list[Window]:
    budget = window_budget(encoder.count_tokens([lead(title, section.title)])[0], encoder)
    spans = pack(text, Span(section.start, section.end), budget, encoder)
    return [Window(start=s.start, end=s.end, section=section.title) for s in spans]


def window_budget(lead_tokens: int, encoder: Encoder) -> int:
    """Tokens that a window's own text may have beside its lead."""
    return max(encoder.limit - SPECIAL_TOKENS - lead_tokens, MIN_BUDGET)


def lead(title: str, section: str) -> str:
    """What stands before a window's text when it is embedded."""
    return f"{title}. {section}. " if section else f"{title}. "


def pack(text: str, whole: Span, budget: int, encoder: Encoder) -> list[Span]:
    """Cut a span into as few pieces of whole sentences as stay within a budget of tokens, greedily.

    A sentence beyond the budget is cut at white space.
    """
    if encoder.count_tokens([whole.of(text)])[0] <= budget:
        return [whole]
    pieces: list[Span] = []
    for s in sentences(whole.of(text)):
        pieces += _halves(text, Span(whole.start + s.start, whole.start + s.end), budget, encoder)
    counts = encoder.count_tokens([p.of(text) for p in pieces])
    packed: list[Span] = []
    room = 0
    for piece, count in zip(pieces, counts, strict=True):
        if packed and count <= room:
            packed[-1] = Span(packed[-1].start, piece.end)
            room -= count
        else:
            packed.append(piece)
            room = budget - count
    return packed


def _halves(text: str, span: Span, budget: int, encoder: Encoder) -> list[Span]:
    piece = span.of(text)
    if encoder.count_tokens([piece])[0] <= budget or len(piece) < 2:
        return [span]
    middle = len(piece) // 2
    cut = piece.find(" ", middle)
    if cut < 0:
        cut = piece.rfind(" ", 0, middle)
    left_end, right_start = (middle, middle) if cut <= 0 else (cut, cut + 1)
    left, right = Span(span.start, span.start + left_end), Span(span.start + right_start, span.end)
    return [p for half in (left, right) if half.of(text).strip() for p in _halves(text, half, budget, encoder)]
