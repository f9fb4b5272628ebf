"""Fixtures for every test."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from support import no_network
from support.postgres import cluster
from tools.encoders import Encoder, load_encoder
from tools.files import locked

no_network.install()
os.environ["no_proxy"] = "127.0.0.1"  # no proxy stands before the servers of the tests
settings.register_profile("untimed", deadline=None, max_examples=40)  # a busy machine is no fault of the code
settings.load_profile("untimed")
NUMBERS = itertools.count(1)
gc.disable()  # a million objects are made while tests are collected, and stay: to look through them takes most of it


def pytest_collection_finish() -> None:
    """What was imported and collected is never looked through again, and what tests read seldom."""
    gc.freeze()
    gc.set_threshold(10_000, 10, 100)
    gc.enable()


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    """The embedded encoder, loaded once."""
    return load_encoder()


@pytest.fixture(scope="session")
def built_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with everything that set-up builds; shared, so tests that damage one copy it.

    The first process of a run makes one, the others copy it.
    """
    whole = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        whole = whole.parent  # of all processes of the run
    with locked(whole / "built"):
        if not (whole / "built").exists():
            _build(whole / "building")
            (whole / "building").rename(whole / "built")
    home = tmp_path_factory.mktemp("data") / "home"
    shutil.copytree(whole / "built", home)
    return home


def _build(home: Path) -> None:
    """What set-up has built already is copied; `build` then does again whatever is missing or out of date."""
    from agent.assembly import build
    from agent.sessions import Home
    from agent.settings import Settings

    ready = Settings().home
    beside = shutil.ignore_patterns("evaluations", "*.sqlite-*", ".*")
    for part in ("indexes", "cache", "encoder.json"):
        if (ready / part).is_dir():
            shutil.copytree(ready / part, home / part, ignore=beside, copy_function=_copied)
        elif (ready / part).is_file():
            shutil.copy(ready / part, home / part)
    build(Settings(home=home), Home(home).prepare(), rebuild=False, say=lambda _: None)


def _copied(source: str, target: str) -> None:
    """A file; of a database what is written to the end, whoever uses it now (the evaluations run beside the tests)."""
    if not source.endswith(".sqlite"):
        shutil.copy2(source, target)
    else:
        Path(target).touch(mode=0o600)
        with contextlib.closing(sqlite3.connect(source)) as one, contextlib.closing(sqlite3.connect(target)) as other:
            one.backup(other)


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
