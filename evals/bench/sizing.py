"""`anamnesis dev bench sizing`: what a site needs, as Markdown tables, from unit costs that were measured."""

from __future__ import annotations

import json
import math
import resource
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any
from urllib.parse import parse_qs, urlsplit

import typer
from pydantic import BaseModel, ConfigDict, ValidationError

from evals.bench.frame import local_settings, memory, mixed_questions, spent
from evals.commands import JsonFile, write_json
from prompts.errors import InputError
from tools.literature.limiter import WITH_KEY, WITHOUT_KEY, gap_of

MEASURED = Path(__file__).parent / "sizing.json"  # what the documentation's tables rest on
RATES = (1.0, 10.0, 100.0)  # turns a second
ABSTRACTS = (1_000_000, 10_000_000, 38_000_000)
BUSY = 0.6  # ours: share of a processor that is used on average, so that bursts find room
GROUPS = {"case": 0.4, "evidence": 0.4, "small_talk": 0.2}  # ours: what is asked of a ward's server
SPARE = 1  # ours: a worker more than the load needs, so that one can be replaced
GB, HOUR, DAY = 1e9, 3600.0, 86_400.0
VECTOR = 384 * 4  # bytes, of the embedded encoder
WARM = 4  # ours: turns before what is measured
FEW = 50  # ours: abstracts of a first build, whose start-up is taken off the second's
REAL = "literature/abstracts.jsonl"


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

    @property
    def turn(self) -> float:
        """Seconds of a worker's processor for a turn of the mixture."""
        return sum(share * self.turn_cpu[kind] for kind, share in GROUPS.items())

    def live(self, *, with_key: bool) -> float:
        """Turns a second that NCBI's rate allows to search PubMed, where nothing is kept of earlier searches."""
        return 1 / gap_of(WITH_KEY if with_key else WITHOUT_KEY) / self.requests

    def cores(self, rate: float) -> int:
        """Processors for so many turns a second; a worker is one process, which keeps one busy."""
        return math.ceil(rate * self.turn / BUSY)


Costing = Callable[[Costs, float], str]
SERVING: Mapping[str, Costing] = {  # by turns a second
    "processors for turns": lambda c, rate: f"{c.cores(rate)}",
    "workers, with one to spare": lambda c, rate: f"{c.cores(rate) + SPARE}",
    "memory of the workers, GB": lambda c, rate: f"{(c.cores(rate) + SPARE) * c.worker_mb / 1000:.1f}",
    "processors for PostgreSQL": lambda c, rate: f"{math.ceil(rate * c.database_cpu / BUSY)}",
    "connections to PostgreSQL at most": lambda c, rate: f"{(c.cores(rate) + SPARE) * c.worker_connections}",
    "PostgreSQL grows a day at that rate, GB": lambda c, rate: f"{rate * DAY * c.database_bytes / GB:.1f}",
    "share of turns that may search PubMed itself, with a key": lambda c, rate: (
        f"{100 * min(1.0, c.live(with_key=True) / rate):.1f} %"
    ),
}
HOLDING: Mapping[str, Costing] = {  # by abstracts; in proportion: `anamnesis dev bench growth` says how far that holds
    "passages, millions": lambda c, n: f"{n * c.passages / 1e6:.1f}",
    "index on disk, GB": lambda c, n: f"{n * c.passages * c.passage_disk / GB:,.1f}",
    "resident in a machine that searches it, GB": lambda c, n: f"{n * c.passages * c.passage_memory / GB:,.1f}",
    "vectors whole in memory, as an engine of vectors keeps them, GB": lambda c, n: (
        f"{n * c.passages * VECTOR / GB:,.1f}"
    ),
    "processor hours to build": lambda c, n: f"{n * (c.abstract_cpu + c.passages * c.passage_cpu) / HOUR:,.0f}",
    "hybrid search on one processor, median, ms": lambda c, n: (
        f"{c.search_ms * max(1.0, n * c.passages / c.indexed):,.0f}"
    ),
}


