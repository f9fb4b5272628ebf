"""The arithmetic of sizes, and the count of requests in a second, against what they are by definition."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.bench.server_rate import most_in_a_window
from evals.bench.sizing import (
    ABSTRACTS,
    BUSY,
    GROUPS,
    HOLDING,
    MEASURED,
    SERVING,
    SPARE,
    Costs,
    index_costs,
    read_costs,
    tables,
)
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
    assert COSTS.turn == pytest.approx(0.4 * 2 + 0.4 * 1 + 0.2 * 0.5)
    found = [row(COSTS, 10) for row in SERVING.values()]
    cores = math.ceil(13 / BUSY)
    workers = cores + SPARE
    live = 10 / 1.15 / 5
    assert COSTS.live(with_key=True) == pytest.approx(live)
    assert found == [
        f"{cores}", f"{workers}", f"{workers}.0", "1", f"{11 * workers}", "864.0", f"{100 * live / 10:.1f} %",
    ]  # fmt: skip


def test_a_collection_needs_its_passages() -> None:
    assert [row(COSTS, 10_000_000) for row in HOLDING.values()] == ["20.0", "60.0", "20.0", "30.7", "110", "200"]
    assert [*HOLDING.values()][-1](COSTS, 1_000) == "10"


def test_the_shipped_costs_were_measured_and_give_the_pages_tables() -> None:
    costs = read_costs(MEASURED)
    assert costs.turns >= 30
    assert costs.abstracts >= 100
    assert set(costs.turn_cpu) == set(GROUPS)
    written = tables(costs)
    page = (Path(__file__).parents[2] / "docs/deployment.md").read_text(encoding="utf-8").splitlines()
    assert set(written.splitlines()) - {""} <= set(page), "the page's tables are not those of the shipped costs"
    assert all(f"{n:,}" in written for n in ABSTRACTS)
    assert sum(GROUPS.values()) == pytest.approx(1)


def test_the_index_is_that_of_the_largest_size_and_damaged_files_are_told(tmp_path: Path) -> None:
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
