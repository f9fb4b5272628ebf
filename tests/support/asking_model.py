"""A language model at a scripted server, asked once or often in one loop; for tests of the client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from prompts.language_model import LanguageModel, LanguageModels
from prompts.model_settings import ModelSettings, Role
from prompts.query_plan import QueryPlanReply
from support.scripted_model import ScriptedModel

GOOD = '{"terms": [{"text": "croup", "group": "P"}], "intent": "treatment"}'
PLAN = "query_plan"


def settings_for(server: ScriptedModel, **others: Any) -> ModelSettings:
    """Settings that call the server, at once and without a second try."""
    return ModelSettings(**{"name": "m", "base_url": server.url, "timeout": 5.0, "max_retries": 0, **others})


def model_of(server: ScriptedModel, role: Role = "query_plan", **others: Any) -> LanguageModel:
    """A model in a role."""
    return LanguageModels(settings_for(server, **others)).of(role)


async def plan(model: LanguageModel, on_text: Callable[[str], None] | None = None) -> str:
    """The first term of a plan."""
    reply, _ = await model.structured(PLAN, QueryPlanReply, on_text=on_text, question="Do steroids help in croup?")
    return reply.terms[0].text


def plan_once(model: LanguageModel, on_text: Callable[[str], None] | None = None) -> str:
    """`plan` in a loop of its own."""
    return asyncio.run(plan(model, on_text))
