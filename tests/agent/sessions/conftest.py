"""One PostgreSQL for all tests of sessions, a database of its own for each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.postgres import cluster

NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Address of a running server."""
    with cluster() as url:
        yield url


@pytest.fixture
def postgres(postgres_server: str) -> str:
    """Address of an empty database."""
    import psycopg

    name = f"test{next(NUMBERS)}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"create database {name}")
    return postgres_server.replace("/postgres?", f"/{name}?")


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, object]:
    """Settings of a data folder whose sessions lie in SQLite, and of one whose sessions lie in PostgreSQL."""
    more = {"database": request.getfixturevalue("postgres")} if request.param == "postgres" else {}
    return {"home": tmp_path, **more}
