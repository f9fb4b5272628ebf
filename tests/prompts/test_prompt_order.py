"""Fixed parts come first, so that a server's cache of prompts can take them: the same in every call of a prompt."""

from __future__ import annotations

import asyncio
import json
from string import Template

import pytest

from prompts.language_model import LanguageModels
from prompts.research import QueryPlanReply
from prompts.templates import FOLDER, load_prompt
from support.asking_model import GOOD, settings_for
from support.scripted_model import Request, Scripted, refusing, serving_by

PROMPTS = sorted(file.stem for file in FOLDER.glob("*.md"))
FORMS = ("json_schema", "tools", "json_object")


@pytest.mark.parametrize("name", PROMPTS)
def test_no_value_stands_in_a_system_message(name: str) -> None:
    prompt = load_prompt(name)
    assert prompt.system
    assert Template(prompt.system).get_identifiers() == []
    names = Template(prompt.user).get_identifiers()
    filled = [prompt.filled(dict.fromkeys(names, value)) for value in ("croup", "gout ~~~ $fence")]
    assert filled[0][0] == filled[1][0] == prompt.system
    assert filled[0][1] != filled[1][1]


@pytest.mark.parametrize("refuses", [FORMS[:n] for n in range(4)], ids=lambda refuses: f"without {len(refuses)}")
def test_what_is_fixed_is_sent_alike_in_every_call_and_before_what_is_not(refuses: tuple[str, ...]) -> None:
    def respond(request: Request) -> Scripted:
        return Scripted(calls=[("QueryPlanReply", GOOD)]) if "tools" in request else Scripted(GOOD)

    async def ask() -> None:
        model = LanguageModels(settings_for(server)).of("query_plan")
        for question in ("Do steroids help in croup?", "Does rest help in gout?", "Is it gout?"):
            await model.structured("query_plan", QueryPlanReply, question=question)

    with serving_by(refusing(refuses, respond)) as server:
        asyncio.run(ask())
    first, second = (dict(r) for r in server.requests[-2:])
    said = [r.pop("messages") for r in (first, second)]
    assert json.dumps(first) == json.dumps(second)
    assert said[0][0] == said[1][0]
    assert [m["role"] for m in said[0]] == ["system", "user"]
    assert said[0][1] != said[1][1]
