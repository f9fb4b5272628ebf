"""A turn gives a failing server up: at once after a refused key, after two silences; another server goes on."""

from __future__ import annotations

import asyncio
import time

import pytest

from prompts.errors import ServiceError
from prompts.language_model import LanguageModels
from prompts.metering import Meter, Patience, metered
from support.asking_model import GOOD, plan, settings_for
from support.scripted_model import Scripted, serving

SLOW = Scripted(GOOD, pause=9)


async def _judged(models: LanguageModels, role: str) -> str:
    try:
        return await plan(models.of(role))  # type: ignore[arg-type]
    except ServiceError as error:
        return type(error).__name__


def test_a_refused_key_is_asked_with_once_in_a_turn_and_again_in_the_next() -> None:
    async def turn() -> list[str]:
        with metered(Meter()):
            return [await _judged(models, role) for role in ("research", "summary", "answer")]

    async def both() -> list[list[str]]:
        return [await turn(), await turn()]

    with serving(Scripted(status=401, body="{}")) as server:
        models = LanguageModels(settings_for(server))
        assert asyncio.run(both()) == [["DeniedError"] * 3] * 2
    assert len(server.requests) == 2


def test_a_model_that_is_not_there_is_named_with_its_address_and_asked_once_in_a_turn() -> None:
    async def turn(models: LanguageModels) -> list[str]:
        told = []
        with metered(Meter()):
            for role in ("research", "summary", "answer"):
                with pytest.raises(ServiceError) as caught:
                    await plan(models.of(role))
                told.append(str(caught.value))
        return told

    with serving(Scripted(status=404, body='{"error": {"message": "no such model"}}')) as server:
        settings = settings_for(server)
        told = asyncio.run(turn(LanguageModels(settings)))
    assert len(server.requests) == 1
    what = f"There is no language model {settings.name} at {server.url} (status 404)."
    assert set(told) == {f"{what} Check ANAMNESIS_MODEL and OPENAI_BASE_URL."}


def test_a_silent_server_costs_a_turn_two_deadlines_and_those_that_wait_together_count_once() -> None:
    async def turn() -> list[str]:
        with metered(Meter()):
            together = await asyncio.gather(*(_judged(models, "summary") for _ in range(4)))
            return [*together, *[await _judged(models, role) for role in ("gaps", "filter", "answer")]]

    with serving(SLOW) as server:
        models = LanguageModels(settings_for(server, timeout=0.5))
        started = time.monotonic()
        assert asyncio.run(turn()) == ["SilentError"] * 7
    assert time.monotonic() - started < 6
    assert len(server.requests) == 5


def test_an_answer_between_silences_keeps_the_server() -> None:
    async def turn() -> list[str]:
        with metered(Meter()):
            return [await _judged(models, "filter") for _ in range(4)]

    with serving(SLOW, Scripted(GOOD), SLOW, Scripted(GOOD)) as server:
        models = LanguageModels(settings_for(server, timeout=1.5))
        assert asyncio.run(turn()) == ["SilentError", "croup", "SilentError", "croup"]


def test_another_server_is_asked_still() -> None:
    async def turn() -> list[str]:
        with metered(Meter()):
            return [await _judged(models, role) for role in ("answer", "summary")]

    with serving(Scripted(status=403, body="{}")) as bad, serving(Scripted(GOOD)) as good:
        models = LanguageModels(settings_for(bad, roles={"summary": {"base_url": good.url}}))
        assert asyncio.run(turn()) == ["DeniedError", "croup"]


def test_other_failures_are_no_reason_to_give_up() -> None:
    patience = Patience()
    for _ in range(5):
        with pytest.raises(ServiceError, match="odd"), patience.asking("m"):
            raise ServiceError("odd")
    with patience.asking("m"):
        pass
