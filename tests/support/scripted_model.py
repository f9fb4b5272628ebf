"""A server on this machine that speaks the chat completions of OpenAI, by a script: well and badly.

It lives in `evals.scripted`, because the benchmarks use it too; tests take it from here.
"""

from __future__ import annotations

from collections.abc import Sequence

from evals.scripted.server import Exchange, Request, Respond, Scripted, ScriptedModel, serving, serving_by

__all__ = ["Exchange", "Request", "Scripted", "ScriptedModel", "refused", "refusing", "serving", "serving_by"]


def refused(what: str) -> Scripted:
    """The answer of a server that does not take a part of a request."""
    return Scripted(status=400, body=f'{{"error": {{"message": "{what} is not supported", "code": 400}}}}')


def refusing(forms: Sequence[str], respond: Respond) -> Respond:
    """A server that takes no request with one of the forms: json_schema, tools, json_object, temperature."""

    def answer(request: Request) -> Scripted:
        form = str(request.get("response_format", {}).get("type", ""))
        for name in forms:
            if name == form or name in request:
                return refused(name)
        return respond(request)

    return answer
