"""Unit costs, and what follows from them for a rate of requests and a number of abstracts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from prompts.errors import InputError
from tools.literature.limiter import WITH_KEY, WITHOUT_KEY, gap_of

BUSY = 0.6  # ours: share of a processor that is used on average, so that bursts find room
GROUPS = {"case": 0.4, "evidence": 0.4, "small_talk": 0.2}  # ours: what is asked of a ward's server
GB, HOUR, DAY = 1e9, 3600.0, 86_400.0
DIMENSION, FLOAT = 384, 4  # of the embedded encoder; bytes of a number
SPARE = 1  # ours: a worker more than the load needs, so that one can be replaced


class Costs(BaseModel):
    """What was measured.

    Attributes:
        turn_cpu: seconds of a worker's processor for a turn, by kind. database_cpu: of PostgreSQL's, for any turn.
        turns: turns of all kinds that were measured. database_bytes: that a turn leaves in PostgreSQL.
        requests: to PubMed, of a turn that asks it and finds nothing kept.
        worker_mb, worker_connections: of a worker: resident memory after these turns; connections to PostgreSQL.
        passages: of an abstract. abstract_cpu: seconds of a processor to parse, cut and embed one. abstracts: measured.
        passage_disk, passage_memory: bytes on disk, and resident bytes of one worker's index (files included).
        passage_cpu: seconds of a processor to index one. search_ms: median of a hybrid search at ``indexed`` passages.
    """

    model_config = ConfigDict(extra="forbid")

    turn_cpu: dict[str, float]
    database_cpu: float
    turns: int
    database_bytes: float
    requests: float
    worker_mb: float
    worker_connections: int
    passages: float
    abstract_cpu: float
    abstracts: int
    passage_disk: float
    passage_memory: float
    passage_cpu: float
    search_ms: float
    indexed: int

    def turn(self, groups: Mapping[str, float] = GROUPS) -> float:
        """Seconds of a worker's processor for a turn of the mixture."""
        return sum(share * self.turn_cpu[kind] for kind, share in groups.items())


class Serving(BaseModel):
    """What so many turns a second need."""

    rate: float
    cores: int
    workers: int
    memory_gb: float
    database_cores: int
    connections: int
    gb_a_day: float
    live_share: float


class Holding(BaseModel):
    """What so many abstracts need."""

    abstracts: int
    passages: float
    disk_gb: float
    memory_gb: float
    vectors_gb: float
    build_core_hours: float
    search_ms: float


def serving(costs: Costs, rate: float) -> Serving:
    """A worker is one process, which keeps one processor busy; one more is there to be replaced."""
    cores = math.ceil(rate * costs.turn() / BUSY)
    workers = cores + SPARE
    return Serving(
        rate=rate,
        cores=cores,
        workers=workers,
        memory_gb=workers * costs.worker_mb / 1000,
        database_cores=math.ceil(rate * costs.database_cpu / BUSY),
        connections=workers * costs.worker_connections,
        gb_a_day=rate * DAY * costs.database_bytes / GB,
        live_share=min(1.0, live_turns(costs, with_key=True) / rate),
    )


def live_turns(costs: Costs, *, with_key: bool) -> float:
    """Turns a second that NCBI's rate allows to search PubMed, where nothing is kept of earlier searches."""
    return 1 / gap_of(WITH_KEY if with_key else WITHOUT_KEY) / costs.requests


def holding(costs: Costs, abstracts: int) -> Holding:
    """Everything in proportion: `anamnesis bench growth` says how far that holds."""
    passages = abstracts * costs.passages
    return Holding(
        abstracts=abstracts,
        passages=passages,
        disk_gb=passages * costs.passage_disk / GB,
        memory_gb=passages * costs.passage_memory / GB,
        vectors_gb=passages * DIMENSION * FLOAT / GB,
        build_core_hours=(abstracts * costs.abstract_cpu + passages * costs.passage_cpu) / HOUR,
        search_ms=costs.search_ms * max(1.0, passages / costs.indexed),
    )


def index_costs(growth: Path) -> dict[str, float]:
    """The index's unit costs at the largest size in a file of `anamnesis bench growth --json`."""
    try:
        measured = json.loads(growth.read_text(encoding="utf-8"))
        size = max(map(int, measured))
        found = measured[str(size)]
        return {
            "passage_disk": float(found["disk_mb"]) * 1e6 / size,
            "passage_memory": float(found["serve_mb"]) * 1e6 / size,
            "passage_cpu": float(found["build_cpu_s"]) / size,
            "search_ms": float(found["hybrid_p50_ms"]),
            "indexed": size,
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{growth} holds no figures of growth.", "anamnesis bench growth --json FILE") from error


def read_costs(path: Path) -> Costs:
    """Costs as they were written; raises InputError."""
    try:
        return Costs.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise InputError(f"{path} holds no unit costs.", "anamnesis bench sizing --json FILE writes them.") from error
