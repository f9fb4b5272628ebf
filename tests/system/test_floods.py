"""Clients that flood the server: with connections of the protocol, with half requests, with keys that are none."""

from __future__ import annotations

import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from agent.agent import Agent
from agent.server.settings import ServerSettings
from support.machine_parts import parts
from support.raw_sockets import connected
from support.served import Served, served

pytestmark = pytest.mark.slow
SOON = 5.0  # seconds in which an ordinary request is answered meanwhile; 10 ms on a quiet machine, this one may be busy
HALF_HEAD = b"GET / HTTP/1.1\r\nHost: "
HALF_BODY = (
    b"POST /api/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
)
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with Agent(home=tmp_path / "home", parts=parts()) as agent, served(agent, requests=10**6) as running:
        yield running


def test_a_key_that_opens_a_thousand_connections_locks_nobody_out(server: Served) -> None:
    takes = {"Accept": "application/json, text/event-stream"}
    with server.client(server.key("flood", ("tools",))) as flood, server.client(server.key("ward", ("tools",))) as ward:
        names = []
        for _ in range(1000):
            answer = flood.post("/mcp", json=HELLO, headers=takes)
            assert answer.status_code == 200
            names.append(answer.headers["mcp-session-id"])
        assert ward.post("/mcp", json=HELLO, headers=takes).status_code == 200
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        each = ServerSettings().mcp_connections
        kept = [n for n in names if flood.post("/mcp", json=ping, headers={**takes, "mcp-session-id": n}).is_success]
        assert kept == names[-each:]


@pytest.mark.parametrize("begun", [HALF_HEAD, HALF_BODY], ids=["head", "body"])
def test_half_requests_beyond_the_limit_keep_nobody_waiting(server: Served, begun: bytes) -> None:
    most = ServerSettings().connections
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8 * most)), hard))
    try:
        with ExitStack() as open_ones, server.client("") as ward:
            for number in range(3 * most):
                stream: socket.socket = open_ones.enter_context(connected(server))
                stream.sendall(begun)
                if number % 100 == 0:
                    began = time.monotonic()
                    assert ward.get("/health").status_code == 200
                    assert time.monotonic() - began < SOON, number
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_half_requests_are_gone_after_their_time(tmp_path: Path) -> None:
    with (
        Agent(home=tmp_path / "home", parts=parts()) as agent,
        served(agent, head_seconds=2, body_seconds=2) as server,
        ExitStack() as open_ones,
    ):
        streams = [open_ones.enter_context(connected(server)) for _ in range(100)]
        for stream in streams:
            stream.sendall(HALF_HEAD)
        time.sleep(4)
        for stream in streams:
            assert stream.recv(100).startswith(b"HTTP/1.1 408")
        assert httpx.get(f"{server.url}/health", trust_env=False).status_code == 200
