"""What a run kept: the texts that its trace names by key, out of the content store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from agent.trace_page.happened import Happened, keys_of
from graphs.answering.contract import Answer, Draft
from graphs.reporting.contract import ReportDraft
from prompts.errors import DataError
from tools.contract import Differential, Gap, ToolArtifact
from tools.evidence import Evidence, merge_evidence

Model = TypeVar("Model", bound=BaseModel)

GONE = "its text is not in the content store any more"


class Texts(Protocol):
    """Where texts lie by key: the content store."""

    def get(self, key: str) -> str:
        """The text; raises DataError when it is gone."""


class Kept:
    """The texts of a run, read as what they are. What is gone or cannot be read is None, and named in ``missing``."""

    def __init__(self, happened: Happened, texts: Texts) -> None:
        self._texts, self._read = texts, dict[str, str | None]()
        self.missing: list[str] = []
        self.keys = keys_of(happened.steps)
        message = happened.triage.get("message_key", "")
        if isinstance(message, str) and message:
            self.keys = {"message_key": message, **self.keys}
        self.artifacts = {t.key: a for t in happened.tools if (a := self.load(ToolArtifact, t.key, t.tool)) is not None}
        self._given = self._given_texts(happened.triage.get("given"))

    def text(self, key: str, name: str = "") -> str | None:
        """The text under a key; None for the empty key and for one that is gone."""
        if not key:
            return None
        if key not in self._read:
            try:
                self._read[key] = self._texts.get(key)
            except DataError:
                self._read[key] = None
                self.missing.append(f"{name or key[:12]}: {GONE}")
        return self._read[key]

    def load(self, kind: type[Model], key: str, name: str = "") -> Model | None:
        """The model under a key; None when it is gone or of another version."""
        text = self.text(key, name)
        if text is None:
            return None
        try:
            return kind.model_validate_json(text)
        except ValidationError:
            self.missing.append(f"{name or kind.__name__}: it was kept by another version and cannot be read")
            return None

    @property
    def message(self) -> str | None:
        """The user's message."""
        return self.text(self.keys.get("message_key", ""), "the message")

    @property
    def question(self) -> str | None:
        """The question that stands alone, as triage read it."""
        return self.text(self.keys.get("question_key", ""), "the question")

    @cached_property
    def answer(self) -> Answer | None:
        """The answer; None when the run was cut off before it."""
        return self.load(Answer, self.keys.get("answer_key", ""), "the answer")

    @cached_property
    def draft(self) -> Draft | None:
        """The answer before it was verified."""
        return self.load(Draft, self.keys.get("draft_key", ""), "the draft")

    @cached_property
    def reported(self) -> ReportDraft | None:
        """The report before it was verified."""
        return self.load(ReportDraft, self.keys.get("report_key", ""), "the report")

    @cached_property
    def differential(self) -> Differential | None:
        """The differential that the answer rests on, else the gate's first look."""
        key = self.keys.get("differential_key") or self.keys.get("first_look_key", "")
        return self.load(Differential, key, "the differential")

    @property
    def gaps(self) -> list[Gap]:
        """What one must know, and what covers it, as the last call that asked left it."""
        return next((a.gaps for a in reversed(self.artifacts.values()) if a.gaps), [])

    def evidence(self) -> list[Evidence]:
        """Every piece of evidence with its text: given, found by tools, drawn from the graph for the answer."""
        found = [e for a in self.artifacts.values() for e in (*a.evidence, *(q.evidence for q in a.answered))]
        ends = [e for d in (self.answer, self.draft, self.reported) if d is not None for e in d.evidence]
        return merge_evidence([*self._given, *found, *ends])

    def _given_texts(self, given: Any) -> list[Evidence]:
        keys: Mapping[str, str] = given if isinstance(given, dict) else {}
        read = (self.load(Evidence, key, name) for name, key in keys.items())
        return [e for e in read if e is not None]


def pretty(text: str) -> str:
    """A kept text for people to read: JSON indented, anything else as it is."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return json.dumps(value, ensure_ascii=False, indent=1) if isinstance(value, dict | list) else text


def named(channels: Iterable[str]) -> str:
    """Channels as people call them: ``answer_key`` is "answer"."""
    return ", ".join(c.removesuffix("_key").replace("_", " ") for c in channels)
