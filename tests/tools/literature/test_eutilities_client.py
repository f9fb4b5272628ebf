"""The E-utilities client against a server that behaves well, and badly."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import pytest

from prompts.errors import ServiceError
from tools.literature.client import ATTEMPTS, EUtilities
from tools.literature.limiter import RateLimiter, limiter_for


class Sleeper:
    """Notes how long it was asked to wait, and does not wait."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)


def test_a_search_sends_what_ncbi_asks_for_and_reads_the_answer(
    ncbi: Any, settings_for: Callable[..., Any], xml: Any
) -> None:
    warnings = '<WarningList><QuotedPhraseNotFound>"zebra"</QuotedPhraseNotFound></WarningList>'
    ncbi.script = [xml.Reply(xml.search(["11", "22"], warnings))]
    result = asyncio.run(EUtilities(settings_for(ncbi)).search('"croup"[tiab]', 20))
    assert (result.count, result.ids, result.translation) == (2, ("11", "22"), "translated")
    assert result.warnings == ('QuotedPhraseNotFound: "zebra"',)
    sent = ncbi.requests[0].parameters
    assert sent["term"] == '"croup"[tiab]'
    assert (sent["db"], sent["retmax"], sent["sort"]) == ("pubmed", "20", "relevance")
    assert (sent["tool"], sent["email"], sent["api_key"]) == ("anamnesis", "me@example.org", "secret-key")


def test_records_come_in_the_order_asked_and_unknown_ones_are_left_out(
    ncbi: Any, settings_for: Callable[..., Any], xml: Any
) -> None:
    ncbi.records = {p: xml.record(p, title=f"Title {p}") for p in ("1", "2", "3")}
    articles = asyncio.run(EUtilities(settings_for(ncbi)).fetch(["3", "99", "1"]))
    assert [(a.pmid, a.title) for a in articles] == [("3", "Title 3"), ("1", "Title 1")]


def test_what_was_asked_before_is_not_asked_again(ncbi: Any, settings_for: Callable[..., Any], xml: Any) -> None:
    ncbi.found, ncbi.records = {"croup": ["1"]}, {"1": xml.record("1"), "2": xml.record("2")}
    client = EUtilities(settings_for(ncbi))

    async def twice() -> None:
        assert await client.search("croup", 5) == await client.search("croup", 5)
        await client.fetch(["1"])
        assert [a.pmid for a in await client.fetch(["2", "1"])] == ["2", "1"]

    asyncio.run(twice())
    assert len(ncbi.asked("esearch")) == 1
    assert [r.parameters["id"] for r in ncbi.asked("efetch")] == ["1", "2"]


def test_an_empty_result_is_empty_and_no_failure(ncbi: Any, settings_for: Callable[..., Any]) -> None:
    result = asyncio.run(EUtilities(settings_for(ncbi)).search("nothing", 5))
    assert (result.count, result.ids) == (0, ())


BAD = {
    "error 500": ({"body": "oops", "status": 500}, "status 500"),
    "error 503": ({"body": "busy", "status": 503}, "status 503"),
    "web page": ({"body": "<!DOCTYPE html><html>Maintenance</html>", "kind": "text/html"}, "web page"),
    "cut body": ({"body": "<eSearchResult><Count>1</Count></eSearchResult>", "cut": 20}, "cut off"),
    "broken XML": ({"body": "<eSearchResult><Count>1</Count>"}, "damaged"),
    "empty body": ({"body": ""}, "empty"),
    "another document": ({"body": "<eInfoResult/>"}, "eInfoResult"),
    "no count": ({"body": "<eSearchResult><IdList/></eSearchResult>"}, "no count"),
    "backend error": ({"body": "<eSearchResult><ERROR>Search Backend failed: no</ERROR></eSearchResult>"}, "Backend"),
    "entities": (
        {"body": '<!DOCTYPE a [<!ENTITY b "c">]><eSearchResult><Count>&b;</Count></eSearchResult>'},
        "damaged",
    ),
    "no answer": ({"body": "", "pause": 1.5}, "in time"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_failure_that_stays_is_a_typed_error_and_never_an_empty_result(
    name: str, ncbi: Any, settings_for: Callable[..., Any], xml: Any
) -> None:
    fields, said = BAD[name]
    ncbi.script = [xml.Reply(**fields) for _ in range(ATTEMPTS)]
    client = EUtilities(settings_for(ncbi, timeout=0.3), Sleeper())
    with pytest.raises(ServiceError, match=said) as caught:
        asyncio.run(client.search("croup", 5))
    assert caught.value.retryable
    assert caught.value.advice
    assert "secret-key" not in f"{caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}"
    assert len(ncbi.requests) == ATTEMPTS


@pytest.mark.parametrize("name", BAD)
def test_a_failure_that_passes_is_retried(name: str, ncbi: Any, settings_for: Callable[..., Any], xml: Any) -> None:
    ncbi.script, ncbi.found = [xml.Reply(**BAD[name][0])], {"croup": ["7"]}
    result = asyncio.run(EUtilities(settings_for(ncbi, timeout=0.3), Sleeper()).search("croup", 5))
    assert result.ids == ("7",)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"body": "<eSearchResult><ERROR>Invalid db name specified: x</ERROR></eSearchResult>"}, "Invalid db"),
        ({"body": '{"error":"API key invalid"}', "status": 400, "kind": "application/json"}, "refused"),
    ],
)
def test_a_failure_that_cannot_pass_is_not_retried(
    fields: dict[str, Any], said: str, ncbi: Any, settings_for: Callable[..., Any], xml: Any
) -> None:
    ncbi.script = [xml.Reply(**fields)]
    with pytest.raises(ServiceError, match=said) as caught:
        asyncio.run(EUtilities(settings_for(ncbi), Sleeper()).search("croup", 5))
    assert not caught.value.retryable
    assert len(ncbi.requests) == 1


