"""Tool calls as a model wrote them: what it is offered, and its arguments checked, set right or refused with a reason.

What is said whole is never copied by the model: the case that is looked up, and the question whose gaps are filled, are
the turn's own (ours: a copy costs tokens, and a slip in it would change the differential).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from graphs.planning.contract import MadeCall, PlannedCall, ResearchView
from prompts.endpoint import Call
from prompts.forms import function_of
from prompts.replies import faults
from prompts.tool_arguments import MAX_QUERY
from tools.contract import Outcome, Tool

WHOLE = {"lookup_differential": "case", "fill_knowledge_gaps": "question"}  # arguments that are the turn's question
LIMIT = "limit"  # left to its default: a planner has better use for its words
REASON = 200  # ours: characters of a reason, a sentence
SHOWN = 80  # ours: characters of an argument in a reason
UNSAFE = re.compile(r"[^A-Za-z0-9_-]")  # what a function's name may not hold (code: the protocol)
REPEATED = "this call was made before, and its result stands above; make another one, or none"


class Read(NamedTuple):
    """A call and what came of it: planned, or what is wrong with it; ``repeated`` when it was made before."""

    call: Call
    planned: PlannedCall | None
    wrong: str = ""
    repeated: bool = False


def offered(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """The tools as functions of the protocol, without the arguments that are filled in for the model. One that writes
    how many results it wants is heeded."""
    return [function_of(t.name, t.description, t.arguments, (WHOLE.get(t.name, ""), LIMIT)) for t in tools]


def read(
    calls: Sequence[Call],
    why: str,
    schemas: Mapping[str, type[BaseModel]],
    view: ResearchView,
    planned: Sequence[PlannedCall] = (),
) -> list[Read]:
    """Each call as it can be made, or what is wrong with it.

    Args:
        why: the model's words beside its calls; "" leaves the reasons to the code.
        planned: calls of this round that will be made already.
    """
    seen = [_key(schemas, m) for m in view.made if m.outcome is not Outcome.REFUSED]
    seen += [_key(schemas, p) for p in planned]
    results: list[Read] = []
    for call in calls:
        result = _read_one(call, why, schemas, view)
        if result.planned is not None:
            key = _key(schemas, result.planned)
            if key in seen:
                result = Read(call, None, REPEATED, repeated=True)
            seen.append(key)
        results.append(result)
    return results


def _read_one(call: Call, why: str, schemas: Mapping[str, type[BaseModel]], view: ResearchView) -> Read:
    schema = schemas.get(call.name)
    if schema is None:
        return Read(call, None, f"there is no such tool; the tools are {', '.join(schemas)}")
    whole = {WHOLE[call.name]: view.question[:MAX_QUERY]} if call.name in WHOLE else {}
    if call.error and not whole:
        return Read(call, None, call.error)
    try:
        valid = schema.model_validate({**_softened(call.arguments, schema), **whole})
    except ValidationError as error:
        return Read(call, None, faults(error))
    arguments = valid.model_dump(mode="json", exclude_defaults=True)  # strict schemas want what may be left out too
    reason = " ".join(why.split())[:REASON] or _reason(arguments)
    return Read(call, PlannedCall(tool=call.name, arguments=arguments, reason=reason, by="model"))


def _softened(arguments: Mapping[str, Any], schema: type[BaseModel]) -> dict[str, Any]:
    """Arguments set right where nothing is lost: null for what has a default, what goes beyond a bound, one text where
    a list is wanted."""
    softened: dict[str, Any] = {}
    for name, value in arguments.items():
        field = schema.model_fields.get(name)
        if field is None:
            softened[name] = value
        elif value is not None or field.is_required():
            listed = _as_list(value) if field.annotation == list[str] else value
            softened[name] = _within(listed, field.metadata)
    return softened


def _as_list(value: Any) -> Any:
    return [p.strip() for p in re.split(r"[,;\n]", value) if p.strip()] if isinstance(value, str) else value


def _within(value: Any, bounds: Sequence[Any]) -> Any:
    """A whole number, or a list's length, within the bounds of its field."""
    for bound in bounds:
        least, most, longest = (getattr(bound, name, None) for name in ("ge", "le", "max_length"))
        if isinstance(value, list):
            value = value[:longest]
        elif isinstance(value, int):
            value = value if least is None else max(value, least)
            value = value if most is None else min(value, most)
    return value


def _key(schemas: Mapping[str, type[BaseModel]], call: PlannedCall | MadeCall) -> tuple[str, str]:
    """What makes two calls the same: the tool and its arguments with their defaults, case and white space aside."""
    schema = schemas.get(call.tool)
    arguments = call.arguments
    if schema is not None:
        try:
            arguments = schema.model_validate(arguments).model_dump(mode="json")
        except ValidationError:
            arguments = call.arguments
    return call.tool, " ".join(repr(sorted(arguments.items())).lower().split())


def _reason(arguments: Mapping[str, Any]) -> str:
    """A reason made of the first text among the arguments."""
    about = next((v for v in arguments.values() if isinstance(v, str)), "")
    plain = " ".join(about.split())
    return f"chosen by the model: {plain[:SHOWN]}{' ...' if len(plain) > SHOWN else ''}"


def safe_name(name: str) -> str:
    """A tool's name as the protocol takes it: what a model invents may be anything."""
    return UNSAFE.sub("_", name)[:64] or "unknown"
