"""The contract of a session database, the same for SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.agent import Agent
from agent.loop import run
from agent.sessions import Database, Home, open_database
from agent.settings import Settings
from prompts.errors import DataError, InputError, ServiceError
from support.machine_parts import Scripted, parts

Place = dict[str, Any]
TABLE = ("create table if not exists things (id text primary key, number integer not null)", ())


@pytest.fixture
def database(place: Place) -> Iterator[Database]:
    opened = run(open_database(Settings(**place), Home(place["home"]).prepare()))
    yield opened
    run(opened.close())


def put(name: str, number: int) -> tuple[str, tuple[Any, ...]]:
    return "insert into things (id, number) values (?, ?)", (name, number)


def rows(database: Database) -> list[tuple[Any, ...]]:
    return run(database.execute(("select id, number from things order by id", ())))[0]


def test_statements_are_one_transaction(database: Database) -> None:
    run(database.execute(TABLE))
    told = run(database.execute(put("a", 1), ("select number from things", ()), put("b", 2)))
    assert told == [[], [(1,)], []]
    with pytest.raises(DataError):
        run(database.execute(put("c", 3), put("a", 4)))
    assert rows(database) == [("a", 1), ("b", 2)]
    run(database.execute(TABLE))
    run(database.execute(("delete from things where id = ?", ("a",))))
    assert rows(database) == [("b", 2)]


def test_statements_of_many_at_once_are_all_carried_out(database: Database) -> None:
    async def all_at_once() -> None:
        await asyncio.gather(*(database.execute(put(f"{n:03}", n)) for n in range(60)))

    run(database.execute(TABLE))
    run(all_at_once())
    assert [number for _, number in rows(database)] == list(range(60))


async def _freed(database: Database, session: str) -> Any:
    """The lock that another held whose connection has ended, which a server notices a moment later."""
    for _ in range(200):
        lock = await database.try_lock(session)
        if lock is not None:
            return lock
        await asyncio.sleep(0.05)
    return None


def test_a_session_is_locked_against_another_opening_of_the_database(place: Place, database: Database) -> None:
    other = run(open_database(Settings(**place), Home(place["home"])))
    release = run(database.try_lock("s"))
    assert release is not None
    assert run(other.try_lock("s")) is None
    different = run(other.try_lock("t"))
    assert different is not None
    run(release())
    again = run(other.try_lock("s"))
    assert again is not None
    run(other.close())  # as when its process dies
    for session in ("s", "t"):
        back = run(_freed(database, session))
        assert back is not None
        run(back())


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5))
def test_texts_come_back_as_they_were_and_live_as_long_as_an_owner(database: Database, texts: list[str]) -> None:
    kept = database.texts
    keys = kept.put_all("s", texts)
    assert kept.put_all("t", texts[:2]) == keys[:2]
    assert kept.get_all(keys) == texts
    assert kept.purge("s") == len(set(texts) - set(texts[:2]))
    assert kept.get_all(keys[:2]) == texts[:2]
    assert kept.purge("t") == len(set(texts[:2]))
    for key in keys:
        with pytest.raises(DataError, match="gone"):
            kept.get(key)


def test_a_session_goes_on_with_its_question_in_another_worker(place: Place) -> None:
    script = Scripted(plan_of={})
    first, second = agent_of(place), agent_of(place, script)
    asked = first.ask("case: a cough", session="s")
    assert [q.finding for q in asked.follow_up_questions] == ["fever", "cough"]
    answered = second.ask("yes", session="s")
    first.close()
    second.close()
    assert (answered.kind, answered.turn) == ("case", 2)
    assert [f.id for f in script.views[-1].findings if f.clause == "yes"] == ["fever"]
    assert {e.id for e in script.views[-1].evidence} == set()
    with agent_of(place, Scripted(plan_of={})) as third:  # and after a restart
        assert third.resume("s") == answered
        records = run(third.records.list())
        assert [(r.id, r.turns, r.title) for r in records] == [("s", 2, "case: a cough")]
        explained = third.ask("why", session="s")
        assert explained.kind == "explain"


def test_the_evidence_of_an_earlier_turn_is_there_after_a_restart(place: Place) -> None:
    with agent_of(place) as agent:
        first = agent.ask("case: a cough", session="s")
    assert first.evidence
    with agent_of(place) as agent:
        state = run(agent._machine.aget_state({"configurable": {"thread_id": "s"}})).values
        texts = agent.database.texts.get_all(state["evidence"][e.id] for e in first.evidence)
        assert [type(first.evidence[0]).model_validate_json(t) for t in texts] == first.evidence


def test_nothing_of_a_deleted_session_is_left(place: Place) -> None:
    with agent_of(place) as agent:
        agent.ask("case: zyzzyva is my own word", session="gone")
        agent.ask("croup?", session="stays")
        run(agent.records.rename("gone", "about zyzzyva"))
        run(agent.records.review("gone", 1, review_of("zyzzyva")))
        run(agent.records.delete("gone"))
        assert agent.sessions() == ["stays"]
        assert agent.resume("stays").text.startswith("A fact about croup")
        with pytest.raises(InputError):
            agent.resume("gone")
        assert left_in(agent, place, b"zyzzyva") == []


def left_in(agent: Agent, place: Place, word: bytes) -> list[str]:
    """Files of the data folder, or tables of the database, that hold a word."""
    files = [f.name for f in place["home"].rglob("*") if f.is_file() and word in f.read_bytes()]
    if "database" not in place:
        return files
    tables = run(agent.database.execute(("select tablename from pg_tables where schemaname = 'public'", ())))[0]
    dumped = {t: str(run(agent.database.execute((f"select t::text, t.* from {t} t", ())))[0]) for (t,) in tables}
    assert len(dumped) >= 9
    return files + [t for t, rows in dumped.items() if word.decode() in rows or word.hex() in rows]


def review_of(text: str) -> Any:
    from agent.sessions import Review

    return Review(verdict="corrected", correction=text, reviewer=text)


def agent_of(place: Place, script: Scripted | None = None) -> Agent:
    return Agent(Settings(**place), parts=parts(script))


def test_an_unreachable_server_is_a_service_error_without_its_password(tmp_path: Any) -> None:
    pytest.importorskip("psycopg")
    url = "postgresql://me:secret-word@127.0.0.1:1/none"
    with pytest.raises(ServiceError) as caught:
        agent_of({"home": tmp_path, "database": url})
    assert "secret-word" not in str(caught.value)
    assert "secret-word" not in repr(Settings(home=tmp_path, database=url))
    assert caught.value.advice


def test_missing_drivers_are_told_with_what_to_install(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "psycopg_pool", None)
    with pytest.raises(InputError, match=r"anamnesis\[postgres\]"):
        agent_of({"home": tmp_path, "database": "postgresql://127.0.0.1:1/none"})


async def checkpoints(agent: Agent, session: str) -> int:
    config = {"configurable": {"thread_id": session}}
    return len([one async for one in agent.database.saver.alist(config)])


def test_a_turn_leaves_one_checkpoint_and_the_session_goes_on_and_another_keeps_its_own(place: Place) -> None:
    with Agent(**place, parts=parts(Scripted())) as agent:
        other = agent.ask("sinusitis", session="other")
        for text in ("croup", "and in adults?", "and in children?"):
            agent.ask(text, session="one")
        kept = {name: run(checkpoints(agent, name)) for name in ("one", "other")}
        assert kept == {"one": 1, "other": 1}
        assert agent.resume("other") == other
        assert run(agent.records.get("one")).turns == 3
