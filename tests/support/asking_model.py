"""A language model at a scripted server, asked once or often in one loop; for tests of the client."""

from __future__ import annotations

import asyncio
import pkgutil
from collections.abc import Callable
from importlib import import_module
from inspect import isclass
from typing import Any

from pydantic import BaseModel

import prompts
from prompts.language_model import LanguageModel, LanguageModels
from prompts.model_settings import ModelSettings, Role
from prompts.research import QueryPlanReply
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


def reply_schemas() -> list[type[BaseModel]]:
    """Every schema of a reply."""
    modules = [import_module(f"prompts.{module.name}") for module in pkgutil.iter_modules(prompts.__path__)]
    found = {v for m in modules for v in vars(m).values() if isclass(v) and issubclass(v, BaseModel)}
    return sorted((v for v in found if v.__name__.endswith("Reply")), key=lambda v: v.__name__)