@pytest.mark.parametrize("as_date", [False, True], ids=["seconds", "date"])
def test_too_many_requests_wait_as_long_as_the_server_says(
    as_date: bool, ncbi: Any, settings_for: Callable[..., Any], xml: Any
) -> None:
    headers = {"Retry-After": formatdate(time.time() + 8, usegmt=True) if as_date else "7"}
    ncbi.script = [xml.Reply("{}", status=429, headers=headers, kind="application/json")]
    ncbi.found, sleeper = {"croup": ["7"]}, Sleeper()
    assert asyncio.run(EUtilities(settings_for(ncbi), sleeper).search("croup", 5)).ids == ("7",)
    assert 6.0 < max(sleeper.waits) <= 9.0


def test_a_server_that_asks_for_too_long_a_pause_is_an_error_at_once(
    ncbi: Any, settings_for: Callable[..., Any], xml: Any
) -> None:
    ncbi.script = [xml.Reply("", status=429, headers={"Retry-After": "3600"})]
    with pytest.raises(ServiceError, match="too many") as caught:
        asyncio.run(EUtilities(settings_for(ncbi), Sleeper()).search("croup", 5))
    assert "NCBI_API_KEY" in caught.value.advice
    assert len(ncbi.requests) == 1


def test_pauses_without_retry_after_grow(ncbi: Any, settings_for: Callable[..., Any], xml: Any) -> None:
    ncbi.script, sleeper = [xml.Reply("", status=500)] * ATTEMPTS, Sleeper()
    with pytest.raises(ServiceError):
        asyncio.run(EUtilities(settings_for(ncbi), sleeper).search("croup", 5))
    assert [w for w in sleeper.waits if w in (0.5, 1.0)] == [0.5, 1.0]


def test_records_that_vanish_are_a_failure(ncbi: Any, settings_for: Callable[..., Any]) -> None:
    with pytest.raises(ServiceError, match="none of 2"):
        asyncio.run(EUtilities(settings_for(ncbi)).fetch(["1", "2"]))


def test_nobody_there_is_a_typed_error(settings_for: Callable[..., Any], ncbi: Any) -> None:
    settings = settings_for(ncbi, base_url="http://127.0.0.1:9/eutils")
    with pytest.raises(ServiceError, match="connection failed"):
        asyncio.run(EUtilities(settings, Sleeper()).search("croup", 5))


def test_clients_of_two_servers_do_not_mix_and_biopython_keeps_its_own_way(
    ncbi: Any, settings_for: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from Bio import Entrez

    from tools.literature import transport

    monkeypatch.setattr(transport, "_installed", False)
    opened: list[str] = []

    def other(request: Any) -> Any:
        opened.append(request.full_url)
        raise OSError("the user's own call")

    monkeypatch.setattr(Entrez, "urlopen", other)
    asyncio.run(EUtilities(settings_for(ncbi)).search("croup", 5))
    assert opened == []
    with pytest.raises(OSError, match="own call"):
        Entrez.esearch(db="pubmed", term="theirs", email="a@b.c", api_key="k")
    assert opened[0].startswith("https://eutils.ncbi.nlm.nih.gov/")
    assert [r.parameters["term"] for r in ncbi.requests] == ["croup"]


def test_requests_at_once_keep_to_the_limit(ncbi: Any, settings_for: Callable[..., Any]) -> None:
    client, other = EUtilities(settings_for(ncbi)), EUtilities(settings_for(ncbi))

    async def together() -> None:
        await asyncio.gather(*(c.search(f"q{n}", 5) for n, c in enumerate([client, other] * 4)))

    started = time.monotonic()
    asyncio.run(together())
    assert len(ncbi.requests) == 8
    assert time.monotonic() - started >= 0.65  # eight starts, seven gaps of a tenth of a second, less jitter


def test_the_limiter_spaces_starts_and_holds_when_asked() -> None:
    now = [0.0]
    limiter = RateLimiter(3.0, clock=lambda: now[0])
    assert [round(limiter.reserve(), 3) for _ in range(3)] == [0.0, 0.333, 0.667]
    limiter.hold(5.0)
    assert limiter.reserve() == pytest.approx(5.0)
    now[0] = 60.0
    assert limiter.reserve() == 0.0
    assert limiter_for("http://a/", False) is limiter_for("http://a", False)
    assert limiter_for("http://a", True) is not limiter_for("http://a", False)
