"""Cases, a diagnoser and references by plain words, for annotation without a graph or a model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from evals.training import gate_labellers
from evals.training.gate_annotation import AnnotatedCase, Case, annotate
from graphs.completeness.contract import Label
from prompts.errors import ServiceError

REFLUX = Case(
    id="a",
    text="My chest burns. It rises after supper. I own a red bicycle.",
    reference="acid reflux",
)


class WordDiagnoser:
    """Names reflux where the text says both that it burns and that it rises after supper, else an ulcer."""

    name, version = "words", "1"

    def __init__(self, fails_after: int | None = None) -> None:
        self.asked: list[str] = []
        self.at_once = self.most_at_once = 0
        self.fails_after = fails_after

    async def diagnose(self, text: str) -> str:
        if self.fails_after is not None and len(self.asked) >= self.fails_after:
            raise ServiceError("The diagnoser is down.")
        self.asked.append(text)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0.001)
        self.at_once -= 1
        if not text:
            return ""
        return "acid reflux" if "burns" in text and "supper" in text else "ulcer"


class WordReference:
    """One document: `Acid reflux`, found by the word supper."""

    def same(self, diagnosis: str, reference: str) -> bool:
        return diagnosis.casefold() == reference.casefold()

    def documented(self, reference: str) -> bool:
        return reference == "acid reflux"

    def retrieved_by(self, unit: str, text: str, reference: str) -> str:
        assert unit in text
        return "Acid reflux" if "supper" in unit and self.documented(reference) else ""


@contextmanager
def quick_heads() -> Iterator[None]:
    """Heads of one small size, so that a test trains them in a moment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate_labellers, "SIZES", (gate_labellers.Size(12, 2, 8, 0.0, 120),))
        yield


def annotated(case: Case = REFLUX) -> AnnotatedCase:
    return asyncio.run(annotate(case, WordDiagnoser(), WordReference()))


def many(count: int, times: int = 1) -> list[AnnotatedCase]:
    """Cases whose labels follow from words: burning is A, supper B, the rest C."""
    out = []
    for n in range(count):
        text = " ".join([f"My chest burns on day {n}. It rises after supper {n}. I own bicycle {n}."] * times)
        case = annotated(Case(id=f"p{n}", text=text, reference="acid reflux"))
        order = {"burns": Label.A, "supper": Label.B}
        units = tuple(
            u.model_copy(update={"label": next((v for w, v in order.items() if w in u.text), Label.C)})
            for u in case.units
        )
        out.append(case.model_copy(update={"units": units}))
    return out
