"""The replay kit: requests become files, replies beside them are given over a real socket, and pairs are blind."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent.agent import Agent
from agent.cli.app import app
from agent.settings import Settings, load_settings
from evals.commands import register
from evals.replay.pairs import graded, pairs_of, shown_final, write_pairs
from evals.replay.playing import FINAL, OWN, Played, play_questions, read_questions, upstream_of
from evals.replay.recording import Recording, Upstream, played
from evals.scripted.player import play
from evals.scripted.server import Scripted, ScriptedModel, running, serving, serving_by
from graphs.answering.contract import Answer
from prompts.errors import DataError, InputError, ServiceError
from support.asking_model import GOOD, model_of, plan
from support.homes import linked
from tools.evidence import Origin, Statement
from tools.notices import noted

SEARCH = {"name": "search", "description": "Looks things up.", "parameters": {"type": "object", "properties": {}}}
CALL = '{"text": "Look.", "calls": [{"name": "search", "arguments": {"query": "croup"}}]}'


@contextmanager
def desk(folder: Path, upstream: Upstream | None = None) -> Iterator[tuple[ScriptedModel, Recording]]:
    """A server that answers from a folder."""
    model, recording = ScriptedModel(), Recording(folder, upstream)
    with running(model, recording.respond):
        yield model, recording


async def until(waits: Callable[[], object]) -> None:
    """Wait until something is there."""
    while not waits():  # noqa: ASYNC110  another thread makes it so
        await asyncio.sleep(0.01)


async def by_hand(recording: Recording, text: str) -> str:
    """Put a reply beside the one request that waits; returns what the request says."""
    await until(lambda: recording.waiting)
    (place,) = recording.waiting.values()
    place.write_text(text, encoding="utf-8")
    return place.with_name(place.name.replace(".reply.txt", ".request.md")).read_text(encoding="utf-8")


def test_a_request_is_written_waits_and_is_given_the_reply_beside_it(tmp_path: Path) -> None:
    async def ask(model: ScriptedModel, recording: Recording) -> tuple[str, str]:
        asked = asyncio.ensure_future(plan(model_of(model, timeout=60)))
        return await by_hand(recording, GOOD), await asked

    folder = tmp_path / "r" / "01"
    with desk(folder) as (model, recording):
        request, term = asyncio.run(ask(model, recording))
    assert term == "croup"
    assert "Do steroids help in croup?" in request
    assert '"intent"' in request.partition("## schema: QueryPlanReply")[2]
    (written,) = folder.glob("01-query_plan-*.request.md")
    assert written.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == folder.parent.stat().st_mode & 0o777 == 0o700
    with desk(folder) as (model, recording):  # the same content is known, whoever asks
        assert asyncio.run(plan(model_of(model, name="another"))) == "croup"
        assert not recording.waiting


def test_calls_of_tools_and_plain_words_are_played(tmp_path: Path) -> None:
    async def choose(model: ScriptedModel, recording: Recording) -> tuple[str, Any]:
        values = dict.fromkeys(("kind", "rounds", "calls", "question", "options", "look"), "x")
        asked = asyncio.ensure_future(model_of(model, "research", timeout=60).choose("research", [SEARCH], [], values))
        return await by_hand(recording, CALL), await asked

    with desk(tmp_path / "r") as (model, recording):
        request, (calls, text) = asyncio.run(choose(model, recording))
    assert "## tool: search" in request
    assert [(c.name, c.arguments) for c in calls] == [("search", {"query": "croup"})]
    assert text == "Look."
    assert played({"messages": []}, " Croup. \n").content == "Croup."


@pytest.mark.parametrize("text", ["", "{", "[1]"])
def test_a_reply_that_cannot_be_read_is_told_and_waited_for(text: str, tmp_path: Path) -> None:
    async def ask(model: ScriptedModel, recording: Recording) -> str:
        asked = asyncio.ensure_future(plan(model_of(model, timeout=60)))
        await by_hand(recording, text)
        await until(lambda: recording.unreadable)
        (place,) = recording.unreadable
        place.write_text(GOOD, encoding="utf-8")
        return await asked

    with desk(tmp_path / "r") as (model, recording):
        assert asyncio.run(ask(model, recording)) == "croup"
        assert not recording.unreadable


def test_what_a_model_replies_is_kept_and_a_failure_that_may_pass_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    with serving(Scripted(status=429, body="{}"), Scripted(GOOD, tokens=(50, 5))) as upstream:
        with desk(folder, Upstream(upstream.url, "sk-secret")) as (model, _):
            with pytest.raises(ServiceError):
                asyncio.run(plan(model_of(model)))
            assert not list(folder.glob("*.reply.*"))
            assert asyncio.run(plan(model_of(model))) == "croup"
        assert upstream.exchanges[-1].headers["authorization"] == "Bearer sk-secret"
    (kept,) = folder.glob("*.reply.json")
    assert "sk-secret" not in kept.read_text()
    assert json.loads(kept.read_text())["tokens"] == [50, 5]
    with desk(folder) as (model, _):
        assert asyncio.run(plan(model_of(model))) == "croup"


def settings_for(built_home: Path, home: Path, url: str = "") -> Settings:
    """Settings over a data folder of one's own that is built already."""
    return load_settings(home=linked(built_home, home), model="played" if url else "", roles={}, OPENAI_BASE_URL=url)