def command(
    measure: Annotated[
        bool, typer.Option("--measure", help="Measure turns and abstracts here (five minutes).")
    ] = False,
    turns: Annotated[int, typer.Option(min=0, help="Turns of each kind; 0 keeps what was measured before.")] = 15,
    abstracts: Annotated[int, typer.Option(min=100, help="Abstracts that are cut and embedded.")] = 400,
    data: Annotated[Path | None, typer.Option(help="The folder with the data, for real abstracts.")] = None,
    costs: Annotated[
        Path | None, typer.Option(help="Unit costs of an earlier --json, in place of those shipped.")
    ] = None,
    growth: Annotated[Path | None, typer.Option(help="A file of `dev bench growth --json`, for the index.")] = None,
    json_file: JsonFile = None,
) -> None:
    """Print the tables, for 1, 10, 100 turns a second and 1, 10, 38 million abstracts; write the costs where asked."""
    found = read_costs(costs or MEASURED).model_dump()
    if turns == 1:
        raise InputError("One turn of each kind is too few.", "Give --turns 0, or at least 2.")
    if measure:
        found |= (turn_costs(turns) if turns else {}) | abstract_costs(abstracts, data)
    if growth is not None:
        found |= index_costs(growth)
    typer.echo(tables(Costs.model_validate(found)), nl=False)
    write_json(json_file, found)


def tables(costs: Costs) -> str:
    """Unit costs, what a rate needs, what a collection needs."""
    c = costs
    mixture = " + ".join(f"{share:g} x {c.turn_cpu[kind]:.2f}" for kind, share in GROUPS.items())
    units = [
        ["unit cost", "value"],
        *([f"turn of kind {kind}: a worker's processor", f"{s:.2f} s"] for kind, s in c.turn_cpu.items()),
        [f"turn of the mixture: {mixture}", f"{c.turn:.2f} s"],
        ["turn: PostgreSQL's processor; bytes that it leaves", f"{c.database_cpu:.3f} s; {c.database_bytes:,.0f}"],
        ["worker: resident memory; connections at most", f"{c.worker_mb:,.0f} MB; {c.worker_connections}"],
        ["turn that searches PubMed, nothing kept: requests", f"{c.requests:.1f}"],
        [
            "turns a second that NCBI's rate lets search PubMed: without a key; with one",
            f"{c.live(with_key=False):.2f}; {c.live(with_key=True):.2f}",
        ],
        ["abstract: passages; parsed, cut and embedded", f"{c.passages:.2f}; {c.abstract_cpu:.4f} s"],
        ["passage: on disk; resident", f"{c.passage_disk:,.0f} bytes; {c.passage_memory:,.0f} bytes"],
        ["passage: indexed", f"{1000 * c.passage_cpu:.3f} ms"],
        [f"hybrid search at {c.indexed:,} passages, median", f"{c.search_ms:.1f} ms"],
    ]
    serving = [["turns a second", *(f"{rate:g}" for rate in RATES)]]
    serving += [[name, *(row(c, rate) for rate in RATES)] for name, row in SERVING.items()]
    holding = [["abstracts", *(f"{number:,}" for number in ABSTRACTS)]]
    holding += [[name, *(row(c, number) for number in ABSTRACTS)] for name, row in HOLDING.items()]
    return "\n".join(_table(rows) for rows in (units, serving, holding))


def _table(rows: Sequence[Sequence[str]]) -> str:
    """The first row is the head; numbers to the right."""
    head, *rest = rows
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rest]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def read_costs(path: Path) -> Costs:
    """Costs as they were written; raises InputError."""
    try:
        return Costs.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise InputError(f"{path} has no unit costs.", "anamnesis dev bench sizing --json FILE writes them.") from error


def index_costs(growth: Path) -> dict[str, float]:
    """The index's unit costs at the largest size in a file of `anamnesis dev bench growth --json`."""
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
        raise InputError(f"{growth} holds no figures of growth.", "anamnesis dev bench growth --json FILE") from error


