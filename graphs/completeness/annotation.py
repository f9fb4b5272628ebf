"""Labels of units by masking (ICA-RAG, annotation): diagnose with the whole text and without each unit.

Where the diagnosis of the whole text is right, a unit without which it is wrong is A, any other C (strategy 1). Where
it is wrong, a unit that by itself retrieves a document of the reference disease is B, any other C (strategy 2). A unit
is masked by leaving it out. Its known weakness stays: what is told twice is critical in neither place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from pydantic import Field

from graphs.completeness.contract import Label, Unit
from tools.evidence import Frozen
from tools.text.sentences import Span, sentences

UNDOCUMENTED = "no document is about the disease"
BY_PERSON = "by a person"  # begins the reason of a label that a reviewer set


class Case(Frozen):
    """A case to annotate. ``reference``: its diagnosis in words."""

    id: str = Field(min_length=1)
    text: str = Field(min_length=1)
    reference: str = Field(min_length=1)


class AnnotatedCase(Case):
    """A case with a label for every unit.

    Attributes:
        diagnoser: who diagnosed. diagnosis: of the whole text, "" for none. right: it is the reference.
        units: in the order of the text, each with its label and why.
    """

    diagnoser: str
    diagnosis: str
    right: bool
    units: tuple[Unit, ...]


class Diagnoser(Protocol):
    """Names the leading diagnosis of a text.

    Attributes:
        name: who, for people. version: everything that its diagnoses depend on beside the text.
    """

    name: str
    version: str

    async def diagnose(self, text: str) -> str:
        """The diagnosis in words, "" for none; raises ServiceError when it cannot be made."""


class Reference(Protocol):
    """Tells whether a diagnosis is the reference, and which documents are about it."""

    def same(self, diagnosis: str, reference: str) -> bool:
        """Whether both name one disease, whatever the spelling, the abbreviation or the language."""

    def documented(self, reference: str) -> bool:
        """Whether there is any document of the disease."""

    def retrieved_by(self, unit: str, text: str, reference: str) -> str:
        """Title of a document of the reference disease that the unit by itself retrieves, "" for none.

        ``text`` is the whole, which decides what the unit's abbreviations mean.
        """


async def annotate(case: Case, diagnoser: Diagnoser, reference: Reference) -> AnnotatedCase:
    """Label every unit of a case; raises ServiceError as the diagnoser does."""
    spans = sentences(case.text)
    diagnosis = await diagnoser.diagnose(case.text)
    right = reference.same(diagnosis, case.reference)
    by_strategy = _by_masking if right else _by_retrieval
    units = await by_strategy(case, spans, diagnoser, reference)
    return AnnotatedCase(
        **case.model_dump(), diagnoser=diagnoser.name, diagnosis=diagnosis, right=right, units=tuple(units)
    )


def masked(text: str, span: Span) -> str:
    """The text without a unit."""
    return f"{text[: span.start].rstrip()} {text[span.end :].lstrip()}".strip()


async def _by_masking(case: Case, spans: Sequence[Span], diagnoser: Diagnoser, reference: Reference) -> list[Unit]:
    """Strategy 1: what the diagnosis cannot do without is critical."""
    rest = [masked(case.text, span) for span in spans]
    named = await asyncio.gather(*(_diagnosis(diagnoser, text) for text in rest))
    out = []
    for span, without in zip(spans, named, strict=True):
        if reference.same(without, case.reference):
            out.append(_unit(case, span, Label.C, "the diagnosis stands without it"))
        else:
            out.append(_unit(case, span, Label.A, f"without it: {without or 'no diagnosis'}"))
    return out


async def _by_retrieval(case: Case, spans: Sequence[Span], diagnoser: Diagnoser, reference: Reference) -> list[Unit]:
    """Strategy 2: what finds a document of the disease helps retrieval."""
    del diagnoser
    if not reference.documented(case.reference):
        return [_unit(case, span, Label.C, UNDOCUMENTED) for span in spans]
    out = []
    for span in spans:
        title = reference.retrieved_by(span.of(case.text), case.text, case.reference)
        label = Label.B if title else Label.C
        out.append(_unit(case, span, label, f"retrieves: {title}" if title else "retrieves nothing of the disease"))
    return out


async def _diagnosis(diagnoser: Diagnoser, text: str) -> str:
    """The diagnosis of a text; of nothing there is none."""
    return await diagnoser.diagnose(text) if text else ""


def _unit(case: Case, span: Span, label: Label, reason: str) -> Unit:
    return Unit(text=span.of(case.text), start=span.start, end=span.end, label=label, reason=reason)
