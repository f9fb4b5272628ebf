"""The fuzzer of the query language: it counts what it tried, and says what to install where it is not there."""

from __future__ import annotations

import importlib.util

import pytest

from evals.bench.queries import measure
from prompts.errors import InputError


def test_without_the_fuzzer_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="not installed") as refusal:
        measure(0.01)
    assert "fuzz" in refusal.value.advice


@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="atheris (extra `fuzz`) is not installed")
def test_it_tries_queries_and_tells_how_many() -> None:
    (tried,) = measure(0.02)
    assert tried.name == "mirror.fuzzed"
    assert tried.value == tried.n > 10
