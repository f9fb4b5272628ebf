"""A worker of `evals.bench.server.rate`: asks a server without end, as fast as the rate lets it, until it is ended."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
import time
from pathlib import Path

from pydantic import SecretStr

from tools.literature.client import EUtilities
from tools.literature.failures import EUtilitiesError
from tools.literature.limiter import Limiter
from tools.literature.settings import LiteratureSettings

AT_ONCE = 3  # calls, as many as a worker has slots
SENT = "sent "  # begins a line with the moment at which a request was sent, on the clock of the whole machine


class Telling:
    """A limiter that tells when requests are let go."""

    def __init__(self, limiter: Limiter) -> None:
        self._limiter = limiter
        self.reserve, self.hold = limiter.reserve, limiter.hold

    @property
    def alone(self) -> bool:
        """As the limiter says."""
        return self._limiter.alone

    def stands(self, start: float) -> bool:
        """As the limiter says, told where it lets go."""
        stands = self._limiter.stands(start)
        if stands:
            sys.stdout.write(f"{SENT}{time.monotonic():.4f}\n")
        return stands


def main(url: str, key: str, database: str, folder: str, workers: int) -> None:
    """Ask for ever.

    Args:
        key: of NCBI, "" for none. database: of the site, "" to count in the folder.
    """
    settings = LiteratureSettings(
        base_url=url,
        api_key=SecretStr(key) if key else None,
        database=SecretStr(database) if database else None,
        shared_folder=Path(folder),
        workers=workers,
        cache=False,
        concurrency=AT_ONCE,
    )
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    client = EUtilities(settings)
    client.calls.limiter = Telling(client.calls.limiter)
    asyncio.run(_ask(client))


async def _ask(client: EUtilities) -> None:
    numbers = itertools.count()

    async def one() -> None:
        while True:
            try:
                await client.search(f"asthma OR worker{os.getpid()}n{next(numbers)}", 5, fresh=True)
            except EUtilitiesError as error:
                sys.stderr.write(f"{error.reason}\n")

    await asyncio.gather(*(one() for _ in range(AT_ONCE)))


if __name__ == "__main__":
    url, key, database, folder, workers = sys.argv[1:]
    main(url, key, database, folder, int(workers))
