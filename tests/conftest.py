"""Fixtures for every test."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from support import no_network
from support.postgres import cluster
from tools.encoders import Encoder, load_encoder

no_network.install()
settings.register_profile("untimed", deadline=None)  # a busy machine is no fault of the code
settings.load_profile("untimed")
NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    """The embedded encoder, loaded once."""
    return load_encoder()


@pytest.fixture(scope="session")
def built_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with everything that set-up builds; shared, so tests that damage one copy it.

    What set-up has built already is copied; `build` then does again whatever is missing or out of date.
    """
    from agent.assembly import build
    from agent.sessions import Home
    from agent.settings import Settings

    home = tmp_path_factory.mktemp("data") / "home"
    ready = Settings().home
    for part in ("indexes", "cache", "encoder.json"):
        if (ready / part).is_dir():
            shutil.copytree(ready / part, home / part)
        elif (ready / part).is_file():
            shutil.copy(ready / part, home / part)
    settings = Settings(home=home)
    build(settings, Home(home).prepare(), rebuild=False, say=lambda _: None)
    return home


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Address of a running PostgreSQL."""
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
