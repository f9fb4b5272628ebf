"""Results as the protocol has them: structured and as text; a user's mistake is an error result with advice."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError

from agent.mcp.asking import TimedOutError
from agent.mcp.callers import ScopeError
from prompts.errors import AnamnesisError, DataError, InputError, ServiceError, ToolError

log = logging.getLogger(__name__)
META = "anamnesis/error"  # under this key of `_meta` an error result says its kind, for programs
KINDS: tuple[tuple[type[AnamnesisError], str], ...] = (
    (ScopeError, "scope"),
    (TimedOutError, "timeout"),
    (InputError, "input"),
    (ToolError, "input"),
    (ServiceError, "service_unavailable"),
    (DataError, "data"),
)
UNEXPECTED = "This call failed unexpectedly. The server's log says why; the session, if there is one, can go on."


def result(value: BaseModel, text: str, links: Sequence[types.ResourceLink] = ()) -> types.CallToolResult:
    """A result: the value as structured content, and the text for those who read."""
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text), *links],
        structured_content=value.model_dump(mode="json"),
    )


def refusal(error: AnamnesisError) -> types.CallToolResult:
    """An error result: what failed and what to do about it."""
    kind = next((name for of, name in KINDS if isinstance(error, of)), "error")
    return failed(str(error), kind)


def failed(text: str, kind: str) -> types.CallToolResult:
    """An error result of a kind: ``input``, ``scope``, ``service_unavailable``, ``timeout``, ``data``, ``error``.

    It has no structured content, because clients hold that against the schema of what the tool gives when it works.
    """
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], is_error=True, _meta={META: {"kind": kind}}
    )


def bad_arguments(error: ValidationError) -> types.CallToolResult:
    """An error result that names each argument to be mended, without repeating what was given."""
    faults = "; ".join(f"{'.'.join(str(p) for p in e['loc']) or 'arguments'}: {e['msg']}" for e in error.errors())
    return failed(f"The arguments cannot be taken: {faults}. `tools/list` gives their schema.", "input")


def unexpected(name: str) -> types.CallToolResult:
    """An error result for a fault of ours, whose traceback goes to the log."""
    log.exception("The tool %s failed", name)
    return failed(UNEXPECTED, "error")


@contextmanager
def told_without_words() -> Iterator[None]:
    """Around what is no call: a typed error is told, a fault of ours is logged and told without its words.

    Raises:
        MCPError: for every error; the library would hand the words of any other to the client.
    """
    try:
        yield
    except MCPError:
        raise
    except AnamnesisError as error:
        raise MCPError(types.INTERNAL_ERROR, str(error)) from None
    except Exception:
        log.exception("A request failed")
        raise MCPError(types.INTERNAL_ERROR, UNEXPECTED) from None


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model as it is given out."""
    return model.model_json_schema(mode="serialization")
