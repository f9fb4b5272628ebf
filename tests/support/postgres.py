"""A real PostgreSQL for tests, quick and careless of a power cut; a test is skipped where there is none."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from evals.bench import postgres as real

QUIET = ("fsync=off", "shared_buffers=16MB")


@contextlib.contextmanager
def cluster() -> Iterator[str]:
    """A running server; its address. Skips the test where there is no PostgreSQL."""
    if why := real.reason():
        pytest.skip(why)
    with real.cluster(QUIET) as address:
        yield address
