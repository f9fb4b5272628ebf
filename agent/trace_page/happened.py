"""What happened in a run, out of the events of its trace, and the texts that it kept.

An event that is damaged is named and costs no other; what is gone from the content store is named too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from graphs.answering.contract import Answer, Draft
from graphs.completeness.contract import GateDecision
from graphs.differential_filter.contract import Verdict
from graphs.kads.contract import Selection
from graphs.reporting.contract import ReportDraft
from prompts.errors import DataError
from tools.contract import Notice, ToolArtifact
from tools.evidence import Evidence, Found, merge_evidence

Model = TypeVar("Model", bound=BaseModel)

GONE = "its text is not in the content store any more"
NODES = {  # the node that a role's model calls are made in
    "triage": "triage",
    "gate": "completeness_gate",
    "research": "research",
    "query_plan": "tools",
    "summary": "tools",
    "gaps": "tools",
    "background": "tools",
    "selection": "kads_selector",
    "filter": "differential_filter",
    "answer": "answer",
    "report": "report",
    "verification": "verify",
}
TOLD_BY = {  # what tools record while they run: the tools that record it
    "literature_search": ("search_literature", "fill_knowledge_gaps"),
    "searched_ahead": ("search_literature",),
    "passages": ("retrieve_passages",),
    "differential": ("lookup_differential",),
    "rare_diseases": ("lookup_differential",),
    "question_search": ("find_answered_question",),
    "gaps": ("fill_knowledge_gaps",),
}

Event = dict[str, Any]


class Part(BaseModel):
    """A part of an event: what it does not know is left out, so that a trace of another version can be read."""

    model_config = ConfigDict(extra="ignore")


class Timed(Part):
    """Something that took time. ``started``: seconds from the run's beginning, idle time before a resume left out."""

    started: float = 0.0
    seconds: float = 0.0

    @property
    def ended(self) -> float:
        """Its end, in seconds from the run's beginning."""
        return self.started + self.seconds

    @property
    def bar(self) -> tuple[str, str, str]:
        """How it stands on the time line: its kind, its name, a note."""
        return "", "", ""


class StepRun(Timed):
    """A visit of a node. ``kept``: channel to key of what it kept; ``cut_off``: it began and never ended."""

    step: str
    summary: str = ""
    kept: dict[str, str] = Field(default_factory=dict)
    cut_off: bool = False

    @property
    def bar(self) -> tuple[str, str, str]:
        """The step."""
        return "step", self.step, "cut off" if self.cut_off else ""


class Piece(Part):
    """A piece of evidence as a tool call brought it; its text is in the content store."""

    id: str
    title: str = ""
    found: tuple[Found, ...] = ()


class ToolRun(Timed):
    """A tool call: why it was made and by whom, what it was asked, how it searched, what it brought."""

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    outcome: str = ""
    evidence: tuple[Piece, ...] = ()
    strategy: tuple[dict[str, Any], ...] = ()
    notices: tuple[Notice, ...] = ()
    remarks: tuple[str, ...] = ()
    key: str = ""
    reason: str = ""
    by: str = ""
    told: tuple[Event, ...] = ()

    @property
    def bar(self) -> tuple[str, str, str]:
        """The tool, and how the call ended."""
        return "tool", self.tool, self.outcome.replace("_", " ")


class ModelRun(Timed):
    """A call of a language model: the prompt that it was asked with, what it cost, the node that it was made in."""

    role: str
    model: str = ""
    prompt: str = ""
    prompt_hash: str = ""
    method: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    failed: bool = False
    step: str = ""

    @property
    def bar(self) -> tuple[str, str, str]:
        """The role, and the model."""
        return "model", self.role, "failed" if self.failed else self.model


class Happened(BaseModel):
    """A run. Lists are in the order of the trace; ``resumed`` are the seconds at which it went on after a cut."""

    run: str
    at: float = 0.0
    resumed: list[float] = Field(default_factory=list)
    steps: list[StepRun] = Field(default_factory=list)
    tools: list[ToolRun] = Field(default_factory=list)
    models: list[ModelRun] = Field(default_factory=list)
    triage: Event = Field(default_factory=dict)
    gate: GateDecision | None = None
    selection: Selection | None = None
    verdicts: list[Verdict] = Field(default_factory=list)
    left_out: list[str] = Field(default_factory=list)
    locally: list[str] = Field(default_factory=list)
    configuration: str = ""
    answered: bool = False
    damaged: list[str] = Field(default_factory=list)

    @property
    def seconds(self) -> float:
        """From the first thing to the last."""
        return max((timed.ended for timed in self.timed), default=0.0)

    @property
    def timed(self) -> list[Timed]:
        """All that took time, by its beginning; when two began at once, the outer first."""
        order = ("step", "tool", "model")
        every: list[Timed] = [*self.steps, *self.tools, *self.models]
        return sorted(every, key=lambda t: (t.started, order.index(t.bar[0]), t.bar[1]))


