"""Good replies kept by what was asked: asked once, counted as kept, gone with the session whose words they hold."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage

from prompts.errors import ServiceError
from prompts.language_model import LanguageModels
from prompts.metering import Meter, metered
from support.asking_model import GOOD, plan, settings_for
from support.scripted_model import Scripted, ScriptedModel, serving
from tools.store import ReplyStore

TOOL = {"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "replies.sqlite"


@contextlib.contextmanager
def asking(server: ScriptedModel, file: Path, *, by_session: bool = True, **others: Any) -> Iterator[LanguageModels]:
    """Models that keep their replies in a file, opened anew as another process would."""
    with contextlib.closing(ReplyStore(file, by_session=by_session)) as store:
        yield LanguageModels(settings_for(server, **others), replies=store)


def planned(models: LanguageModels, session: str = "s", role: Any = "query_plan") -> Meter:
    """The meter of a plan in a session."""
    meter = Meter(session=session)
    with metered(meter):
        assert asyncio.run(plan(models.of(role))) == "croup"
    return meter


def test_what_was_asked_before_is_not_asked_again_and_costs_nothing(file: Path) -> None:
    with serving(Scripted(GOOD)) as server:
        for expected in (1, 0):
            with asking(server, file) as models:
                meter = planned(models)
            assert meter.total.calls == expected
    assert (meter.total.cached, meter.total.tokens, len(server.requests)) == (1, 0, 1)
    assert file.stat().st_mode & 0o777 == 0o600


def test_who_listens_is_told_a_kept_reply_too(file: Path) -> None:
    heard: list[str] = []
    with serving(Scripted(GOOD)) as server, asking(server, file) as models, metered(Meter(session="s")):
        for _ in range(2):
            assert asyncio.run(plan(models.of("answer"), heard.append)) == "croup"
    assert "croup" in heard[-1]
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "other",
    [{"name": "n"}, {"temperature": 0.5}, {"max_tokens": 100}, {"reasoning_effort": "low"}],
    ids=lambda other: next(iter(other)),
)
def test_another_model_or_way_of_asking_is_asked(file: Path, other: dict[str, Any]) -> None:
    with serving(Scripted(GOOD)) as server:
        for settings in ({}, other):
            with asking(server, file, **settings) as models:
                planned(models)
    assert len(server.requests) == 2


def test_another_address_is_asked_and_the_key_is_kept_nowhere(file: Path) -> None:
    with serving(Scripted(GOOD)) as one, serving(Scripted(GOOD)) as other:
        for server, key in ((one, "sk-a"), (other, "sk-a"), (one, "sk-b-planted")):
            with asking(server, file, api_key=key) as models:
                planned(models)
        assert (len(one.requests), len(other.requests)) == (1, 1)
    assert b"planted" not in file.read_bytes()


def test_what_was_mended_is_kept_as_it_was_mended_and_what_failed_is_not_kept(file: Path) -> None:
    with serving(Scripted("nonsense"), Scripted("nonsense"), Scripted("nonsense"), Scripted(GOOD)) as server:
        with asking(server, file) as models, pytest.raises(ServiceError):
            planned(models)
        for _ in range(2):
            with asking(server, file) as models:
                planned(models)
    assert len(server.requests) == 4


def test_a_session_that_goes_takes_its_replies_along_and_no_others(file: Path) -> None:
    with serving(Scripted(GOOD)) as server:
        with asking(server, file) as models:
            planned(models, "mine")
            planned(models, "yours")
        for gone, asked in (("mine", 1), ("yours", 2)):
            with contextlib.closing(ReplyStore(file)) as store:
                store.purge(gone)
            with asking(server, file) as models:
                planned(models, "yours" if gone == "mine" else "a third")
            assert len(server.requests) == asked
        with contextlib.closing(ReplyStore(file)) as store:
            store.purge("a third")
    assert b"croup" not in file.read_bytes()


def test_what_belongs_to_no_session_is_kept_for_an_evaluation_alone_and_counts_as_when_it_was_made(file: Path) -> None:
    with serving(Scripted(GOOD)) as server:
        for _ in range(2):
            with asking(server, file) as models:
                planned(models, "")
        assert len(server.requests) == 2
        for session in ("s", ""):
            with asking(server, file, by_session=False) as models:
                meter = planned(models, session)
    assert len(server.requests) == 3
    assert (meter.total.calls, meter.total.input_tokens, meter.total.cached) == (1, 11, 1)


def test_calls_are_kept_by_the_conversation_before_them_and_faulty_ones_are_not(file: Path) -> None:
    def choose(models: LanguageModels, found: str) -> list[str]:
        calls = [{"name": "look", "args": {}, "id": "c0"}]
        history = [AIMessage("", tool_calls=calls), ToolMessage(found, tool_call_id="c0")]
        with metered(Meter(session="s")):
            model, values = models.of("research"), {"question": "croup"}
            made, _ = asyncio.run(model.choose("query_plan", [TOOL], history, values))
        return [f"{call.name} {call.arguments}{call.error}" for call in made]

    script = [Scripted(calls=[("look", '{"a')]), Scripted(calls=[("look", {"a": 1})])]
    with serving(*script) as server:
        seen = []
        for found in ("one", "one", "one", "two"):
            with asking(server, file) as models:
                seen.append(choose(models, found))
    assert "no JSON object" in seen[0][0]
    assert seen[1:] == [["look {'a': 1}"]] * 3
    assert len(server.requests) == 3


@pytest.mark.parametrize(("required", "asked"), [(False, 1), (True, 2)])
def test_that_nothing_more_is_called_is_kept_unless_a_call_had_to_be_made(
    file: Path, required: bool, asked: int
) -> None:
    with serving(Scripted("That is enough.")) as server:
        for _ in range(2):
            with asking(server, file) as models, metered(Meter(session="s")):
                chosen = models.of("research").choose("query_plan", [TOOL], [], {"question": "q"}, required=required)
                assert asyncio.run(chosen) == ((), "That is enough.")
    assert len(server.requests) == asked


def test_a_file_that_is_damaged_later_costs_asking_again(file: Path) -> None:
    async def around(models: LanguageModels) -> list[str]:
        first = await plan(models.of("answer"))
        damage()
        return [first, await plan(models.of("answer"))]

    def damage() -> None:
        with contextlib.closing(ReplyStore(file)) as store:
            store._db.execute("pragma wal_checkpoint(truncate)").fetchall()
        file.write_bytes(b"\xff" * file.stat().st_size)

    with serving(Scripted(GOOD)) as server, asking(server, file) as models, metered(Meter(session="s")):
        assert asyncio.run(around(models)) == ["croup", "croup"]
    assert len(server.requests) == 2
