"""Keys, log-ins and the cookie. Every stranger at every endpoint: `tests/system/test_access_matrix.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.loop import run
from agent.server.access import COOKIE
from agent.server.start import tell_link
from support.served import Served


@pytest.mark.parametrize("header", ["Basic dXNlcjpwYXNz", "Bearer", "Bearer ana_1", "ana_1_2", "Bearer ana_\u00e9"])
def test_a_header_of_another_form_opens_nothing(server: Served, header: str) -> None:
    with server.client("") as client:
        answer = client.get("/api/me", headers={"Authorization": header.encode()})
    assert answer.status_code == 401


def test_a_revoked_key_is_refused_with_its_next_request_and_its_log_in_too(server: Served) -> None:
    key = server.key("Dr Adams")
    with server.client("") as client:
        me = client.post("/api/login", json={"key": key}).json()
        assert me["name"] == "Dr Adams"
        assert client.get("/api/me").json() == me
        run(server.app.state.access.keys.revoke(me["id"]))
        assert client.get("/api/me").json()["error"]["code"] == "logged_out"
        assert client.get("/api/me", headers={"Authorization": f"Bearer {key}"}).status_code == 401


def test_a_word_for_one_log_in_opens_once_in_its_time_and_as_a_key_that_can_be_revoked(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = server.app.state.access
    word = access.offer(run(access.keys.of_page()))
    with server.client("") as client:
        assert client.get("/api/me", headers={"Authorization": f"Bearer {word}"}).status_code == 401, "it is no key"
        me = client.post("/api/login", json={"key": word}).json()
        assert (me["name"], me["scopes"]) == ("page on this machine", ["ask", "review", "traces"])
        assert client.get("/api/me").json() == me
        again = access.offer(run(access.keys.of_page()))
        monkeypatch.setattr("agent.server.access.OFFERED", -1.0)
        late = access.offer(run(access.keys.of_page()))
        with server.client("") as another:
            told = [another.post("/api/login", json={"key": key}) for key in (word, late, "once_", f"{again}x")]
            assert [t.status_code for t in told] == [401] * 4
            assert another.get("/api/me").status_code == 401
            assert another.post("/api/login", json={"key": again}).json()["id"] == me["id"], (
                "its sessions are there again"
            )
        run(access.keys.revoke(me["id"]))
        assert client.get("/api/me").status_code == 401
        assert run(access.keys.of_page()).id != me["id"]


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


def test_the_link_is_written_at_once_where_nobody_has_a_terminal(
    server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / "log").open("w") as log:
        monkeypatch.setattr("sys.stdout", log)
        tell_link(server.app, server.url)
        written = (tmp_path / "log").read_text()
    assert f"{server.url}/#/once/" in written
