"""The key reaches the model's server and nothing else: no log, file, exception or answer holds it."""

from __future__ import annotations

import asyncio
import logging
import traceback
from pathlib import Path

import pytest

from agent.agent import Agent
from agent.settings import load_settings
from evals.bench.faults import FAULTS
from prompts.errors import ServiceError
from prompts.language_model import LanguageModel
from support.asking_model import plan, settings_for
from support.homes import linked
from support.model_player import play, role_of
from support.scripted_model import Request, Scripted, serving_by

KEY = "sk-planted-0123456789"
TOLD = Scripted(status=401, body=f'{{"error": {{"message": "Incorrect API key provided: {KEY}"}}}}')
ECHOED = Scripted(status=400, body=f'{{"error": {{"message": "bad request, Authorization: Bearer {KEY}"}}}}')
FAILING = ["refused key", "too many requests", "failing server", "cut", "malformed body", "a page"]


def test_no_log_file_or_answer_holds_the_key(
    built_home: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    home = linked(built_home, tmp_path / "home")
    spoilt: dict[str, Scripted | str] = {}

    def respond(request: Request) -> Scripted:
        fault = spoilt.get(role_of(request))
        if isinstance(fault, str):
            return FAULTS[fault](request, play(request))
        return fault or play(request)

    caplog.set_level(logging.DEBUG)
    with serving_by(respond) as server:
        settings = load_settings(
            home=home,
            model="m",
            model_retries=1,
            literature={"live": "off", "mirror": None},
            OPENAI_BASE_URL=server.url,
            OPENAI_API_KEY=KEY,
        )
        answers = []
        with Agent(settings) as agent:
            spoilt |= {"research": TOLD, "gaps": ECHOED, "background": "cut", "selection": "a page"}
            answers += [agent.ask("Does dexamethasone help in croup?").to_json()]
            spoilt |= {"gaps": "malformed body", "background": "failing server", "answer": "too many requests"}
            answers += [agent.ask("What is the treatment of croup?").to_json()]
    assert {e.headers["authorization"] for e in server.exchanges} == {f"Bearer {KEY}"}
    assert all("judged_locally" in a and KEY not in a for a in answers)
    assert KEY not in f"{settings!r} {settings.language_model!r} {settings.model_dump_json()}"
    assert caplog.records
    assert KEY not in "\n".join(f"{r.getMessage()} {r.exc_text}" for r in caplog.records)
    kept = [f for f in home.rglob("*") if f.is_file()]
    assert any(f.suffix == ".jsonl" for f in kept)
    assert [f for f in kept if KEY.encode() in f.read_bytes()] == []


@pytest.mark.parametrize("fault", [TOLD, ECHOED, *FAILING], ids=lambda f: f if isinstance(f, str) else str(f.status))
def test_no_exception_holds_the_key(fault: Scripted | str) -> None:
    def respond(request: Request) -> Scripted:
        return fault if isinstance(fault, Scripted) else FAULTS[fault](request, play(request))

    with serving_by(respond) as server, pytest.raises(ServiceError) as caught:
        asyncio.run(plan(LanguageModel(settings_for(server, api_key=KEY))))
    shown = "".join(traceback.format_exception(caught.value))
    assert KEY not in shown
    assert KEY not in f"{caught.value!r} {caught.value.what} {caught.value.advice}"
