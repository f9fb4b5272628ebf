"""What happened in a run: steps, tool calls and calls of models, each with its time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from graphs.completeness.contract import GateDecision
from graphs.differential_filter.contract import Verdict
from graphs.kads.contract import Selection
from tools.contract import Notice
from tools.evidence import Found

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


class StepRun(Timed):
    """A visit of a node. ``kept``: channel to key of what it kept; ``cut_off``: it began and never ended."""

    step: str
    summary: str = ""
    kept: dict[str, str] = Field(default_factory=dict)
    cut_off: bool = False


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
    key: str = ""
    reason: str = ""
    by: str = ""
    told: tuple[Event, ...] = ()


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
        return max((t.ended for t in (*self.steps, *self.tools, *self.models)), default=0.0)


def keys_of(steps: Sequence[StepRun]) -> dict[str, str]:
    """The last key of every channel."""
    return {channel: key for step in steps for channel, key in step.kept.items()}
