"""What a turn looked up: its tool calls, each with the key of what came back, for the export."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter


class Call(BaseModel):
    """A tool call of a turn. ``key`` is that of its artefact in the content store, "" where it was refused."""

    model_config = ConfigDict(extra="forbid")

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    outcome: str = "refused"
    key: str = ""


CALLS = TypeAdapter(list[Call])


def calls_of(messages: Sequence[Any]) -> str:
    """The calls among a turn's planning messages (LangChain's), as JSON; "" where there are none."""
    asked = {call["id"]: call["args"] for m in messages for call in getattr(m, "tool_calls", ())}
    made = [
        Call(
            tool=m.name or "",
            arguments=asked.get(m.tool_call_id, {}),
            **{k: v for k, v in (m.artifact or {}).items() if k in ("outcome", "key")},
        )
        for m in messages
        if m.type == "tool"
    ]
    return CALLS.dump_json(made).decode() if made else ""
