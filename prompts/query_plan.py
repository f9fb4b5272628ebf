"""The shape of a model's search plan, as ``query_plan.md`` asks for it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_TERMS = 6  # ours: as many as a model is asked for


class Strict(BaseModel):
    """A part of a reply: unknown fields are faults."""

    model_config = ConfigDict(extra="forbid")


class TermReply(Strict):
    """A term of the plan."""

    text: str = Field(min_length=2, max_length=80)
    group: Literal["P", "I", "C", "O", "other"] = "other"
    synonyms: list[str] = Field(default_factory=list, max_length=8)
    broader: str = Field(default="", max_length=80)
    mesh: str = Field(default="", max_length=80)


class QueryPlanReply(Strict):
    """A search plan. ``since`` and ``until`` are years."""

    terms: list[TermReply] = Field(min_length=1, max_length=12)
    intent: Literal["treatment", "diagnosis", "prognosis", "aetiology", "harm", "prevention", "mechanism", "other"] = (
        "other"
    )
    since: int | None = Field(default=None, ge=1781, le=3000)  # PubMed's first year, and its open end
    until: int | None = Field(default=None, ge=1781, le=3000)
