"""The shapes of a model's first judgements of a message, as ``triage.md``, ``gate.md`` and ``gate_self.md`` ask."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from prompts.shown import Lenient, Number, Text

Verdict = Literal["enough", "more", "sparse"]


def _lower(value: Any) -> Any:
    return value.strip().strip(".").lower() if isinstance(value, str) else value


def _upper(value: Any) -> Any:
    return value.strip().strip(".").upper()[:1] if isinstance(value, str) else value


def _texts(value: Any) -> Any:
    """A list of texts: one text is a list of one, null is none."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else value


class SelfJudgedReply(Lenient):
    """Whether what was told is enough, what is missing, and why."""

    verdict: Annotated[Verdict, BeforeValidator(_lower)]
    missing: Annotated[list[str], BeforeValidator(_texts)] = Field(default_factory=list)
    reason: str = ""


class LabelReply(Lenient):
    """The importance of one sentence."""

    number: Number
    label: Annotated[Literal["A", "B", "C"], BeforeValidator(_upper)]


class GateReply(SelfJudgedReply):
    """The importance of every sentence as well."""

    labels: list[LabelReply] = Field(default_factory=list)


# The shape of a diagnosis by a model, as `diagnosis.md` asks for it.


def _text(value: Any) -> Any:
    """A text; the first of several, "" for null."""
    if isinstance(value, list):
        value = value[0] if value else None
    return "" if value is None else value


class DiagnosisReply(Lenient):
    """The most likely disease, "" for none."""

    diagnosis: Annotated[str, BeforeValidator(_text)]


# The shape of a model's reading of a message, as ``triage.md`` asks for it.


def _word(value: Any) -> Any:
    return value.strip().lower().replace(" ", "_").replace("-", "_") if isinstance(value, str) else value


class TriageReply(Lenient):
    """The kind of a message, the question as it stands alone, whether a yes or no answers it, and why."""

    kind: Annotated[
        Literal["case", "evidence", "multiple_choice", "small_talk", "out_of_scope"], BeforeValidator(_word)
    ]
    question: Text = ""
    closed: bool = False
    reason: Text = ""
