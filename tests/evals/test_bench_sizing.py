"""The arithmetic of sizes, and the count of requests in a second, against what they are by definition."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.bench.server.rate import most_in_a_window
from evals.bench.sizing.costs import BUSY, GROUPS, SPARE, Costs, holding, index_costs, live_turns, read_costs, serving
from evals.bench.sizing.run import ABSTRACTS, MEASURED, RATES, tables
from prompts.errors import InputError

COSTS = Costs(
    turn_cpu={"case": 2.0, "evidence": 1.0, "small_talk": 0.5},
    database_cpu=0.06,
    turns=3,
    database_bytes=1_000_000,
    requests=5,
    worker_mb=1_000,
    worker_connections=11,
    passages=2,
    abstract_cpu=0.036,
    abstracts=100,
    passage_disk=3_000,
    passage_memory=1_000,
    passage_cpu=0.0018,
    search_ms=10,
    indexed=1_000_000,
)


def test_a_rate_needs_its_processor_seconds_and_a_worker_to_spare() -> None:
    assert COSTS.turn() == pytest.approx(0.4 * 2 + 0.4 * 1 + 0.2 * 0.5)
    found = serving(COSTS, 10)
    assert found.cores == math.ceil(13 / BUSY)
    assert found.workers == found.cores + SPARE
    assert found.memory_gb == pytest.approx(found.workers)
    assert found.database_cores == 1
    assert found.connections == 11 * found.workers
    assert found.gb_a_day == pytest.approx(864)
    assert live_turns(COSTS, with_key=True) == pytest.approx(10 / 1.15 / 5)
    assert found.live_share == pytest.approx(10 / 1.15 / 5 / 10)


def test_a_collection_needs_its_passages() -> None:
    found = holding(COSTS, 10_000_000)
    assert (found.passages, found.disk_gb, found.memory_gb) == (20e6, 60, 20)
    assert found.vectors_gb == pytest.approx(20e6 * 1_536 / 1e9)
    assert found.build_core_hours == pytest.approx(110)
    assert found.search_ms == 200
    assert holding(COSTS, 1_000).search_ms == 10


def test_the_shipped_costs_were_measured_and_give_tables(tmp_path: Path) -> None:
    costs = read_costs(MEASURED)
    assert costs.turns >= 30
    assert costs.abstracts >= 100
    assert set(costs.turn_cpu) == set(GROUPS)
    written = tables(costs)
    page = (Path(__file__).parents[2] / "docs/deployment.md").read_text(encoding="utf-8").splitlines()
    assert set(written.splitlines()) - {""} <= set(page), "the page's tables are not those of the shipped costs"
    assert all(f"{n:,}" in written for n in ABSTRACTS)
    assert all(f"| {rate:g} |" in written for rate in RATES[:2])
    assert sum(GROUPS.values()) == pytest.approx(1)
    growth = tmp_path / "growth.json"
    row = {"disk_mb": 3.0, "serve_mb": 2.0, "build_cpu_s": 4.0, "hybrid_p50_ms": 5.0}
    growth.write_text(json.dumps({"10": {**row, "disk_mb": 9.0}, "1000": row}))
    assert index_costs(growth) == {
        "passage_disk": 3_000,
        "passage_memory": 2_000,
        "passage_cpu": 0.004,
        "search_ms": 5,
        "indexed": 1_000,
    }
    for damaged in ("", "[]", "{}", '{"a": 1}', '{"1": {}}'):
        growth.write_text(damaged)
        with pytest.raises(InputError):
            index_costs(growth)
        with pytest.raises(InputError):
            read_costs(growth)


@given(st.lists(st.floats(0, 5), max_size=30))
def test_the_most_in_a_second_is_what_counting_every_second_finds(moments: list[float]) -> None:
    counted = max((sum(start <= m and m - start < 1 for m in moments) for start in moments), default=0)
    assert most_in_a_window(moments) == counted
