"""Turns over HTTP: as JSON, as events, once, one at a time, bounded, and stored whoever goes away."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from agent.loop import run
from support.served import Served

EVENTS = {"Accept": "text/event-stream"}
PATIENCE = 10.0


def events(answer: httpx.Response) -> Iterator[tuple[str, dict[str, Any]]]:
    """The server-sent events of a response as (name, data)."""
    name = ""
    for line in answer.iter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def opened(client: httpx.Client) -> str:
    session: str = client.post("/api/sessions", json={}).json()["id"]
    return session


def until(held: Callable[[], Any]) -> Any:
    """Wait for something to hold."""
    end = time.monotonic() + PATIENCE
    while not (found := held()):
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)
    return found


def test_three_turns_know_of_each_other_and_are_kept(server: Served) -> None:
    with server.client() as client:
        session = opened(client)
        first = client.post(f"/api/sessions/{session}/turns", json={"text": "case cough", "report": True}).json()
        assert [s["text"] for s in first["statements"]] == ["A fact about croup.", "A fact about croup treatment."]
        assert first["report"] is not None
        assert first["follow_up_questions"][0]["finding"] == "fever"
        second = client.post(f"/api/sessions/{session}/turns", json={"text": "yes"}).json()
        assert (second["kind"], second["turn"]) == ("case", 2)
        with client.stream("POST", f"/api/sessions/{session}/turns", json={"text": "why"}, headers=EVENTS) as answer:
            told = list(events(answer))
        assert told[0] == ("step", told[0][1])
        assert told[0][1]["step"] == "turn"
        assert {name for name, _ in told[:-1]} == {"step"}
        assert told[-1][0] == "answer"
        whole = client.get(f"/api/sessions/{session}").json()
        assert [turn["asked"] for turn in whole["turns"]] == ["case cough", "yes", "why"]
        assert [turn["answer"] for turn in whole["turns"]] == [first, second, told[-1][1]]
        assert whole["session"]["title"] == "case cough"


def test_the_steps_hold_live_details_and_the_same_answer_comes_without_them(server: Served) -> None:
    with server.client() as client:
        session = opened(client)
        with client.stream("POST", f"/api/sessions/{session}/turns", json={"text": "case"}, headers=EVENTS) as answer:
            told = list(events(answer))
    data = {step["tool"] or step["step"]: step["data"] for name, step in told if name == "step" and step["data"]}
    assert data["triage"] == {"kind": "case", "language": "en", "emergency": []}
    assert data["completeness_gate"]["gate"]["score"] == 0.1
    assert data["completeness_gate"]["differential"] == []
    assert data["search_literature"]["evidence"] == {"retrieved": 1}
    doing = [step["summary"] for name, step in told if name == "step" and step["status"] == "progress"]
    assert doing == ["searching: croup", "searching: croup treatment"]


def test_a_turn_goes_on_when_its_client_goes_away_and_whoever_comes_follows_it(start: Any) -> None:
    server = start(pause={"select": 0.5})
    with server.client(key := server.key()) as client:
        session = opened(client)
        with client.stream("POST", f"/api/sessions/{session}/turns", json={"text": "croup"}, headers=EVENTS) as answer:
            next(events(answer))
        with (
            server.client(key) as another,
            another.stream("POST", f"/api/sessions/{session}/resume", headers=EVENTS) as answer,
        ):
            told = list(events(answer))
        assert told[0][1]["step"] == "turn"
        assert next(step["step"] for _, step in told[:-1] if step["status"] == "finished") == "triage"
        assert told[-1][0] == "answer"
        assert client.get(f"/api/sessions/{session}").json()["turns"][0]["answer"] == told[-1][1]
        assert server.script.log.count("triage") == 1


def test_the_same_message_with_the_same_key_is_answered_once(start: Any) -> None:
    server = start(pause={"answer": 0.3})
    with server.client() as client:
        session = opened(client)

        def ask(key: str, text: str = "croup") -> httpx.Response:
            headers = {"Idempotency-Key": key}
            return client.post(f"/api/sessions/{session}/turns", json={"text": text}, headers=headers)

        with ThreadPoolExecutor(3) as pool:
            at_once = list(pool.map(ask, ["one"] * 3))
        later = ask("one")
        assert [answer.status_code for answer in (*at_once, later)] == [200] * 4
        assert all(answer.json() == later.json() for answer in at_once)
        assert server.script.log.count("answer") == 1
        assert ask("one", "something else").status_code == 400
        assert ask("two").json()["turn"] == 2
        assert ask("has space").status_code == 422


def test_a_second_message_waits_for_the_first_to_end(start: Any) -> None:
    server = start(pause={"answer": 0.5})
    with server.client() as client, ThreadPoolExecutor(1) as pool:
        session = opened(client)
        first = pool.submit(client.post, f"/api/sessions/{session}/turns", json={"text": "croup"})
        until(lambda: server.app.state.turns.runs(session))
        for request in (
            lambda: client.post(f"/api/sessions/{session}/turns", json={"text": "another"}),
            lambda: client.delete(f"/api/sessions/{session}"),
        ):
            refused = request()
            assert (refused.status_code, refused.json()["error"]["code"]) == (409, "session_busy")
            assert int(refused.headers["retry-after"]) >= 1
        assert first.result().status_code == 200
        assert client.post(f"/api/sessions/{session}/turns", json={"text": "another"}).json()["turn"] == 2


def test_turns_at_once_are_bounded_for_a_key_and_for_all(start: Any) -> None:
    server = start(pause={"answer": 0.6}, turns=2, all_turns=3)
    with server.client() as mine, server.client() as yours, ThreadPoolExecutor(3) as pool:

        def ask(client: httpx.Client) -> httpx.Response:
            return client.post(f"/api/sessions/{opened(client)}/turns", json={"text": "croup"})

        running = [pool.submit(ask, client) for client in (mine, mine)]
        until(lambda: server.app.state.turns.places.taken == 2)
        refused = ask(mine)
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_many_turns")
        running.append(pool.submit(ask, yours))
        until(lambda: server.app.state.turns.places.taken == 3)
        full = ask(yours)
        assert (full.status_code, full.json()["error"]["code"]) == (503, "busy")
        assert all("retry-after" in answer.headers for answer in (refused, full))
        assert [answer.result().status_code for answer in running] == [200] * 3
        assert ask(mine).status_code == 200
        assert server.app.state.turns.places.taken == 0


def test_a_key_that_asks_too_often_is_told_when_to_come_again(start: Any) -> None:
    server = start(requests=8)  # two at once, then one in 7.5 s
    with server.client() as client, server.client() as another:
        assert [client.get("/api/me").status_code for _ in range(3)] == [200, 200, 429]
        refused = client.get("/v1/models")
        assert refused.status_code == 429
        assert 1 <= int(refused.headers["retry-after"]) <= 9
        assert another.get("/api/me").status_code == 200
        assert client.get("/health").status_code == 200


def test_a_turn_that_takes_too_long_is_stopped_and_can_be_resumed(start: Any) -> None:
    server = start(pause={"answer": 60.0}, turn_seconds=2.0)  # time to reach the answer on a busy machine too
    with server.client() as client:
        session = opened(client)
        late = client.post(f"/api/sessions/{session}/turns", json={"text": "croup"})
        assert (late.status_code, late.json()["error"]["code"]) == (504, "turn_timeout")
        assert client.get(f"/api/sessions/{session}").json()["session"]["unfinished"] is True
        server.script.pause.clear()
        with client.stream("POST", f"/api/sessions/{session}/resume", headers=EVENTS) as answer:
            told = list(events(answer))
        assert [step["step"] for _, step in told[:-1] if step["status"] == "finished"] == ["answer", "verify"]
        assert told[-1][0] == "answer"
        assert server.script.log.count("select") == 1  # no finished step ran again
        again = client.post(f"/api/sessions/{session}/resume").json()
        assert again == told[-1][1]


@pytest.mark.parametrize(
    "body",
    [
        {"text": ""},
        {"text": " \n\t"},
        {"text": "a\x00b"},
        {"text": "a" * 20_001},
        {"text": "croup", "given": [" "]},
        {"text": "croup", "given": ["x"] * 21},
        {"text": "croup", "options": {"A": "\x00"}},
        {"text": "croup", "unknown": 1},
        {"text": None},
    ],
)
def test_what_the_agent_would_not_take_is_refused_before_anything_begins(server: Served, body: Any) -> None:
    with server.client() as client:
        session = opened(client)
        for headers in ({}, EVENTS):
            answer = client.post(f"/api/sessions/{session}/turns", json=body, headers=headers)
            assert answer.status_code in (400, 422), answer.text
            assert answer.json()["error"]["message"]
        assert client.get(f"/api/sessions/{session}").json()["turns"] == []
        assert client.post(f"/api/sessions/{session}/resume").json()["error"]["code"] == "no_turn"


def test_a_fault_of_ours_is_an_error_without_its_words(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server = start()

    async def fail(view: Any) -> None:
        raise RuntimeError("Mrs Miller has HIV")

    monkeypatch.setattr(server.script, "answer", fail)
    with server.client() as client:
        session = opened(client)
        answer = client.post(f"/api/sessions/{session}/turns", json={"text": "croup"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal")
        assert "Miller" not in answer.text
        with client.stream("POST", f"/api/sessions/{session}/resume", headers=EVENTS) as stream:
            told = list(events(stream))
        assert told[-1][0] == "error"
        assert told[-1][1]["code"] == "internal"


def test_silence_is_filled_with_comments(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.server.turns_api.ALIVE", 0.1)
    server = start(pause={"answer": 0.5})
    with server.client() as client:
        session = opened(client)
        began = time.monotonic()
        with client.stream("POST", f"/api/sessions/{session}/turns", json={"text": "croup"}, headers=EVENTS) as answer:
            lines = list(answer.iter_lines())
    assert 2 <= lines.count(": alive") <= (time.monotonic() - began) / 0.1 + 1


def test_reviews_and_traces(server: Served) -> None:
    with server.client(server.key("Dr Adams")) as client:
        session = opened(client)
        client.post(f"/api/sessions/{session}/turns", json={"text": "case cough"})
        path = f"/api/sessions/{session}/turns/1/review"
        said = client.put(path, json={"verdict": "corrected", "correction": "It is croup."}).json()["review"]
        assert (said["verdict"], said["correction"], said["reviewer"]) == ("corrected", "It is croup.", "Dr Adams")
        assert client.put(path, json={"verdict": "accepted", "correction": ""}).status_code == 200
        for wrong in ({"verdict": "corrected", "correction": " "}, {"verdict": "accepted", "correction": "x"}, {}):
            assert client.put(path, json=wrong).status_code in (400, 422)
        assert client.put(path.replace("/1/", "/2/"), json={"verdict": "accepted"}).status_code == 404
        kinds = {e["kind"] for e in client.get(f"/api/sessions/{session}/turns/1/trace").json()["events"]}
        assert {"run", "triage", "gate", "answered"} <= kinds


def test_sessions_are_listed_renamed_exported_and_deleted_with_what_they_left(server: Served) -> None:
    with server.client() as client:
        ids = [client.post("/api/sessions", json={"title": f"Number {n}"}).json()["id"] for n in range(3)]
        client.post(f"/api/sessions/{ids[0]}/turns", json={"text": "case of tetanus-like spasms"})
        page = client.get("/api/sessions?limit=2").json()["sessions"]
        rest = client.get("/api/sessions", params={"before": page[-1]["updated"]}).json()["sessions"]
        assert [r["id"] for r in page] + [r["id"] for r in rest] == [ids[0], ids[2], ids[1]]
        assert client.patch(f"/api/sessions/{ids[1]}", json={"title": "Bed 4"}).json()["title"] == "Bed 4"
        exported = client.get(f"/api/sessions/{ids[0]}/export?format=markdown")
        assert exported.headers["content-type"].startswith("text/markdown")
        assert f'filename="{ids[0]}.md"' in exported.headers["content-disposition"]
        assert "tetanus" in exported.text
        cited = client.get(f"/api/sessions/{ids[0]}/export?format=csl-json&turn=1")
        assert {item["type"] for item in cited.json()} == {"document"}
        assert f'filename="{ids[0]}-1.csl.json"' in cited.headers["content-disposition"], "not the session's own file"
        assert "X-References-Note" not in cited.headers, "nothing is lacking"
        assert cited.headers["x-references"] == "2"
        none = client.get(f"/api/sessions/{ids[0]}/export?format=nbib")
        assert (none.text, none.headers["x-references"]) == ("", "0")
        assert "no reference to write as nbib" in none.headers["x-references-note"], "no empty file without a word"
        assert client.get(f"/api/sessions/{ids[0]}/export?format=nbib&turn=7").status_code == 404
        assert client.get(f"/api/sessions/{ids[0]}/export").json()["turns"][0]["asked"].startswith("case of tetanus")
        assert client.delete(f"/api/sessions/{ids[0]}").status_code == 204
        assert client.get(f"/api/sessions/{ids[0]}").status_code == 404
        assert client.get(f"/api/sessions/{ids[0]}/turns/1/trace").status_code == 404
    left = [f for f in server.agent.settings.home.rglob("*") if f.is_file() and b"tetanus" in f.read_bytes()]
    assert left == []
    assert ids[0] not in run(server.agent.records.ids())


def test_a_key_is_another_messages_while_its_turn_runs_too(start: Any) -> None:
    server = start(pause={"answer": 0.5})
    with server.client() as client, ThreadPoolExecutor(1) as pool:
        session = opened(client)

        def ask(text: str) -> httpx.Response:
            headers = {"Idempotency-Key": "one"}
            return client.post(f"/api/sessions/{session}/turns", json={"text": text}, headers=headers)

        first = pool.submit(ask, "croup")
        until(lambda: server.app.state.turns.runs(session))
        refused = ask("does metformin help")
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "bad_input")
        assert ask(" croup ").json() == first.result().json()


def test_a_message_sent_again_while_its_cut_off_turn_is_finished_follows_it(start: Any) -> None:
    server = start(pause={"answer": 60.0}, turn_seconds=0.6)
    with server.client() as client, ThreadPoolExecutor(1) as pool:
        session = opened(client)

        def ask() -> httpx.Response:
            headers = {"Idempotency-Key": "one"}
            return client.post(f"/api/sessions/{session}/turns", json={"text": "croup"}, headers=headers)

        assert ask().status_code == 504
        server.script.pause["answer"] = 0.4
        server.app.state.turns._seconds = PATIENCE
        finishing = pool.submit(client.post, f"/api/sessions/{session}/resume")
        until(lambda: server.app.state.turns.runs(session))
        again = ask()
        assert again.status_code == 200
        assert again.json() == finishing.result().json()
        assert len(client.get(f"/api/sessions/{session}").json()["turns"]) == 1


def test_a_trace_that_lies_elsewhere_is_not_found(server: Served) -> None:
    with server.client() as client:
        session = opened(client)
        client.post(f"/api/sessions/{session}/turns", json={"text": "croup"})
        (server.agent.home.traces / session / "1.jsonl").unlink()
        answer = client.get(f"/api/sessions/{session}/turns/1/trace")
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "no_trace")


def test_a_turn_is_stopped_its_followers_are_told_and_the_next_message_is_answered(start: Any) -> None:
    server = start(pause={"answer": 20})
    with server.client() as client, ThreadPoolExecutor(1) as pool:
        session = opened(client)
        path = f"/api/sessions/{session}"
        assert client.post(f"{path}/stop").json()["error"]["code"] == "no_turn"
        first = pool.submit(client.post, f"{path}/turns", json={"text": "crup"})
        until(lambda: "answer" in server.script.log)
        assert server.client().post(f"{path}/stop").status_code == 404, "another key's session"
        assert client.post(f"{path}/stop").status_code == 204
        told = first.result().json()
        assert (told["abstained"], [n["code"] for n in told["notices"]]) == (True, ["stopped"])
        server.script.pause.clear()
        asked = {"text": "croup", "replaces": 1}
        assert client.post(f"{path}/turns", json=asked).json()["turn"] == 1
        assert client.post(f"{path}/turns", json={**asked, "replaces": 5}).status_code == 400
        whole = client.get(path).json()
        assert [turn["asked"] for turn in whole["turns"]] == ["croup"]
        assert not whole["session"]["unfinished"]
        assert client.post(f"{path}/stop").status_code == 409