def test_a_run_is_recorded_and_comes_to_the_same_answer_without_the_model(built_home: Path, tmp_path: Path) -> None:
    home, chosen = tmp_path / "home", read_questions(which="1")
    folder = home / "replays" / "croup"
    with serving_by(play) as server:
        settings = settings_for(built_home, home, server.url)
        (first,) = play_questions(folder, chosen, settings, upstream_of(settings), wait=1, alone=True)
    assert first.answered
    before = Answer.model_validate_json((first.folder / FINAL).read_text())
    assert before.usage.model_calls == len(list(first.folder.glob("*.reply.json"))) - 1  # one asked it alone
    (again,) = play_questions(folder, chosen, settings, None, wait=1, alone=True, again=True)
    assert again.answered
    after = Answer.model_validate_json((again.folder / FINAL).read_text())
    assert [s.text for s in after.statements] == [s.text for s in before.statements]
    (pair,) = pairs_of(folder, "written")
    said = next(s for s in after.statements if s.citations)
    assert f"{said.text}\n   > {said.citations[0].quote}" in pair.own  # the player quotes what it is shown
    assert said.text in pair.final
    assert pairs_of(folder, "alone")[0].own == (first.folder / OWN).read_text()
    assert not pair.own == pair.final == ""
    with Agent(settings) as agent:
        assert agent.sessions() == [(first.folder / "session").read_text()]
        write_pairs(folder, "written", 0)
        agent.delete_session(agent.sessions()[0])
    assert not first.folder.exists()
    assert not (folder / "pairs.md").exists()


def test_a_question_that_waits_is_left_and_its_words_go_with_its_session(built_home: Path, tmp_path: Path) -> None:
    home, chosen = tmp_path / "home", read_questions(which="1")
    settings, told = settings_for(built_home, home), list[Played]()
    (first,) = play_questions(home / "replays" / "x", chosen, settings, None, wait=0.5, told=told.append)
    (place,) = first.waits_for
    assert told == [first]
    assert not first.answered
    assert "-research-" in place.name
    place.write_text('{"calls": [{"name": "search_literature", "arguments": {"query": "croup"}}]}')
    (then,) = play_questions(home / "replays" / "x", chosen, settings, None, wait=0.5)
    assert place not in then.waits_for
    assert len(list(then.folder.glob("*.request.md"))) > 1
    with Agent(settings) as agent:
        (session,) = agent.sessions()  # that of the first try is gone
        agent.delete_session(session)
    assert not then.folder.exists()


VIEWS = [("model_view", f"model_view{why}") for why in ("", "_open", "_unread")]


