"""Milvus for tests: the embedded engine on its private socket, and the same engine on a port of this machine."""

from __future__ import annotations

import atexit
import itertools
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from tools.indexes.contract import IndexSettings
from tools.indexes.milvus.connection import Connection

PLACE = tempfile.TemporaryDirectory(prefix="anamnesis-milvus-")  # gone when the process ends
_numbers = itertools.count()
_last: list[Callable[[], object]] = [PLACE.cleanup]


def new_name() -> str:
    """Of a collection that nobody else uses."""
    return f"test_{next(_numbers)}"


@cache
def embedded() -> Connection:
    """A connection to the embedded engine of this process."""
    return _kept(IndexSettings(backend="milvus"))


@cache
def address() -> str:
    """Where an engine listens that this process started, in place of a cluster."""
    from milvus_lite.adapter.grpc.server import start_server_in_thread

    server, database, port = start_server_in_thread(str(Path(PLACE.name) / "served"), "127.0.0.1", 0)
    _last.extend([database.close, lambda: server.stop(0).wait()])
    return f"http://127.0.0.1:{port}"


@cache
def served() -> Connection:
    """A connection to that engine by its address."""
    return _kept(IndexSettings(backend="milvus", address=address()))


def _kept(settings: IndexSettings) -> Connection:
    connection = Connection.open(settings, Path(PLACE.name) / "embedded")
    _last.append(connection.close)
    return connection


@atexit.register
def _close() -> None:
    while _last:
        _last.pop()()
