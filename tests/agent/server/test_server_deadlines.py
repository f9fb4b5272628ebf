"""Requests that never end, over raw sockets: half a head, half a body, and more connections than there are places."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

from support.raw_sockets import connected, ended, everything
from support.served import Served

SHORT = 0.5  # seconds of each deadline here
HALF_HEAD = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
HALF_BODY = (
    b"POST /api/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
)
WHOLE = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"


def timed_out(stream: socket.socket) -> None:
    answer = everything(stream)
    assert answer.startswith(b"HTTP/1.1 408 ")
    error = json.loads(answer.partition(b"\r\n\r\n")[2])["error"]
    assert error["code"] == "request_timeout"
    assert error["advice"]


def test_a_head_that_does_not_end_is_cut_off(start: Any) -> None:
    server: Served = start(head_seconds=SHORT)
    with connected(server) as stream:
        began = time.monotonic()
        stream.sendall(HALF_HEAD)
        timed_out(stream)
        assert SHORT * 0.9 < time.monotonic() - began < 10 * SHORT
    with connected(server) as silent:
        assert everything(silent) == b""  # a browser opens some for later, and reads what comes as an answer


def test_a_head_that_trickles_is_cut_off_too_and_so_is_the_second_on_a_connection(start: Any) -> None:
    server: Served = start(head_seconds=SHORT)
    with connected(server) as stream:
        stream.sendall(WHOLE)
        assert stream.recv(10_000).startswith(b"HTTP/1.1 200")
        stream.sendall(HALF_HEAD)
        began = time.monotonic()
        while time.monotonic() - began < 10 * SHORT and not ended(stream):
            stream.sendall(b"a")
            time.sleep(SHORT / 10)
        assert time.monotonic() - began < 5 * SHORT


def test_a_body_that_does_not_end_is_cut_off_and_a_slow_one_is_read(start: Any) -> None:
    server: Served = start(body_seconds=SHORT)
    with connected(server) as stream:
        stream.sendall(HALF_BODY)
        timed_out(stream)
    body = json.dumps({"key": "ana_"}).encode()
    with connected(server) as stream:
        stream.sendall(HALF_BODY.replace(b" 50", b" %d" % len(body))[:-1])
        for byte in body:
            stream.sendall(bytes([byte]))
            time.sleep(SHORT / len(body) / 3)
        assert stream.recv(100).startswith(b"HTTP/1.1 401")


def test_an_idle_connection_and_a_long_answer_are_not_cut_off(start: Any) -> None:
    server: Served = start(head_seconds=SHORT, body_seconds=SHORT, pause={"answer": 4 * SHORT})
    with server.client() as client:
        session = client.post("/api/sessions", json={}).json()["id"]
        time.sleep(2 * SHORT)
        assert client.post(f"/api/sessions/{session}/turns", json={"text": "croup"}).json()["statements"]


def test_where_all_places_are_taken_the_longest_unfinished_makes_room(start: Any) -> None:
    server: Served = start(connections=4)
    with connected(server) as first, connected(server) as second, connected(server) as third, connected(server) as last:
        for stream, begun in ((first, HALF_HEAD), (second, HALF_BODY), (third, WHOLE), (last, HALF_HEAD)):
            stream.sendall(begun)
            time.sleep(0.1)
        with server.client("") as client:
            assert client.get("/health").status_code == 200
        assert ended(first)
        assert not ended(second)
        assert not ended(last)


def test_requests_at_work_are_not_cut_off_for_others(start: Any) -> None:
    server: Served = start(connections=2, pause={"answer": 2.0})
    with server.client() as client:
        sessions = [client.post("/api/sessions", json={}).json()["id"] for _ in range(2)]
        key = client.headers["Authorization"].encode()
    ask = b'{"text": "croup"}'
    turn = (
        b"POST /api/sessions/%s/turns HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
    )
    with connected(server) as one, connected(server) as two:
        for stream, session in ((one, sessions[0]), (two, sessions[1])):
            stream.sendall(turn % (session.encode(), key, len(ask), ask))
        time.sleep(0.5)
        with connected(server) as refused:
            answer = everything(refused)
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"Retry-After" in answer
        assert one.recv(10_000).startswith(b"HTTP/1.1 200")
        assert two.recv(10_000).startswith(b"HTTP/1.1 200")
