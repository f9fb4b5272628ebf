"""`anamnesis bench server`: everything that is measured of the server, a part after another."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evals.bench.figures import Figure, print_figures
from evals.bench.server.clients import bearer, native
from evals.bench.server.described import described
from evals.bench.server.endpoints import endpoints
from evals.bench.server.essence import TURNS
from evals.bench.server.kill import killed
from evals.bench.server.load import under_load
from evals.bench.server.matrix import Cell, Owned, matrix
from evals.bench.server.mcp_matrix import mcp_matrix
from evals.bench.server.memory import Sample, drawn
from evals.bench.server.overhead import overhead
from evals.bench.server.part import QUICK, Bench, Part, Sizes, folders
from evals.bench.server.process import keys, serving, with_people
from evals.bench.server.rate import site_rate
from evals.bench.server.rolling import rolling
from evals.bench.server.same_case import same_case
from evals.bench.server.soak import few_and_many, soak
from evals.bench.server.strangers import People
from evals.bench.server.workers import two_workers
from prompts.errors import InputError
from tools.files import write_atomic

# The authorisation matrix on the real server and its real data.
WORDS = ("palpitations", "pulmonary")  # of the conversation that nobody else may read


def strangers_refused(bench: Bench) -> Part:
    """Every stranger at every endpoint of the description, and of MCP."""
    import httpx

    owner = keys(bench.home, 1)[0]
    with serving(bench.home, bench.home / "access.log", ANAMNESIS_SERVER__FAILED_KEYS="1000000") as server:
        session = native(server.url, owner, TURNS)[0].session
        owned = Owned(session, WORDS)
        url = f"{server.url}/api/sessions/{session}"

        async def tried(people: People) -> tuple[list[Cell], list[Cell]]:
            async with httpx.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as client:
                found = endpoints((await client.get("/openapi.json")).json())
                over_http = await matrix(client, found, people, owned)
            return over_http, await mcp_matrix(server.url, people, owned)

        before = _whole(url, owner)
        over_http, over_mcp = with_people(bench.home, tried)
        changed = _whole(url, owner) != before
        faults = server.faults()
    cells = [*over_http, *over_mcp]
    faults += [f"{cell.stranger} at {cell.endpoint}: {cell.wrong}" for cell in cells if cell.wrong]
    faults += ["the session was changed"] if changed else []
    figures = [_figure("http", over_http), _figure("mcp", over_mcp)]
    return Part(figures=figures, faults=faults, details={"cells": [list(cell) for cell in cells]})


def _whole(url: str, key: str) -> Any:
    import httpx

    return httpx.get(url, headers=bearer(key), timeout=60, trust_env=False).raise_for_status().json()


def _figure(name: str, cells: list[Cell]) -> Figure:
    refused = sum(not cell.wrong for cell in cells)
    return Figure(name=f"access.refused_{name}", value=100 * refused / len(cells), unit="%", n=len(cells), asked="100")


PARTS: dict[str, Callable[[Bench], Part]] = {
    "same-case": same_case,
    "access": strangers_refused,
    "overhead": overhead,
    "kill": killed,
    "load": under_load,
    "workers": two_workers,
    "rolling": rolling,
    "rate": site_rate,
    "clients": few_and_many,
    "soak": soak,
    "schemathesis": described,
}
SHOWN = 20  # faults that are printed; all are in the file


def bench_server(
    chosen: Sequence[str], json_file: Path | None, database: str, plot: Path | None = None, *, quick: bool
) -> bool:
    """Measure, print a table and what was wrong, and write all where asked; whether nothing was wrong.

    Raises:
        InputError: a part that there is not; nothing is built yet.
    """
    from agent.cli.wide import WideConsole

    unknown = [name for name in chosen if name not in PARTS]
    if unknown:
        raise InputError(f"There is no part {', '.join(unknown)}.", f"Parts: {', '.join(PARTS)}.")
    figures: list[Figure] = []
    faults: list[str] = []
    told: dict[str, Any] = {"processors": os.cpu_count(), "parts": {}}
    with folders(QUICK if quick else Sizes(), database) as bench:
        for name in chosen or PARTS:
            busy, started = os.getloadavg()[0], time.perf_counter()
            part = PARTS[name](bench)
            told["parts"][name] = {
                "load_average": [busy, os.getloadavg()[0]],
                "seconds": round(time.perf_counter() - started, 1),
                **part.model_dump(),
            }
            figures += part.figures
            faults += part.faults
            if plot is not None and name == "soak":
                write_atomic(plot, drawn([Sample(*s) for s in part.details["memory"]]).encode())
            for left_out in part.left_out:
                WideConsole().print(f"Left out: {left_out}", markup=False)
            if json_file is not None:  # after each part: a long run that is cut off keeps what it has
                write_atomic(json_file, (json.dumps(told, indent=1) + "\n").encode())
    print_figures(figures)
    for fault in faults[:SHOWN]:
        WideConsole().print(f"Wrong: {fault[:1000]}", markup=False)
    return not faults
