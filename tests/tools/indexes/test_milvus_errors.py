"""What goes wrong with a Milvus is told in time and in words, and is never an empty result."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from prompts.errors import AnamnesisError, DataError, InputError, ServiceError
from support import engines
from tools.indexes.backends import backend_for
from tools.indexes.contract import Entry, Filter, IndexSettings, Part
from tools.indexes.milvus.backend import MilvusBackend
from tools.indexes.milvus.connection import Connection
from tools.indexes.milvus.index import MOST, MilvusIndex

TOKEN = "root:a-secret-of-the-test"  # noqa: S105
VECTOR = np.array([[1.0, 0.0]], dtype=np.float32)


@pytest.fixture(scope="module")
def index() -> MilvusIndex:
    return MilvusIndex.create(engines.embedded(), engines.new_name(), "test-encoder", 2)


@pytest.fixture
def silent() -> Iterator[int]:
    """A port that takes connections and never answers."""
    with closing(socket.socket()) as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


def of_address(port: int, folder: Path) -> MilvusBackend:
    given = IndexSettings(
        backend="milvus", address=f"http://127.0.0.1:{port}", token=SecretStr(TOKEN), timeout=0.5, longest=0.5
    )
    backend = backend_for(given, folder)
    assert isinstance(backend, MilvusBackend)
    return backend


def free_port() -> int:
    with closing(socket.socket()) as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


def chain(error: BaseException | None) -> str:
    return "" if error is None else f"{error!s} {error!r} {chain(error.__cause__)}"


@pytest.mark.parametrize("answering", ["nobody", "silent"])
def test_a_milvus_that_cannot_be_reached_is_told_in_time_and_without_the_token(
    answering: str, silent: int, tmp_path: Path
) -> None:
    backend = of_address(silent if answering == "silent" else free_port(), tmp_path)
    started = time.monotonic()
    with pytest.raises(ServiceError, match="does not answer") as told:
        backend.open("c", encoder="test-encoder", dimension=2)
    assert time.monotonic() - started < 5
    assert "ANAMNESIS_INDEX__ADDRESS" in told.value.advice
    assert TOKEN not in chain(told.value)
    assert "a-secret" not in chain(told.value)


def test_a_server_that_goes_away_is_told_by_every_method(tmp_path: Path) -> None:
    from milvus_lite.adapter.grpc.server import start_server_in_thread

    server, database, port = start_server_in_thread(str(tmp_path / "served"), "127.0.0.1", 0)
    backend = of_address(port, tmp_path)
    try:
        rows = [Entry(id="a", text="fever")]
        parts = [Part(name="all", read=lambda: (rows, VECTOR))]
        index = backend.build("c", parts, encoder="test-encoder", dimension=2, source="s")
        assert [hit.id for hit in index.search_text("fever", 3)] == ["a"]
    finally:
        server.stop(0).wait()
        database.close()
    asked = [
        lambda: index.search_text("fever", 3),
        lambda: index.search_vectors(VECTOR, 3),
        lambda: index.search_hybrid("fever", VECTOR[0], 3, pool=3, rrf_k=60),
        lambda: index.get("a"),
        lambda: len(index),
        lambda: index.add(rows, VECTOR),
        lambda: index.delete(["a"]),
        lambda: backend._register.parts("anything"),
        lambda: backend.open("c", encoder="test-encoder", dimension=2),
    ]
    for ask in asked:
        with pytest.raises(ServiceError) as told:
            ask()
        assert TOKEN not in chain(told.value)
    backend.close()


def test_an_engine_in_use_is_told(tmp_path: Path) -> None:
    from milvus_lite import MilvusLite

    other = MilvusLite(str(tmp_path / "lite"))
    with closing(other), pytest.raises(ServiceError, match="in use by another process") as told:
        Connection.open(IndexSettings(backend="milvus"), tmp_path / "lite")
    assert "ANAMNESIS_INDEX__ADDRESS" in told.value.advice
    Connection.open(IndexSettings(backend="milvus"), tmp_path / "lite").close()  # free again


@pytest.mark.slow
def test_a_second_process_is_told_that_the_embedded_engine_is_in_use(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from prompts.errors import ServiceError\n"
        "from tools.indexes.milvus.connection import Connection\n"
        "from tools.indexes.contract import IndexSettings\n"
        "try: Connection.open(IndexSettings(backend='milvus'), pathlib.Path(sys.argv[1]))\n"
        "except ServiceError as error: print(error)\n"
    )
    connection = Connection.open(IndexSettings(backend="milvus"), tmp_path / "lite")
    try:
        done = subprocess.run([sys.executable, "-c", code, tmp_path / "lite"], capture_output=True, text=True)
    finally:
        connection.close()
    assert "in use by another process" in done.stdout
    assert "ANAMNESIS_INDEX__ADDRESS" in done.stdout
    assert done.stderr == ""


@pytest.mark.slow
def test_a_builder_that_was_killed_or_failed_goes_on_and_takes_no_part_twice(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys, pathlib, numpy as np\n"
        "from tools.indexes.contract import Entry, Part\n"
        "from tools.indexes.milvus.backend import MilvusBackend\n"
        "from tools.indexes.contract import IndexSettings\n"
        "def rows(n):\n"
        "    if n == 2 and sys.argv[2] == 'kill': os.kill(os.getpid(), signal.SIGKILL)\n"
        "    if n == 3 and sys.argv[2] == 'fail': raise SystemExit(1)\n"
        "    print('took', n, flush=True)\n"
        "    entries = [Entry(id=f'{n}-{i}', text=f'fever {n}') for i in range(50)]\n"
        "    return entries, np.tile(np.float32([1, 0]), (50, 1))\n"
        "parts = [Part(name=str(n), read=lambda n=n: rows(n)) for n in range(4)]\n"
        "backend = MilvusBackend(IndexSettings(backend='milvus'), pathlib.Path(sys.argv[1]))\n"
        "index = backend.build('c', parts, encoder='e', dimension=2, source='s')\n"
        "print(len(index), len(index.search_text('fever', 500)))\n"
    )
    with tempfile.TemporaryDirectory() as short:  # for the socket that a killed process leaves
        told = [
            subprocess.run(
                [sys.executable, "-c", code, tmp_path, how],
                capture_output=True,
                text=True,
                env=os.environ | {"TMPDIR": short},
            )
            for how in ("kill", "fail", "go on")
        ]
    assert told[0].stdout.split("\n")[:-1] == ["took 0", "took 1"]
    assert told[1].stdout.split("\n")[:-1] == ["took 2"]
    assert told[2].stdout.split("\n")[:-1] == ["took 3", "200 200"]
    assert [run.stderr for run in told] == ["", "", ""]
    segments = (tmp_path / "lite" / "collections").glob("anamnesis_c_*/partitions/*/data/*.parquet")
    assert len(list(segments)) == 1  # else words are weighed by segment


def test_a_missing_package_is_told_with_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    backend = backend_for(IndexSettings(backend="milvus"), tmp_path)
    for package in ("pymilvus", "milvus_lite"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            with pytest.raises(InputError, match=r"anamnesis\[milvus\]"):
                backend.open("c", encoder="test-encoder", dimension=2)


def test_the_environment_stays_as_it_was(tmp_path: Path) -> None:
    connection = Connection.open(IndexSettings(backend="milvus"), tmp_path)
    connection.close()
    assert not [name for name in os.environ if "DOTENV" in name or name.startswith("MILVUS")]


def test_a_damaged_register_is_a_data_error(tmp_path: Path) -> None:
    backend = MilvusBackend(IndexSettings(backend="milvus"), tmp_path)
    backend.build("c", [], encoder="test-encoder", dimension=2, source="s")
    backend._register.forget(backend._generation("anamnesis_c"))
    with pytest.raises(DataError, match="damaged"):
        backend.open("c", encoder="test-encoder", dimension=2)
    backend.close()


def test_a_search_for_more_than_the_engine_gives_is_refused(index: MilvusIndex) -> None:
    with pytest.raises(InputError, match=str(MOST)):
        index.search_vectors(VECTOR, MOST + 1)


@pytest.mark.parametrize("field", ["id", "text", "kind"])
def test_a_field_too_long_is_refused_before_anything_is_written(index: MilvusIndex, field: str) -> None:
    long = Entry(**{"id": "long", "text": "fever", field: "é" * 40_000})
    with pytest.raises(InputError, match=f"The {field} of"):
        index.add([Entry(id="short", text="fever"), long], np.repeat(VECTOR, 2, axis=0))
    assert index.get("short") is None


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(names=st.lists(TEXTS | st.sampled_from(['a"', "a' or true", "\\", '\\"', "%", "{x}", "a\nb"]), unique=True))
def test_any_text_is_a_name_and_never_a_part_of_a_filter(index: MilvusIndex, names: list[str]) -> None:
    entries = [Entry(id=name, text="fever", kind=name, date="2020-01-01") for name in names]
    index.add(entries, np.repeat(VECTOR, len(names), axis=0).reshape(-1, 2))
    assert len(index) == len(names)
    for entry in entries:
        assert index.get(entry.id) == entry
        for where in (Filter(ids=(entry.id,)), Filter(kinds=(entry.id,), since="2019", until="2021")):
            assert [hit.id for hit in index.search_vectors(VECTOR, 5, where)[0]] == [entry.id]
            assert [hit.id for hit in index.search_text("fever", 5, where)] == [entry.id]
    assert index.delete(names) == len(names)
    assert len(index) == 0


def test_every_error_says_what_to_do() -> None:
    from tools.indexes.milvus.connection import _told

    for code in (100, 2, 1800, 65535, None):
        error = _told("http://host", "upsert", code, f"quota exceeded for {TOKEN}", TOKEN)
        assert isinstance(error, AnamnesisError)
        assert error.advice
        assert TOKEN not in str(error)
    assert "quota exceeded for ***" in str(_told("http://host", "upsert", 65535, f"quota exceeded for {TOKEN}", TOKEN))
    assert "fever" not in str(_told("http://host", "search", 65535, "fever", TOKEN))
