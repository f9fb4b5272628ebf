"""What stands before every endpoint: names, bodies, ids, headers, and the form of errors."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest

from support.served import Served

LIMIT = 1_000_000  # as in the settings


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "[", "", "127.0.0.1.nip.io"])
def test_a_name_that_is_not_ours_is_refused(server: Served, host: str) -> None:
    for path in ("/health", "/api/me", "/", "/openapi.json", "/mcp", "/v1/models"):
        with server.client() as client:
            assert client.get(path, headers={"Host": host}).status_code == 421, path


MORE_THAN_A_NAME = ["evil.example@localhost", "x:y@127.0.0.1", "localhost#evil.example", "localhost?x", "localhost/x"]
MORE_THAN_A_NAME += ["localhost\\x", "local host", "local\thost", "localhost\x0b", "localhost:", "localhost:8x"]
MORE_THAN_A_NAME += ["localhost:1:2", "[::1", "::1", "[::1]x"]


@pytest.mark.parametrize("host", MORE_THAN_A_NAME)
def test_a_host_that_is_more_than_a_name_and_a_port_is_refused(server: Served, host: str) -> None:
    address = server.url.removeprefix("http://")
    with socket.create_connection(tuple(address.split(":"))) as raw:  # type: ignore[arg-type]
        raw.sendall(f"GET /health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        assert raw.recv(100).split()[1] in (b"400", b"421")


def test_our_names_and_any_address_are_taken(start: Any) -> None:
    server = start(hosts=["ward.example"])
    with server.client() as client:
        for host in ("localhost", "LOCALHOST:1", "ward.example", "10.1.2.3:8000", "[::1]:8000"):
            assert client.get("/api/me", headers={"Host": host}).status_code == 200, host


def test_a_body_that_is_too_long_is_refused_however_it_is_sent(server: Served) -> None:
    whole = json.dumps({"text": "a" * LIMIT}).encode()

    def pieces() -> Any:
        yield from (whole[at : at + 50_000] for at in range(0, len(whole), 50_000))

    with server.client() as client:
        session = client.post("/api/sessions", json={}).json()["id"]
        for path in (f"/api/sessions/{session}/turns", "/v1/chat/completions", "/api/login"):
            for body in (whole, pieces()):
                answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
                assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large"), path
        assert client.get(f"/api/sessions/{session}").json()["turns"] == []


def test_a_length_that_is_a_lie_or_no_number_harms_nobody(server: Served) -> None:
    host = server.url.removeprefix("http://")
    for length in ("9" * 30, "-1", "x"):
        with socket.create_connection(tuple(host.split(":"))) as raw:  # type: ignore[arg-type]
            raw.sendall(f"POST /api/login HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n".encode())
            assert raw.recv(100).split()[1] in (b"400", b"413"), length
    with server.client() as client:
        assert client.get("/health").status_code == 200


def test_a_request_id_is_kept_when_it_is_well_formed_and_made_otherwise(server: Served) -> None:
    with server.client() as client:
        assert client.get("/health", headers={"X-Request-ID": "trace-0042.a"}).headers["x-request-id"] == "trace-0042.a"
        for bad in ("short", "a" * 65, "has space in it", 'quote"quote"', ""):
            made = client.get("/health", headers={"X-Request-ID": bad}).headers["x-request-id"]
            assert made != bad
            assert len(made) == 16
        answer = client.get("/api/sessions/none", headers={"X-Request-ID": "trace-0043"})
        assert answer.json()["error"]["request_id"] == "trace-0043"


def test_every_answer_has_the_headers_that_protect_a_browser(server: Served) -> None:
    with server.client() as client:
        for path in ("/", "/health", "/api/me", "/v1/models", "/nothing", "/api/sessions/none"):
            headers = client.get(path).headers
            policy = headers["content-security-policy"]
            assert "default-src 'self'" in policy
            assert "unsafe" not in policy
            assert "http" not in policy
            assert "frame-ancestors 'none'" in policy
            assert headers["x-content-type-options"] == "nosniff"
            assert "access-control-allow-origin" not in headers
            assert "server" not in headers or headers["server"] == "uvicorn"
        assert client.get("/api/me").headers["cache-control"] == "no-store"
        asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
        assert client.options("/api/sessions", headers=asked).status_code == 405


def test_errors_have_the_form_that_their_clients_read(server: Served) -> None:
    with server.client() as client:
        ours = client.get("/api/nothing").json()["error"]
        assert set(ours) == {"code", "message", "advice", "request_id"}
        theirs = client.get("/v1/nothing").json()["error"]
        assert set(theirs) == {"message", "type", "param", "code"}
        malformed = client.post("/api/sessions", json={"titel": "x"})
        assert malformed.status_code == 422
        assert "titel" in malformed.json()["error"]["message"]
        assert client.post("/api/sessions", content=b"{", headers={"Content-Type": "application/json"}).json()["error"][
            "code"
        ] in ("malformed",)
        assert client.delete("/health").json()["error"]["code"] == "method_not_allowed"


def test_a_malformed_request_is_not_told_back(server: Served) -> None:
    with server.client() as client:
        answer = client.post("/api/sessions/none/turns", json={"text": 1, "Mrs Miller": "HIV"})
        assert answer.status_code == 422
        assert "HIV" not in answer.text


def test_the_description_asks_no_other_host_and_names_every_answer(server: Served) -> None:
    with server.client() as client:
        described = client.get("/openapi.json").json()
        assert client.get("/redoc").status_code == 404
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            told = set(operation["responses"])
            assert {"421", "500"} <= told, (method, path)
            if path.startswith(("/api/sessions", "/v1")):
                assert {"401", "403", "422", "429"} <= told, (method, path)
                assert operation["security"], (method, path)
