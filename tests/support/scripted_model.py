"""A server on this machine that speaks the chat completions of OpenAI, by a script: well and badly.

It lives in `evals.scripted`, because the benchmarks use it too; tests take it from here.
"""

from __future__ import annotations

from evals.scripted.server import Exchange, Request, Scripted, ScriptedModel, refused, refusing, serving, serving_by

__all__ = ["Exchange", "Request", "Scripted", "ScriptedModel", "refused", "refusing", "serving", "serving_by"]
