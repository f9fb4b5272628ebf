"""What a part of the benchmark gives back, and where it runs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import BaseModel

from agent.settings import Settings, load_settings
from evals.bench.figures import Figure
from prompts.errors import InputError


class Part(BaseModel):
    """One part's outcome.

    Attributes:
        figures: what was measured. faults: what should not have been, in words.
        left_out: what was not measured, and why. details: what the figures were made of.
    """

    figures: list[Figure] = []
    faults: list[str] = []
    left_out: list[str] = []
    details: dict[str, Any] = {}


@dataclass(frozen=True)
class Sizes:
    """How much is asked; the defaults are the long form."""

    sessions: int = 200
    users: int = 20
    killed: int = 50
    kills: tuple[float, ...] = (0.0, 2.0, 6.0)  # seconds after all turns have begun; ours: early, midway, late
    pairs: int = 60
    examples: int = 30
    workers_sessions: int = 60
    rolling_sessions: int = 120
    rate_seconds: float = 60.0  # of each way to count; ours
    soak: int = 2000
    clients: int = 128  # turns of each number of clients


QUICK = Sizes(
    sessions=12,
    users=4,
    killed=8,
    kills=(0.5,),
    pairs=12,
    examples=3,
    workers_sessions=12,
    rolling_sessions=40,
    rate_seconds=12.0,
    soak=100,
    clients=16,
)


@dataclass(frozen=True)
class Bench:
    """Where and how much.

    Attributes:
        home: the data folder of the server under test. alone: the one of the agent that it is compared with.
        sizes: how much. database: of the two workers; "" starts a PostgreSQL.
    """

    home: Path
    alone: Path
    sizes: Sizes = field(default_factory=Sizes)
    database: str = ""

    def settings(self) -> Settings:
        """Of the agent in this process, in the folder of its own: no model, no live access."""
        given = {"config": "", "model": "", "literature": {"live": "off", "mirror": None}, "database": None}
        return load_settings(home=self.alone, **given).without_models()


@contextmanager
def folders(sizes: Sizes, database: str) -> Iterator[Bench]:
    """Two data folders with what set-up built in the configured one, gone afterwards.

    Raises:
        InputError: nothing was built yet.
    """
    built = load_settings(config="").home
    if not (built / "indexes").is_dir():
        raise InputError(f"Nothing is built in {built}.", "Run `anamnesis setup` first.")
    with TemporaryDirectory(prefix="anamnesis-server-") as folder:
        bench = Bench(Path(folder) / "served", Path(folder) / "alone", sizes, database)
        for home in (bench.home, bench.alone):
            for name in ("indexes", "cache"):
                if (built / name).is_dir():
                    shutil.copytree(built / name, home / name)
            if (built / "encoder.json").is_file():
                shutil.copy(built / "encoder.json", home)
        yield bench