def answer(*texts: str) -> Answer:
    statements = [Statement(text=text, origin=Origin.PARAMETRIC) for text in texts]
    return Answer(question=f"{texts[0]}?", kind="evidence", language="en", statements=statements)


@pytest.fixture
def run_of_four(tmp_path: Path) -> Path:
    """Four answered questions, each with a reply of the model's own."""
    for n in range(1, 5):
        folder = tmp_path / f"{n:02}"
        folder.mkdir()
        (folder / FINAL).write_text(answer(f"Final {n}").to_json())
        (folder / OWN).write_text(f"Own {n}")
    return tmp_path


def test_pairs_are_blind_and_graded_by_two(run_of_four: Path) -> None:
    assert write_pairs(run_of_four, "alone", 3) == 4
    text, key = (run_of_four / "pairs.md").read_text(), json.loads((run_of_four / "key.json").read_text())["pairs"]
    for pair, told in key.items():
        shown = text.partition(f"### {pair} {told['final']}\n\n")[2].partition("\n")[0]
        assert shown == f"1. Final {told['id']}"
    assert {told["final"] for told in key.values()} == {"A", "B"}  # of this seed
    other = {"A": "B", "B": "A"}
    first = {pair: told["final"] if n < 2 else "same" for n, (pair, told) in enumerate(key.items())}
    second = {pair: other[told["final"]] if n == 1 else first[pair] for n, (pair, told) in enumerate(key.items())}
    files = [run_of_four / "one.csv", run_of_four / "two.csv"]
    for file, given in zip(files, (first, second), strict=True):
        file.write_text("pair,worse,why\n" + "".join(f"{pair},{grade},\n" for pair, grade in given.items()))
    figures = {f.name.removeprefix("replay."): f.value for f in graded(run_of_four, files)}
    assert figures["reader_1.final_worse"] == 50
    assert (figures["reader_2.final_worse"], figures["reader_2.own_worse"]) == (25, 25)
    assert (figures["both.final_worse"], figures["either.final_worse"]) == (25, 50)
    assert figures["readers.agreement"] == 75
    files[0].write_text("pair,worse,why\n1,A,\n")
    with pytest.raises(DataError, match="no grade of pair 2, 3, 4"):
        graded(run_of_four, files[:1])


@pytest.mark.parametrize(("language", "value"), [("en", "yes"), ("zh", "是")])
def test_a_view_of_the_models_is_shown_without_its_label(language: str, value: str) -> None:
    notices = [noted(code, language, detail=value, said=f"notice.{said}") for code, said in VIEWS]
    for one in notices:
        told = answer("x").model_copy(update={"language": language, "notices": [one]})
        assert shown_final(told).startswith(f"Chosen: {value}\n")


def test_no_answer_is_shown_as_such() -> None:
    assert shown_final(answer("x").model_copy(update={"statements": []})) == "(no answer)"


def test_the_kit_has_thirty_questions_of_four_kinds_in_any_ten() -> None:
    rows = read_questions()
    assert [row.id for row in rows] == list(range(1, 31))
    assert all(
        {row.kind for row in rows[at : at + 10]} == {"evidence", "case", "choice", "direct"} for at in (0, 10, 20)
    )
    assert all(bool(row.options) == (row.kind == "choice") for row in rows)
    assert [row.id for row in read_questions(which="2-4,30")] == [2, 3, 4, 30]
    with pytest.raises(InputError, match="no list of ids"):
        read_questions(which="one")
    with pytest.raises(InputError, match="No question"):
        read_questions(which="31")


def test_the_commands_name_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANAMNESIS_HOME", str(tmp_path))
    monkeypatch.delenv("ANAMNESIS_MODEL", raising=False)
    register(app)
    run = CliRunner()
    refused = run.invoke(app, ["eval", "replay", "run", "x"])
    assert "No language model is named" in str(refused.exception)
    refused = run.invoke(app, ["eval", "replay", "compare", "x"])
    assert "holds no pair of answers" in str(refused.exception)
    refused = run.invoke(app, ["eval", "replay", "compare", "../x"])
    assert "no name of a run" in str(refused.exception)
