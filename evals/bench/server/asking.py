"""A worker of `evals.bench.server.rate`: asks a server without end, as fast as the rate lets it, until it is ended."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from pathlib import Path

from pydantic import SecretStr

from tools.literature.client import EUtilities
from tools.literature.failures import EUtilitiesError
from tools.literature.settings import LiteratureSettings

AT_ONCE = 3  # calls, as many as a worker has slots


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
    asyncio.run(_ask(EUtilities(settings)))


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
