"""What is known of sessions: listing, owners, titles, reviews, idempotent turns, deletion, old data folders."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from agent.agent import Agent
from agent.loop import run
from agent.sessions import Review, records
from agent.sessions.sqlite import SqliteDatabase
from agent.settings import Settings
from graphs.triage.facts import Fact
from prompts.errors import DataError, InputError
from support.machine_parts import Scripted, parts


def agent_of(home: Path, script: Scripted | None = None, **settings: Any) -> Agent:
    return Agent(Settings(home=home, **settings), parts=parts(script))


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    with agent_of(tmp_path) as made:
        yield made


def test_a_session_is_listed_with_the_first_words_of_its_first_message(agent: Agent) -> None:
    made = run(agent.records.create())
    assert (made.title, made.turns, made.unfinished, made.needs_review) == ("", 0, False, False)
    agent.ask("case: a barking cough\nsince last night, " + "and more " * 20, session=made.id)
    agent.ask("croup?", session=made.id)
    (record,) = run(agent.records.list())
    assert record.title.startswith("case: a barking cough since last night, and more")
    assert len(record.title) <= 60
    assert (record.id, record.turns, record.created) == (made.id, 2, made.created)
    assert record.updated > made.updated


def test_pages_hold_every_session_once_and_the_last_used_first(agent: Agent) -> None:
    ids = [run(agent.records.create(owner="me" if n % 2 else "")).id for n in range(7)]
    agent.ask("croup?", session=ids[0])
    seen, before = [], None
    while page := run(agent.records.list(limit=3, before=before)):
        seen += [r.id for r in page]
        before = page[-1].updated
    assert seen == [ids[0], *reversed(ids[1:])]
    assert [r.id for r in run(agent.records.list(owner="me"))] == [ids[5], ids[3], ids[1]]
    for limit in (0, 10_000):
        with pytest.raises(InputError):
            run(agent.records.list(limit=limit))


def test_another_owners_session_is_as_one_that_is_not_there(agent: Agent) -> None:
    agent.ask("croup?", session="theirs", owner="them")
    records = agent.records
    review = Review(verdict="accepted")
    attempts = [
        lambda s: agent.ask("croup?", session=s, owner="me") if s == "theirs" else agent.session(s, create=False),
        lambda s: agent.resume(s, owner="me"),
        lambda s: run(records.get(s, "me")),
        lambda s: run(records.turns(s, "me")),
        lambda s: run(records.rename(s, "mine now", "me")),
        lambda s: run(records.export(s, "json", "me")),
        lambda s: run(records.review(s, 1, review, "me")),
        lambda s: run(records.delete(s, "me")),
    ]
    for attempt in attempts:
        told = []
        for session in ("theirs", "nobody"):
            with pytest.raises(InputError) as caught:
                attempt(session)
            told.append((type(caught.value), str(caught.value).replace(session, "X")))
        assert told[0] == told[1]
    (record,) = run(records.list())
    assert (record.id, record.owner, record.turns, record.title) == ("theirs", "them", 1, "croup?")


def test_a_title_stays_when_it_was_given(agent: Agent) -> None:
    named = run(agent.records.create(title="  Mrs A,\n the cough "))
    assert named.title == "Mrs A, the cough"
    agent.ask("croup?", session=named.id)
    assert run(agent.records.rename(named.id, "Croup")).title == "Croup"
    agent.ask("croup?", session=named.id)
    assert run(agent.records.get(named.id)).title == "Croup"
    for title in ("", " \n", "x" * 500, "a\x00b"):
        with pytest.raises(InputError):
            run(agent.records.rename(named.id, title))


def test_the_turns_are_told_with_their_answers_and_reviews(agent: Agent) -> None:
    first = agent.ask("croup?", session="s")
    second = agent.ask("case: a cough", session="s")
    run(agent.records.review("s", 1, Review(verdict="corrected", correction=" Not so. ", reviewer="Dr B")))
    kept = run(agent.records.review("s", 1, Review(verdict="corrected", correction="Rather so.", reviewer="Dr C")))
    turns = run(agent.records.turns("s"))
    assert [(t.turn, t.asked, t.answer) for t in turns] == [(1, "croup?", first), (2, "case: a cough", second)]
    assert [t.review for t in turns] == [kept, None]
    assert turns[0].asked_at < turns[0].answered_at < turns[1].asked_at
    for turn in (0, 3):
        with pytest.raises(InputError, match="no answered turn"):
            run(agent.records.review("s", turn, Review(verdict="accepted")))


@pytest.mark.parametrize(("verdict", "correction"), [("corrected", " "), ("accepted", "text"), ("maybe", "")])
def test_a_review_that_makes_no_sense_is_none(verdict: Any, correction: str) -> None:
    with pytest.raises(ValidationError):
        Review(verdict=verdict, correction=correction)


def test_a_turn_key_runs_its_turn_once(tmp_path: Path) -> None:
    script = Scripted()
    with agent_of(tmp_path, script) as agent:
        first = agent.ask("croup?", session="s", turn_key="k")
        ran = list(script.log)
        assert agent.ask("croup?", session="s", turn_key="k") == first
        assert script.log == ran
        with pytest.raises(InputError, match="another message"):
            agent.ask("hello", session="s", turn_key="k")
        assert agent.ask("croup?", session="s", turn_key="l").turn == 2
        assert agent.ask("croup?", session="other", turn_key="k").turn == 1
        for key in ("x" * 500, "a\nb"):
            with pytest.raises(InputError):
                agent.ask("croup?", session="s", turn_key=key)
        assert run(agent.records.get("s")).turns == 2


class CutOff(Scripted):
    """Fails in the selection as long as it is told to."""

    broken = True

    async def select(self, *arguments: Any) -> Any:
        if self.broken:
            raise RuntimeError("cut off")
        return await super().select(*arguments)


def test_a_turn_key_finishes_the_turn_that_was_cut_off(tmp_path: Path) -> None:
    script = CutOff()
    with agent_of(tmp_path, script) as agent:
        with pytest.raises(RuntimeError):
            agent.ask("croup?", session="s", turn_key="k")
        assert run(agent.records.get("s")).unfinished
        assert run(agent.records.turns("s"))[0].answer is None
        ran, script.broken = len(script.log), False
        answer = agent.ask("croup?", session="s", turn_key="k")
        assert answer.turn == 1
        assert script.log[ran] == "select"
        assert not run(agent.records.get("s")).unfinished


def test_the_key_of_a_turn_that_was_lost_is_not_taken_for_answered(tmp_path: Path) -> None:
    script = CutOff()
    with agent_of(tmp_path, script) as agent:
        with pytest.raises(RuntimeError):
            agent.ask("croup?", session="s", turn_key="k")
        assert agent.ask("hello", session="s").notices[0].code == "earlier_turn_lost"
        with pytest.raises(DataError, match="could not be finished"):
            agent.ask("croup?", session="s", turn_key="k")
        assert [t.answer is None for t in run(agent.records.turns("s"))] == [True, False]
        assert not run(agent.records.get("s")).unfinished


def test_a_session_without_a_message_has_nothing_to_resume(agent: Agent) -> None:
    made = run(agent.records.create())
    with pytest.raises(InputError, match="no message"):
        agent.resume(made.id)


def test_an_old_data_folder_lists_tells_and_resumes_its_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def kept(*_: Any) -> None:
        """The older program kept every checkpoint."""

    monkeypatch.setattr(SqliteDatabase, "thin", kept)
    with agent_of(tmp_path) as agent:
        answers = [agent.ask("croup?", session="old"), agent.ask("case: a cough", session="old")]
    with agent_of(tmp_path, CutOff()) as agent, pytest.raises(RuntimeError):
        agent.ask("what helps in croup", session="cut")
    for file in tmp_path.glob("sessions.sqlite*"):
        file.unlink()
    with agent_of(tmp_path) as agent:
        records = run(agent.records.list())
        assert [(r.id, r.title, r.turns, r.unfinished) for r in records] == [
            ("cut", "what helps in croup", 1, True),
            ("old", "croup?", 2, False),
        ]
        assert records[1].created < records[1].updated < records[0].updated
        assert [t.answer for t in run(agent.records.turns("old"))] == answers
        assert agent.resume("old") == answers[1]
        assert agent.resume("cut").text == "A fact about croup. A fact about croup treatment."
        assert agent.ask("yes", session="old").turn == 3
        assert agent.session("old", create=False).ask("why").turn == 4
        agent.delete_session("cut")
        assert agent.sessions() == ["old"]
        with pytest.raises(InputError):
            agent.ask("croup?", session="old", owner="somebody")


def test_records_of_a_later_version_are_refused(tmp_path: Path) -> None:
    agent_of(tmp_path).close()
    with sqlite3.connect(tmp_path / "sessions.sqlite") as db:
        db.execute("update schema_version set version = 99")
    with pytest.raises(DataError, match="version 99"):
        agent_of(tmp_path)


def test_unused_sessions_expire_and_the_rest_stays(agent: Agent) -> None:
    agent.ask("croup?", session="old")
    agent.ask("croup?", session="new")
    sql = "update sessions set updated = '2020-01-01T00:00:00.000000+00:00' where id = ?"
    run(agent.database.execute((sql, ("old",))))
    assert run(agent.records.expire(30)) == ["old"]
    assert agent.sessions() == ["new"]
    assert run(agent.records.expire(30)) == []
    with pytest.raises(InputError):
        run(agent.records.expire(0))


def test_a_deletion_that_was_cut_off_is_hidden_and_finished_at_the_next_start(tmp_path: Path) -> None:
    with agent_of(tmp_path) as agent:
        agent.ask("case: zyzzyva", session="s")
        run(agent.database.execute(("update sessions set leaving = 1", ())))
        assert agent.sessions() == run(agent.records.list()) == []
        with pytest.raises(InputError):
            agent.resume("s")
    with agent_of(tmp_path):
        pass
    assert [f for f in tmp_path.rglob("*") if f.is_file() and b"zyzzyva" in f.read_bytes()] == []


def test_what_is_used_again_while_others_expire_stays(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    agent.ask("croup?", session="first")
    agent.ask("croup?", session="second")
    run(agent.database.execute(("update sessions set updated = '2020-01-01T00:00:00.000000+00:00'", ())))
    leave = agent.records._leave

    async def leave_and_use_the_other(session: str) -> None:
        await leave(session)
        await agent.aask("croup again?", session="second")

    monkeypatch.setattr(agent.records, "_leave", leave_and_use_the_other)
    assert run(agent.records.expire(30)) == ["first"]
    assert [t.asked for t in run(agent.records.turns("second"))] == ["croup?", "croup again?"]


def test_whoever_looks_at_a_session_that_is_being_deleted_does_not_bring_it_back(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.ask("case: zyzzyva", session="s", owner="them")
    forget, told = agent.database.forget, records._told

    async def looked_at(session: str) -> None:
        looking = asyncio.ensure_future(agent.records.get(session, "them"))
        await asyncio.sleep(0.1)  # it has read the checkpoints by now
        await forget(session)
        looks.append(looking)

    async def slow(*given: Any) -> Any:
        found = await told(*given)
        await asyncio.sleep(0.5)
        return found

    looks: list[asyncio.Future[Any]] = []
    monkeypatch.setattr(agent.database, "forget", looked_at)
    monkeypatch.setattr(records, "_told", slow)

    async def deleted() -> None:
        await agent.records.delete("s", "them")
        with pytest.raises(InputError):
            await looks[0]

    run(deleted())
    assert agent.sessions() == []
    assert run(agent.database.execute(("select session from turns", ()))) == [[]]


@pytest.mark.parametrize("options", [{"A": "\x00"}, {"": "gout"}, {"A": "x" * 30_000}])
def test_options_are_held_to_what_a_message_is_held_to(agent: Agent, options: dict[str, str]) -> None:
    with pytest.raises(InputError, match="option"):
        agent.ask("Which one?", session="s", options=options)
    assert agent.sessions() == []


@pytest.mark.parametrize("name", ["s\n", "s/../t", ""])
def test_no_name_but_a_plain_one_becomes_a_session(agent: Agent, name: str) -> None:
    with pytest.raises(InputError):
        agent.session(name)


def test_a_title_follows_what_is_put_right_in_the_first_message_unless_it_was_renamed(agent: Agent) -> None:
    said = "A 36-year-old woman with a cough"
    agent.ask(said, session="s")
    wrong = Fact(text="36", turn=1, span=(2, 4), by=2, now="63")
    worse = Fact(text="woman", turn=1, span=(14, 19), by=3, now="man")
    other = Fact(text="cough", turn=2, span=(0, 5), by=2, now="fever")
    rows = agent.records.turn_rows
    run(rows.retitle("s", 2, [wrong, other]))
    assert run(agent.records.get("s")).title == "A 63-year-old woman with a cough"
    run(rows.retitle("s", 3, [wrong, other, worse]))
    assert run(agent.records.get("s")).title == "A 63-year-old man with a cough"
    run(agent.records.rename("s", "Bed 4"))
    run(rows.retitle("s", 3, [wrong, worse]))
    assert run(agent.records.get("s")).title == "Bed 4"
