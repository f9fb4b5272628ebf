"""Bodies of answers: packed, slow, and too large."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable
from typing import Any

import pytest

from tools.literature.client import EUtilities
from tools.literature.failures import (
    MalformedReply,
    Reason,
    Unavailable,
)

GOOD = "<eSearchResult><Count>1</Count><IdList><Id>7</Id></IdList></eSearchResult>"


def test_a_packed_body_is_unpacked(ncbi: Any, settings_for: Callable[..., Any], xml: Any) -> None:
    ncbi.script = [xml.Reply(gzip.compress(GOOD.encode()), headers={"Content-Encoding": "gzip"})]
    assert asyncio.run(EUtilities(settings_for(ncbi)).search("croup", 5)).ids == ("7",)


def test_a_body_that_trickles_in_is_given_up_when_its_whole_time_is_over(
    ncbi: Any, quick: Callable[..., Any], xml: Any
) -> None:
    body = GOOD + " " * 200_000
    ncbi.script = [xml.Reply(body, stall=0.5)]
    client = quick(ncbi, timeout=5, longest=0.3, attempts=1)
    with pytest.raises(Unavailable, match="in time"):
        asyncio.run(client.search("croup", 5))


def test_a_body_beyond_the_limit_is_not_read_whole(
    ncbi: Any, quick: Callable[..., Any], xml: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.literature.transport.LARGEST", 100_000)
    bomb = gzip.compress(b" " * 5_000_000)
    for body, headers in ((" " * 300_000, {}), (bomb, {"Content-Encoding": "gzip"})):
        ncbi.script = [xml.Reply(body, headers=headers)]
        with pytest.raises(MalformedReply) as caught:
            asyncio.run(quick(ncbi).search("croup", 5))
        assert caught.value.reason is Reason.TOO_LARGE
