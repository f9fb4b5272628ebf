"""The mirror over HTTP: our own client, GET, POST and HEAD, limits, connections, and nothing logged."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tools.literature.client import EUtilities
from tools.literature.failures import EUtilitiesError
from tools.literature.settings import LiteratureSettings
from tools.mirror.engine import Mirror
from tools.mirror.eutils.server import LARGEST, MirrorServer, RateCounter


@pytest.fixture(scope="module")
def server(mirror_folder: Path) -> Iterator[MirrorServer]:
    mirror = Mirror.open(mirror_folder)
    with MirrorServer(mirror, port=0, rate=0) as opened:
        threading.Thread(target=opened.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield opened
        opened.shutdown()
    mirror.close()


def get(server: MirrorServer, utility: str, **given: str) -> Any:
    return urllib.request.urlopen(f"{server.address}/{utility}.fcgi?{urlencode(given)}", timeout=20)  # noqa: S310


def test_our_own_client_gets_from_the_server_what_the_mirror_gives_in_process(
    server: MirrorServer, mirror: Mirror
) -> None:
    client = EUtilities(LiteratureSettings(base_url=server.address, cache=False))
    query = "(aspirin[tiab] OR stroke[tiab]) AND review[pt]"
    for sort in ("relevance", "date"):
        there, here = asyncio.run(client.search(query, 30, sort=sort)), mirror.find(query, 30, sort=sort)
        assert (there.ids, there.count, there.translation) == (here.ids, here.count, here.translation)
    assert len(there.ids) > 3
    fetched = asyncio.run(client.fetch(there.ids))
    by_pmid = {r.pmid: r for r in mirror.records(there.ids)}
    assert [a.pmid for a in fetched] == list(there.ids)
    assert all((a.title, a.abstract) == (by_pmid[a.pmid].title, by_pmid[a.pmid].abstract) for a in fetched)
    links = asyncio.run(client.pmcids(there.ids))
    assert links == {p: r.pmcid for p, r in by_pmid.items() if r.pmcid}
    with pytest.raises(EUtilitiesError, match="not closed"):
        asyncio.run(client.search("(aspirin", 5))


def test_get_and_post_over_http_and_nothing_is_logged(server: MirrorServer, capfd: pytest.CaptureFixture[str]) -> None:
    given = {"db": "pubmed", "term": "aspirin", "api_key": "SECRETKEY", "email": "who@example.org", "tool": "t"}
    with get(server, "esearch", **given) as answer:
        first = answer.read()
        assert answer.headers["Content-Type"].startswith("text/xml")
    form = urlencode(given).encode()
    with urllib.request.urlopen(f"{server.address}/esearch.fcgi", form, timeout=20) as answer:  # noqa: S310
        assert answer.read() == first
    with pytest.raises(urllib.error.HTTPError, match="404"):
        get(server, "equery", db="pubmed")
    with pytest.raises(urllib.error.HTTPError, match="413"):
        urllib.request.urlopen(  # noqa: S310
            urllib.request.Request(  # noqa: S310
                f"{server.address}/epost.fcgi", b"x", {"Content-Length": str(LARGEST + 1)}
            ),
            timeout=20,
        )
    assert capfd.readouterr() == ("", "")
    assert b"SECRETKEY" not in first


def test_head_is_get_without_the_body_and_an_absurd_length_is_refused(server: MirrorServer) -> None:
    host, port = server.server_address[:2]
    client = http.client.HTTPConnection(str(host), int(port), timeout=20)
    with contextlib.closing(client):
        for method in ("HEAD", "GET"):  # on one connection: a body after HEAD would be read as the next answer
            client.request(method, "/entrez/eutils/esearch.fcgi?db=pubmed&term=aspirin")
            answer = client.getresponse()
            body = answer.read()
            assert (answer.status, len(body)) == (200, int(answer.headers["Content-Length"]) if method == "GET" else 0)
        client.request("POST", "/entrez/eutils/esearch.fcgi", headers={"Content-Length": "9" * 5000})
        assert client.getresponse().status == 413


def test_too_many_requests_are_refused_with_the_time_to_wait(mirror: Mirror) -> None:
    now = [0.0]
    counter = RateCounter(2, lambda: now[0])
    assert [counter.wait() for _ in range(3)] == [0.0, 0.0, 1.0]
    now[0] = 0.75
    assert counter.wait() == 0.25
    now[0] = 1.0
    assert counter.wait() == 0.0
    with MirrorServer(mirror, port=0, rate=1) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        get(server, "einfo").close()
        with pytest.raises(urllib.error.HTTPError) as refused:
            get(server, "einfo", api_key="SECRETKEY")
        body = refused.value.read()
        assert (refused.value.code, refused.value.headers["Retry-After"]) == (429, "1")
        assert json.loads(body)["error"] == "API rate limit exceeded"
        assert b"SECRETKEY" not in body
        server.shutdown()


def test_many_clients_share_few_connections_to_the_file(mirror_folder: Path) -> None:
    mirror = Mirror.open(mirror_folder)
    with MirrorServer(mirror, port=0, rate=0) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

        def several() -> None:
            for _ in range(5):
                get(server, "esearch", db="pubmed", term="aspirin").close()

        clients = [threading.Thread(target=several) for _ in range(4)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        server.shutdown()
    assert 1 <= len(mirror._open) <= 4
    mirror.close()


def test_server_listens_on_loopback_alone_unless_told(mirror: Mirror) -> None:
    with MirrorServer(mirror, port=0) as server:
        assert server.server_address[0] == "127.0.0.1"
