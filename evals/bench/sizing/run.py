"""`anamnesis bench sizing`: unit costs measured here or before, and the tables that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evals.bench.sizing.costs import GROUPS, Costs, holding, index_costs, live_turns, read_costs, serving
from prompts.errors import InputError
from tools.files import write_atomic

MEASURED = Path(__file__).parent / "measured.json"  # what the documentation's tables rest on
RATES = (1.0, 10.0, 100.0)
ABSTRACTS = (1_000_000, 10_000_000, 38_000_000)


def bench_sizing(
    measure: bool,
    turns: int,
    abstracts: int,
    data: Path | None,
    costs_file: Path | None,
    growth: Path | None,
    json_file: Path | None,
) -> None:
    """Print the tables as Markdown, and write the costs where asked.

    Args:
        measure: turns and abstracts are measured here; else all is taken from ``costs_file``, or from what ships.
        turns: of each kind; 0 keeps what was measured before. abstracts: that are cut and embedded. data: whose.
        growth: a file of `anamnesis bench growth --json`, for the index.
    """
    import sys

    costs = read_costs(costs_file or MEASURED)
    if turns == 1:
        raise InputError("One turn of each kind is too few.", "Give --turns 0, or at least 2.")
    if measure:
        from evals.bench.sizing.collections import abstract_costs
        from evals.bench.sizing.turns import turn_costs

        of_turns = turn_costs(turns) if turns else {}
        costs = Costs.model_validate(costs.model_dump() | of_turns | abstract_costs(abstracts, data))
    if growth is not None:
        costs = Costs.model_validate(costs.model_dump() | index_costs(growth))
    sys.stdout.write(tables(costs))
    if json_file is not None:
        write_atomic(json_file, (costs.model_dump_json(indent=1) + "\n").encode())


def tables(costs: Costs) -> str:
    """Unit costs, what a rate needs, what a collection needs."""
    return "\n".join([_table(_units(costs)), _table(_serving(costs, RATES)), _table(_holding(costs, ABSTRACTS))])


def _units(c: Costs) -> list[list[str]]:
    mixture = " + ".join(f"{share:g} x {c.turn_cpu[kind]:.2f}" for kind, share in GROUPS.items())
    rows = [[f"turn of kind {kind}: a worker's processor", f"{s:.2f} s"] for kind, s in c.turn_cpu.items()]
    return [
        ["unit cost", "value"],
        *rows,
        [f"turn of the mixture: {mixture}", f"{c.turn():.2f} s"],
        ["turn: PostgreSQL's processor; bytes that it leaves", f"{c.database_cpu:.3f} s; {c.database_bytes:,.0f}"],
        ["worker: resident memory; connections at most", f"{c.worker_mb:,.0f} MB; {c.worker_connections}"],
        ["turn that searches PubMed, nothing kept: requests", f"{c.requests:.1f}"],
        [
            "turns a second that NCBI's rate lets search PubMed: without a key; with one",
            f"{live_turns(c, with_key=False):.2f}; {live_turns(c, with_key=True):.2f}",
        ],
        ["abstract: passages; parsed, cut and embedded", f"{c.passages:.2f}; {c.abstract_cpu:.4f} s"],
        ["passage: on disk; resident", f"{c.passage_disk:,.0f} bytes; {c.passage_memory:,.0f} bytes"],
        ["passage: indexed", f"{1000 * c.passage_cpu:.3f} ms"],
        [f"hybrid search at {c.indexed:,} passages, median", f"{c.search_ms:.1f} ms"],
    ]


def _serving(costs: Costs, rates: Sequence[float]) -> list[list[str]]:
    found = [serving(costs, rate) for rate in rates]
    return [
        ["turns a second", *(f"{s.rate:g}" for s in found)],
        ["processors for turns", *(f"{s.cores}" for s in found)],
        ["workers, with one to spare", *(f"{s.workers}" for s in found)],
        ["memory of the workers, GB", *(f"{s.memory_gb:.1f}" for s in found)],
        ["processors for PostgreSQL", *(f"{s.database_cores}" for s in found)],
        ["connections to PostgreSQL at most", *(f"{s.connections}" for s in found)],
        ["PostgreSQL grows a day at that rate, GB", *(f"{s.gb_a_day:.1f}" for s in found)],
        ["share of turns that may search PubMed itself, with a key", *(f"{100 * s.live_share:.1f} %" for s in found)],
    ]


def _holding(costs: Costs, numbers: Sequence[int]) -> list[list[str]]:
    found = [holding(costs, number) for number in numbers]
    return [
        ["abstracts", *(f"{h.abstracts:,}" for h in found)],
        ["passages, millions", *(f"{h.passages / 1e6:.1f}" for h in found)],
        ["index on disk, GB", *(f"{h.disk_gb:,.1f}" for h in found)],
        ["resident in a machine that searches it, GB", *(f"{h.memory_gb:,.1f}" for h in found)],
        ["vectors whole in memory, as an engine of vectors keeps them, GB", *(f"{h.vectors_gb:,.1f}" for h in found)],
        ["processor hours to build", *(f"{h.build_core_hours:,.0f}" for h in found)],
        ["hybrid search on one processor, median, ms", *(f"{h.search_ms:,.0f}" for h in found)],
    ]


def _table(rows: Sequence[Sequence[str]]) -> str:
    """The first row is the head; numbers to the right."""
    head, *rest = rows
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rest]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
