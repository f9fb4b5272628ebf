"""Prompts that a client offers to its user by name: each asks for `ask` to be used as it is meant."""

from __future__ import annotations

import mcp_types as types
from mcp.shared.exceptions import MCPError

from prompts.tool_arguments import description

TEXT = "text"
PROMPTS = {
    "case": types.Prompt(
        name="case",
        title="A patient's case",
        description="Ranked diagnoses with evidence, and the next question to ask the patient.",
        arguments=[types.PromptArgument(name=TEXT, description="The case, as told.", required=True)],
    ),
    "evidence": types.Prompt(
        name="evidence",
        title="A medical question",
        description="An answer in which every sentence cites its source.",
        arguments=[types.PromptArgument(name=TEXT, description="The question.", required=True)],
    ),
}


def listed() -> list[types.Prompt]:
    """The prompts."""
    return list(PROMPTS.values())


def filled(name: str, arguments: dict[str, str] | None) -> types.GetPromptResult:
    """A prompt with its text; raises MCPError for an unknown one, or without a text."""
    if name not in PROMPTS:
        raise MCPError(types.INVALID_PARAMS, f"There is no prompt {name[:80]!r}; there are: {', '.join(PROMPTS)}.")
    text = (arguments or {}).get(TEXT, "").strip()
    if not text:
        raise MCPError(types.INVALID_PARAMS, f"The prompt {name!r} needs the argument {TEXT!r}.")
    content = types.TextContent(type="text", text=f"{description(f'use_{name}')}\n\n{text}")
    message = types.PromptMessage(role="user", content=content)
    return types.GetPromptResult(description=PROMPTS[name].description, messages=[message])
