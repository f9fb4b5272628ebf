"""Who may do what: every endpoint that the description names, for every kind of stranger."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest

from agent.loop import run
from agent.server.access import COOKIE
from support.served import Served

OPEN = {("get", "/health"), ("get", "/ready"), ("post", "/api/login"), ("post", "/api/logout")}
COMPLETION = {"model": "anamnesis", "messages": [{"role": "user", "content": "croup?"}]}
BODIES: dict[tuple[str, str], Any] = {
    ("post", "/api/sessions"): {},
    ("patch", "/api/sessions/{session}"): {"title": "Mine"},
    ("post", "/api/sessions/{session}/turns"): {"text": "croup?"},
    ("put", "/api/sessions/{session}/turns/{turn}/review"): {"verdict": "accepted"},
    ("post", "/v1/chat/completions"): COMPLETION,
}
NEEDS = {
    ("put", "/api/sessions/{session}/turns/{turn}/review"): "review",
    ("get", "/api/sessions/{session}/turns/{turn}/trace"): "traces",
}


def endpoints(server: Served) -> list[tuple[str, str]]:
    """Every endpoint that needs a key, as (method, path)."""
    paths = server.app.openapi()["paths"]
    found = [(method, path) for path, methods in paths.items() for method in methods]
    assert len(found) > 15
    return [endpoint for endpoint in found if endpoint not in OPEN]


def call(client: Any, endpoint: tuple[str, str], session: str = "none") -> Any:
    method, path = endpoint
    return client.request(method, path.format(session=session, turn=1), json=BODIES.get(endpoint))


@pytest.fixture(scope="module")
def owned(server: Served) -> str:
    """A session of somebody else, with a turn."""
    with server.client() as client:
        session: str = client.post("/api/sessions", json={}).json()["id"]
        assert client.post(f"/api/sessions/{session}/turns", json={"text": "croup?"}).status_code == 200
    return session


def test_nobody_gets_in_without_a_valid_key(server: Served, owned: str) -> None:
    expired, revoked = server.key(expires="1h"), server.key()
    with sqlite3.connect(server.agent.home.records) as tables:
        tables.execute("update server_keys set expires = '2020-01-01T00:00:00Z' where id = ?", (expired[4:16],))
    run(server.app.state.access.keys.revoke(revoked[4:16]))
    right = server.key()
    wrong = right[:-3] + ("AAA" if right[-3:] != "AAA" else "BBB")
    strangers = {
        "no_key": "",
        "wrong_key": wrong,
        "key_expired": expired,
        "key_revoked": revoked,
    }
    for code, key in strangers.items():
        with server.client(key) as client:
            for endpoint in endpoints(server):
                answer = call(client, endpoint, owned)
                assert (answer.status_code, answer.json()["error"]["code"]) == (401, code), endpoint
                assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("header", ["Basic dXNlcjpwYXNz", "Bearer", "Bearer ana_1", "ana_1_2", "Bearer ana_\u00e9"])
def test_a_header_of_another_form_opens_nothing(server: Served, header: str) -> None:
    with server.client("") as client:
        answer = client.get("/api/me", headers={"Authorization": header.encode()})
    assert answer.status_code == 401


def test_a_key_does_what_its_scopes_say_and_no_more(server: Served, owned: str) -> None:
    for scopes in (("review",), ("traces",), ("tools",), ("ask",)):
        with server.client(server.key(scopes=scopes)) as client:
            for endpoint in endpoints(server):
                if endpoint[1] == "/api/me" or NEEDS.get(endpoint, "ask") in scopes:
                    continue
                answer = call(client, endpoint, owned)
                assert (answer.status_code, answer.json()["error"]["code"]) == (403, "scope_missing"), endpoint


def test_anothers_session_answers_as_an_unknown_one(server: Served, owned: str) -> None:
    with server.client() as client:
        for endpoint in endpoints(server):
            if "{session}" not in endpoint[1]:
                continue
            theirs, unknown = call(client, endpoint, owned), call(client, endpoint, "abcdef0123456789")
            assert theirs.status_code == unknown.status_code == 404
            told = [answer.json()["error"]["message"].replace(owned, "X") for answer in (theirs, unknown)]
            assert told[0] == told[1].replace("abcdef0123456789", "X")
        headers = {"X-Session-Id": owned}
        assert client.post("/v1/chat/completions", json=COMPLETION, headers=headers).status_code == 404
        assert client.get("/api/sessions").json() == {"sessions": []}
    assert [turn.asked for turn in run(server.agent.records.turns(owned))] == ["croup?"]


def test_a_revoked_key_is_refused_with_its_next_request_and_its_log_in_too(server: Served) -> None:
    key = server.key("Dr Adams")
    with server.client("") as client:
        me = client.post("/api/login", json={"key": key}).json()
        assert me["name"] == "Dr Adams"
        assert client.get("/api/me").json() == me
        run(server.app.state.access.keys.revoke(me["id"]))
        assert client.get("/api/me").json()["error"]["code"] == "logged_out"
        assert client.get("/api/me", headers={"Authorization": f"Bearer {key}"}).status_code == 401


def test_the_cookie_is_for_the_browser_alone_and_ends_with_the_log_out(server: Served) -> None:
    key = server.key()
    with server.client("") as client:
        answer = client.post("/api/login", json={"key": key})
        cookie = answer.headers["set-cookie"]
        assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
        token = client.cookies[COOKIE]
        assert token not in key
        assert key not in cookie
        assert client.post("/api/logout").status_code == 204
        assert client.get("/api/me", headers={"Cookie": f"{COOKIE}={token}"}).status_code == 401
        assert client.post("/api/login", json={"key": key[:-2] + "zz"}).status_code == 401


def test_a_log_in_changes_nothing_for_another_sites_page(server: Served) -> None:
    with server.client("") as client:
        client.post("/api/login", json={"key": server.key()})
        for headers in ({}, {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
            answer = client.post("/api/sessions", json={}, headers=headers)
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "origin_refused"), headers
        assert client.get("/api/sessions").json() == {"sessions": []}
        for headers in ({"Origin": server.url}, {"Sec-Fetch-Site": "same-origin"}):
            assert client.post("/api/sessions", json={}, headers=headers).status_code == 201


def test_neither_a_key_nor_a_log_in_is_on_the_disk(server: Served) -> None:
    key = server.key()
    with server.client("") as client:
        client.post("/api/login", json={"key": key})
        secrets = (key.split("_", 2)[2].encode(), client.cookies[COOKIE].encode())
    for file in server.agent.settings.home.rglob("*"):
        if file.is_file():
            assert not any(secret in file.read_bytes() for secret in secrets), file


def test_without_authentication_the_owner_is_the_command_line(start: Any) -> None:
    server = start(authentication=False)
    with server.client("") as client:
        session = client.post("/api/sessions", json={}).json()
        assert session["owner"] == ""
        assert client.get("/api/me").json()["authentication"] is False
        assert client.post("/api/sessions", json={}, headers={"Origin": "https://evil.example"}).status_code == 403
        assert client.get("/api/me", headers={"Host": "evil.example"}).status_code == 421
