"""Streamed replies: the text grows as it comes; a stream that is cut, in whatever way, is a typed failure."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise

import pytest

from prompts.errors import ServiceError
from prompts.metering import Meter, metered
from support.asking_model import GOOD, model_of, plan, plan_once
from support.scripted_model import Request, Scripted, refusing, serving, serving_by


def test_the_text_grows_and_its_first_part_comes_before_the_last() -> None:
    seen: list[tuple[float, str]] = []
    meter = Meter()
    with serving(Scripted(GOOD, between=0.1)) as server, metered(meter):
        assert plan_once(model_of(server), lambda text: seen.append((time.monotonic(), text))) == "croup"
    assert all(b.startswith(a) and len(b) > len(a) for (_, a), (_, b) in pairwise(seen))
    assert seen[-1][1] == GOOD
    assert seen[0][0] < server.exchanges[0].ended - 0.2
    assert server.requests[0]["stream"] is True
    assert (meter.total.input_tokens, meter.total.output_tokens) == (11, 7)


@pytest.mark.parametrize("refuses", [(), ("json_schema",), ("json_schema", "tools")])
def test_every_form_can_be_streamed(refuses: tuple[str, ...]) -> None:
    def respond(request: Request) -> Scripted:
        return Scripted(calls=[("QueryPlanReply", GOOD)]) if "tools" in request else Scripted(GOOD)

    with serving_by(refusing(refuses, respond)) as server:
        assert plan_once(model_of(server), lambda _: None) == "croup"


def test_a_server_that_counts_no_streams_is_asked_without_the_count_from_then_on() -> None:
    async def twice() -> list[str]:
        return [await plan(model, lambda _: None), await plan(model, lambda _: None)]

    with serving_by(refusing(["stream_options"], lambda _: Scripted(GOOD))) as server:
        model = model_of(server)
        assert asyncio.run(twice()) == ["croup", "croup"]
    assert ["stream_options" in r for r in server.requests] == [True, False, False]
    assert all(r["stream"] and "temperature" in r for r in server.requests)


@pytest.mark.parametrize("cleanly", [True, False])
@pytest.mark.parametrize("cut", [1, 3, 5])
def test_a_cut_stream_is_no_reply(cut: int, cleanly: bool) -> None:
    fault = Scripted(GOOD, cut=cut, cleanly=cleanly)
    whole_but_the_end = cut == 1 and cleanly  # only the mark of the end is missing: nothing is lost
    with serving(fault) as server:
        if whole_but_the_end:
            assert plan_once(model_of(server), lambda _: None) == "croup"
        else:
            with pytest.raises(ServiceError):
                plan_once(model_of(server), lambda _: None)


def test_a_stream_without_end_stops_at_the_longest_reply() -> None:
    endless = Scripted("a" * 400_000, piece=1000, between=0.005)
    with serving(endless, Scripted(GOOD)) as server:
        assert plan_once(model_of(server), lambda _: None) == "croup"
        assert len(server.requests) == 2


def test_a_slow_stream_ends_at_the_deadline() -> None:
    with serving(Scripted(GOOD, between=0.3)) as server, pytest.raises(ServiceError, match="in time"):
        plan_once(model_of(server, timeout=0.5), lambda _: None)
