"""The E-utilities client against a server that behaves well, and badly."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from prompts.errors import ServiceError
from tools.literature.calls import _seconds
from tools.literature.client import PAGE, EUtilities
from tools.literature.failures import BadQuery, MalformedReply, Reason
from tools.literature.settings import CEILING


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


def test_pauses_without_retry_after_grow(ncbi: Any, quick: Callable[..., Any], xml: Any) -> None:
    ncbi.script, client = [xml.Reply("", status=500)] * 3, quick(ncbi)
    with pytest.raises(ServiceError):
        asyncio.run(client.search("croup", 5))
    assert (client.waits, client.holds) == ([0.5, 1.0], [])


@pytest.mark.parametrize("pmids", [["1", "2"], ["1"]])
def test_records_that_vanish_are_a_failure(pmids: list[str], ncbi: Any, quick: Callable[..., Any]) -> None:
    with pytest.raises(MalformedReply, match=f"none of {len(pmids)}"):
        asyncio.run(quick(ncbi).fetch(pmids))


def test_what_is_not_among_the_records_is_named(ncbi: Any, settings_for: Callable[..., Any], xml: Any) -> None:
    broken = '<PubmedArticle><MedlineCitation><PMID Version="1">3</PMID></MedlineCitation></PubmedArticle>'
    ncbi.records = {"1": xml.record("1"), "3": broken}
    fetched = asyncio.run(EUtilities(settings_for(ncbi)).fetch_records(["2", "1", "3"]))
    assert [a.pmid for a in fetched.articles] == ["1"]
    assert fetched.missing == ("2", "3")
    assert [p.where for p in fetched.problems] == ["record 2, PMID 3"]


def test_records_are_fetched_in_batches_and_many_ids_go_by_post(
    ncbi: Any, settings_for: Callable[..., Any], xml: Any
) -> None:
    pmids = [str(n) for n in range(1000, 1450)]
    ncbi.records = {p: xml.record(p) for p in pmids}
    articles = asyncio.run(EUtilities(settings_for(ncbi)).fetch(pmids))
    assert [a.pmid for a in articles] == pmids
    assert [(len(r.parameters["id"].split(",")), r.method) for r in ncbi.requests] == [
        (200, "POST"),
        (200, "POST"),
        (50, "GET"),
    ]


def test_a_long_query_goes_by_post_and_arrives_whole(ncbi: Any, settings_for: Callable[..., Any]) -> None:
    query = " OR ".join(f'"term {n}"[tiab]' for n in range(100))
    asyncio.run(EUtilities(settings_for(ncbi)).search(query, 5))
    assert (ncbi.requests[0].method, ncbi.requests[0].parameters["term"]) == ("POST", query)


def test_a_long_list_comes_in_pages(ncbi: Any, settings_for: Callable[..., Any]) -> None:
    ids = [str(n) for n in range(2 * PAGE + 50)]
    ncbi.found = {"asthma": ids}
    client = EUtilities(settings_for(ncbi))
    result = asyncio.run(client.search("asthma", 2 * PAGE + 20))
    assert (result.count, result.ids) == (len(ids), tuple(ids[: 2 * PAGE + 20]))
    asked = [(int(r.parameters["retstart"]), int(r.parameters["retmax"])) for r in ncbi.requests]
    assert asked == [(0, PAGE), (PAGE, PAGE), (2 * PAGE, 20)]
    assert asyncio.run(client.search("asthma", CEILING - 2045, offset=2045)).ids == tuple(ids[2045:])


@pytest.mark.parametrize(("limit", "offset"), [(CEILING + 1, 0), (20, CEILING - 10)])
def test_beyond_the_ceiling_nothing_is_sent_and_the_user_is_told_what_to_do(
    limit: int, offset: int, ncbi: Any, settings_for: Callable[..., Any]
) -> None:
    with pytest.raises(BadQuery, match="9,999") as caught:
        asyncio.run(EUtilities(settings_for(ncbi)).search("asthma", limit, offset=offset))
    assert caught.value.reason is Reason.BEYOND_LIMIT
    assert "dates" in caught.value.advice
    assert ncbi.requests == []


def test_what_is_no_request_is_not_sent(ncbi: Any, settings_for: Callable[..., Any]) -> None:
    client = EUtilities(settings_for(ncbi))
    for call in (client.search("  ", 5), client.fetch(["12a"]), client.fetch(["1", "2 OR 3"])):
        with pytest.raises(BadQuery):
            asyncio.run(call)
    assert ncbi.requests == []


def test_an_incomplete_list_says_so(ncbi: Any, settings_for: Callable[..., Any], xml: Any) -> None:
    ncbi.script = [xml.Reply(xml.search(["1", "2"], count=9))]
    assert asyncio.run(EUtilities(settings_for(ncbi)).search("asthma", 5)).warnings == (
        "Incomplete: PubMed listed 2 of 5 ids",
    )


def test_links(ncbi: Any, settings_for: Callable[..., Any]) -> None:
    ncbi.links = {"11": "700", "33": "900"}
    client = EUtilities(settings_for(ncbi))
    assert asyncio.run(client.pmcids(["11", "22", "33"])) == {"11": "PMC700", "33": "PMC900"}
    assert ncbi.asked("elink")[0].all_ids == ("11", "22", "33")  # apart: one link set a record


def test_nobody_there_is_a_typed_error(quick: Callable[..., Any], ncbi: Any) -> None:
    client = quick(ncbi, base_url="http://127.0.0.1:9/eutils")
    with pytest.raises(ServiceError, match="connection to PubMed failed"):
        asyncio.run(client.search("croup", 5))


@pytest.mark.parametrize(("header", "expected"), [("7", 7.0), ("soon", None), ("²", None), ("-1", None)])
def test_a_retry_after_of_no_sense_is_none(header: str, expected: float | None) -> None:
    assert _seconds(header, None) == expected