class _Reading:
    """Reads events one after the other; a method for each kind that is read."""

    def __init__(self, run: str) -> None:
        self.out = Happened(run=run)
        self._open: dict[str, float] = {}
        self._planned: list[Event] = []
        self._told: list[Event] = []
        self._idle = self._last = 0.0

    def read(self, event: Event) -> None:
        """Take in an event; one that lacks what it must have is named, and costs no other."""
        kind = event["kind"]
        if kind in TOLD_BY:
            self._told.append(event)
        try:
            getattr(self, f"_on_{kind}", _nothing)(event)
        except (ValidationError, KeyError, TypeError, ValueError, AttributeError):
            self.out.damaged.append(f"an event of kind {str(kind)[:40]} is damaged")
        at = event.get("at")
        if isinstance(at, int | float):
            self._last = max(self._last, float(at))

    def end(self) -> Happened:
        """What never ended was cut off."""
        self._cut_off()
        self.out.steps.sort(key=lambda s: s.started)
        return self.out

    def _since(self, event: Event, seconds: float = 0.0) -> float:
        return round(max(float(event["at"]) - self._idle - seconds - self.out.at, 0.0), 4)

    def _cut_off(self) -> None:
        self.out.steps += [StepRun(step=step, started=at, cut_off=True) for step, at in self._open.items()]
        self._open = {}

    def _on_damaged_line(self, event: Event) -> None:
        self.out.damaged.append(f"line {event['line']} of the trace is damaged")

    def _on_run(self, event: Event) -> None:
        if not self.out.at:
            self.out.at = float(event["at"])
            return
        self._idle += max(float(event["at"]) - self._last, 0.0)
        self.out.resumed.append(self._since(event))
        self._cut_off()  # what was under way is done again

    def _on_step_started(self, event: Event) -> None:
        self._open[event["step"]] = self._since(event)

    def _on_step_finished(self, event: Event) -> None:
        started = self._since(event, event["seconds"])
        self.out.steps.append(StepRun.model_validate({**event, "started": self._open.pop(event["step"], started)}))

    def _on_planned(self, event: Event) -> None:
        self._planned.append(event)

    def _on_tool(self, event: Event) -> None:
        same = [p for p in self._planned if (p["tool"], p["arguments"]) == (event["tool"], event["arguments"])]
        told = [t for t in self._told if event["tool"] in TOLD_BY[t["kind"]]]
        self._told = [t for t in self._told if t not in told]
        why = {"reason": same[0]["reason"], "by": same[0]["by"]} if same else {}
        started = self._since(event, event["seconds"])
        self.out.tools.append(ToolRun.model_validate({**event, **why, "started": started, "told": told}))

    def _on_model(self, event: Event) -> None:
        seconds = float(event.get("seconds", 0.0))
        step = NODES.get(str(event["role"])) or next(reversed(self._open), "tools")
        made = {**event, "seconds": seconds, "started": self._since(event, seconds), "step": step}
        self.out.models.append(ModelRun.model_validate(made))

    def _on_triage(self, event: Event) -> None:
        self.out.triage = event

    def _on_gate(self, event: Event) -> None:
        self.out.gate = _of(GateDecision, event)

    def _on_selection(self, event: Event) -> None:
        self.out.selection = _of(Selection, event)

    def _on_filter(self, event: Event) -> None:
        self.out.verdicts = [Verdict.model_validate(v) for v in event["verdicts"]]

    def _on_left_out(self, event: Event) -> None:
        self.out.left_out += [str(s) for s in event["statements"]]

    def _on_judged_locally(self, event: Event) -> None:
        self.out.locally.append(f"{event['role']} judged locally: {event['why']}")

    def _on_reply_unusable(self, event: Event) -> None:
        self.out.locally.append(f"{event['role']}: a reply could not be used: {event['why']}")

    def _on_model_budget(self, event: Event) -> None:
        self.out.locally.append(f"{event['role']} not asked: budget spent ({', '.join(event['spent'])})")

    def _on_configuration(self, event: Event) -> None:
        self.out.configuration = str(event["name"])

    def _on_answered(self, _: Event) -> None:
        self.out.answered = True


def happened(run: str, events: Iterable[Event]) -> Happened:
    """A run out of its events; what is damaged is named in ``damaged``."""
    reading = _Reading(run)
    for event in events:
        reading.read(event)
    return reading.end()


def _of(kind: type[Model], event: Event) -> Model:
    """The model that an event holds beside what is every event's."""
    return kind.model_validate({name: value for name, value in event.items() if name in kind.model_fields})


def _nothing(event: Event) -> None:
    del event


class Texts(Protocol):
    """Where texts lie by key: the content store."""

    def get(self, key: str) -> str:
        """The text; raises DataError when it is gone."""


class Kept:
    """The texts of a run, read as what they are. What is gone or cannot be read is None, and named in ``missing``."""

    def __init__(self, happened: Happened, texts: Texts) -> None:
        self._texts, self._read = texts, dict[str, str | None]()
        self.missing: list[str] = []
        self.keys = {channel: key for step in happened.steps for channel, key in step.kept.items()}
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