def turn_costs(count: int) -> dict[str, Any]:
    """So many turns of each kind on a PostgreSQL of its own, PubMed off; then evidence turns that ask a mirror."""
    import psutil

    from agent.agent import Agent
    from agent.loop import run
    from evals.bench.postgres import cluster

    kinds = {kind: [q["text"] for q in mixed_questions() if q["kind"] == kind] for kind in GROUPS}
    asked = {kind: list(islice(cycle(texts), count)) for kind, texts in kinds.items()}
    with cluster() as database, Agent(local_settings(database=database)) as agent:
        folder = Path(parse_qs(urlsplit(database).query)["host"][0])
        server = psutil.Process(int((folder / "data" / "postmaster.pid").read_text().split()[0]))

        def used() -> tuple[float, int]:
            """Processor seconds of the database and of every connection that is still open, and its bytes."""
            times = [process.cpu_times() for process in (server, *server.children(recursive=True))]
            rows = run(agent.database.execute(("select pg_database_size(current_database())", ())))
            return sum(t.user + t.system for t in times), int(rows[0][0][0])

        def ask(texts: Sequence[str]) -> None:
            for text in texts:
                agent.ask(text)

        ask(asked["evidence"][:WARM])
        before = used()
        seconds = {kind: spent(partial(ask, texts)).processor / count for kind, texts in asked.items()}
        turns = count * len(asked)
        cpu, grown = (now - then for now, then in zip(used(), before, strict=True))
        resident, connections = memory("VmRSS"), 2 * agent.settings.sessions.connections + 3  # locks, two for PubMed
    return {
        "turn_cpu": {kind: round(value, 4) for kind, value in seconds.items()},
        "database_cpu": round(cpu / turns, 4),
        "database_bytes": round(grown / turns),
        "turns": turns,
        "worker_mb": round(resident),
        "worker_connections": connections,
        "requests": round(requests(asked["evidence"]), 2),
    }


def requests(texts: Sequence[str]) -> float:
    """Requests a turn at a mirror with few records, where the ladder is climbed to its last rung; nothing is kept."""
    from agent.agent import Agent
    from evals.bench.postgres import cluster
    from evals.bench.server_rate import KEY, counting
    from tools.mirror.engine import Mirror
    from tools.mirror.load import load_records
    from tools.mirror.records import MirrorRecord

    with TemporaryDirectory(prefix="anamnesis-") as folder:
        records = [MirrorRecord(pmid=str(n), title=t[:80], abstract=t, date="2020") for n, t in enumerate(texts, 1)]
        load_records(Path(folder), records, source="made up")
        with closing(Mirror.open(Path(folder))) as mirror, counting(mirror) as (url, counter), cluster() as database:
            literature = {"live": "on", "base_url": url, "api_key": KEY, "cache": False}
            with Agent(local_settings(database=database, literature=literature)) as agent:
                for text in texts:
                    agent.ask(text)
    return len(counter.moments) / len(texts)


def abstract_costs(count: int, data: Path | None) -> dict[str, Any]:
    """Two builds with the embedded encoder, without an index; the costs are of what the second has more.

    Args:
        count: abstracts of the second. data: the folder with the data, whose abstracts are taken; None makes some up,
            whose scrambled sentences are cut more often.
    """
    from evals.bench.corpus import Reading
    from evals.bench.made_up import Publications
    from tools.corpus.building import Wanted, build
    from tools.corpus.contract import Recipe
    from tools.corpus.local_engine import LocalEngine
    from tools.encoders import MiniLMEncoder

    make = partial(MiniLMEncoder, bf16=False)
    encoder = make()
    if data is not None and not (data / REAL).is_file():
        raise InputError(f"There is no {data / REAL}.", "Give the folder with the data, or none.")

    def built(number: int) -> tuple[float, int]:
        """Processor seconds of this process and its children, and rows."""
        with TemporaryDirectory(prefix="anamnesis-") as temporary:
            source = Path(temporary) / "source"
            source.mkdir()
            if data is None:
                list(Publications.of_the_library().files(source, number))
            else:
                with (data / REAL).open(encoding="utf-8") as file:
                    (source / "abstracts.jsonl").write_text("".join(islice(file, number)), encoding="utf-8")
            recipe = Recipe(encoder=encoder.name, dimension=encoder.dimension, block=FEW)
            reading, before = Reading(), processor()
            build(Path(temporary) / "corpora", Wanted("sized", [source], recipe), LocalEngine(1), make, reading)
            return processor() - before, reading.rows

    (few, _), (many, rows) = built(FEW), built(count)
    return {
        "abstract_cpu": round((many - few) / (count - FEW), 5),
        "passages": round(rows / count, 3),
        "abstracts": count - FEW,
    }


def processor() -> float:
    """Seconds of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)
