"""What is no key: counted for each address, told when to come again, and no harm to those who have one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent.agent import Agent
from agent.loop import run
from agent.server.access import Access, AccessRefused, network
from agent.server.keys import Keys
from agent.server.limits import MOST, Rate
from agent.server.tables import Tables
from support.machine_parts import parts
from support.served import Served

WRONG = "ana_000000000000_" + "x" * 43


def tried(server: Served, key: str, path: str = "/api/me") -> Any:
    with server.client(key) as client:
        if path == "/api/login":
            return client.post(path, json={"key": key}, headers={"Authorization": ""})
        return client.get(path)


@pytest.mark.parametrize("path", ["/api/me", "/v1/models", "/mcp", "/api/login"])
def test_many_wrong_keys_are_refused_with_when_to_come_again(start: Any, path: str) -> None:
    server: Served = start(failed_keys=1)  # one at once, and one a minute
    good, unused = server.key("good"), server.key("unused")
    assert tried(server, good).status_code == 200
    assert [tried(server, WRONG[:-1] + str(n), path).status_code for n in range(3)] == [401, 429, 429]
    refused = tried(server, WRONG, path)
    assert int(refused.headers["Retry-After"]) >= 1
    assert "too_many_failures" in refused.text
    assert tried(server, good).status_code == 200  # behind the same address
    assert tried(server, unused).status_code == 429
    with server.client("") as nobody:
        assert nobody.get("/api/me").status_code == 401  # no key is no failed key


def test_another_address_is_not_concerned_and_the_time_passes(tmp_path: Path) -> None:
    moment = 0.0
    with Agent(home=tmp_path / "home", parts=parts()) as agent:
        keys = Keys(run(Tables(agent.database).open()))
        access = Access(keys, Rate(1000), Rate(4, lambda: moment))
        key = run(keys.create("a"))[1]

        def status(text: str, address: str) -> int:
            try:
                asyncio.run(access.authenticate(f"Bearer {text}", None, address))
            except AccessRefused as refused:
                return refused.status
            return 200

        assert [status(WRONG, "192.0.2.1") for _ in range(2)] == [401, 429]
        assert status(WRONG, "192.0.2.2") == 401
        assert [status(WRONG, f"2001:db8::{n}") for n in (1, 2)] == [401, 429]
        assert status(key, "2001:db8:0:1::1") == 200
        moment += 15.1
        assert status(WRONG, "192.0.2.1") == 401


def test_addresses_are_networks_where_a_machine_has_many() -> None:
    assert network("2001:db8::1") == network("2001:db8::ffff:2") != network("2001:db8:0:1::1")
    assert network("::ffff:192.0.2.1") != network("::ffff:192.0.2.2")
    assert network("192.0.2.1") == "192.0.2.1"
    assert network("testclient") == "testclient"


def test_addresses_without_number_are_not_kept() -> None:
    moment = 0.0
    rate = Rate(60, lambda: moment)
    for number in range(3 * MOST):
        moment += 1.0
        rate.count(str(number))
    assert len(rate._buckets) <= MOST + 2
