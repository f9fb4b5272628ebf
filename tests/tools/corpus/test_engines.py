"""The same parts whoever makes them, and builds that were killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prompts.errors import DataError, InputError, ServiceError
from support.corpus_files import Deadly, KilledOnce, MemoryBackend, Missing, open_encoder, publication, write_xml
from tools.corpus.building import Wanted, build
from tools.corpus.contract import RaySettings, Recipe
from tools.corpus.folder import Folder
from tools.corpus.local_engine import LocalEngine
from tools.corpus.ray_engine import RayEngine

TESTS = Path(__file__).parents[2]
RECIPE = Recipe(encoder="counting", dimension=32, block=20)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    for number in range(2):
        records = [publication(100 * number + n) for n in range(1, 61)]
        write_xml(folder / f"pubmed99n000{number + 1}.xml.gz", records)
    return folder


def contents(home: Path) -> dict[str, bytes]:
    """Every file of the parts."""
    parts = Folder(home, "papers").parts
    return {str(p.relative_to(parts)): p.read_bytes() for p in sorted(parts.rglob("*")) if p.is_file()}


def built_here(home: Path, source: Path) -> dict[str, bytes]:
    build(home, Wanted("papers", [source], RECIPE), LocalEngine(), open_encoder, MemoryBackend())
    return contents(home)


@pytest.mark.slow  # starts Ray
def test_ray_makes_the_same_bytes(tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(TESTS))  # its workers import the encoder
    with RayEngine(RaySettings(), workers=1) as engine:
        report = build(tmp_path / "ray", Wanted("papers", [source], RECIPE), engine, open_encoder, MemoryBackend())
    assert (report.made, report.counts.publications) == (6, 120)
    assert contents(tmp_path / "ray") == built_here(tmp_path / "here", source)


DRIVER = """
import sys, time
from pathlib import Path
from support.corpus_files import MemoryBackend, SlowEncoder
from tools.corpus.building import Wanted, build
from tools.corpus.contract import Recipe
from tools.corpus.local_engine import LocalEngine
from tools.corpus.ray_engine import RayEngine
from tools.corpus.contract import RaySettings

home, source, engine = sys.argv[1:]
wanted = Wanted("papers", [Path(source)], Recipe(encoder="counting", dimension=32, block=20))
if engine == "ray":
    with RayEngine(RaySettings(), 1) as running:
        build(Path(home), wanted, running, SlowEncoder, MemoryBackend())
else:
    build(Path(home), wanted, LocalEngine(int(engine)), SlowEncoder, MemoryBackend())
"""


def stamps(home: Path) -> dict[str, int]:
    """Finished parts, with the time at which each was written."""
    found = Folder(home, "papers").parts.glob("??/*/part.json")
    return {str(p): p.stat().st_mtime_ns for p in found}


def killed_half_way(home: Path, source: Path, engine: str) -> dict[str, int]:
    """The parts that a driver left, which was killed when three were there; its workers have ended too."""
    environment = os.environ | {"PYTHONPATH": f"{TESTS}{os.pathsep}{TESTS.parent}"}
    command = [sys.executable, "-c", DRIVER, str(home), str(source), engine]
    with subprocess.Popen(command, env=environment) as driver:
        deadline = time.monotonic() + 120
        while len(stamps(home)) < 3 and driver.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(driver.pid, signal.SIGKILL)
    time.sleep(0 if engine == "1" else 3)  # a worker that lived on would have made all meanwhile
    return stamps(home)


@pytest.mark.parametrize(
    "engine", ["1", pytest.param("2", marks=pytest.mark.slow), pytest.param("ray", marks=pytest.mark.slow)]
)
def test_a_killed_driver_s_build_goes_on(tmp_path: Path, source: Path, engine: str) -> None:
    left = killed_half_way(tmp_path / "killed", source, engine)
    assert 3 <= len(left) < 6
    whole = built_here(tmp_path / "killed", source)
    after = stamps(tmp_path / "killed")
    assert len(after) == 6
    assert left.items() <= after.items()
    assert whole == built_here(tmp_path / "never killed", source)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "ray"])
def test_a_killed_worker_costs_its_block_alone(
    tmp_path: Path, source: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(TESTS))
    monkeypatch.setenv("KILLED_ONCE", str(tmp_path / "was killed"))
    wanted, home = Wanted("papers", [source], RECIPE), tmp_path / "home"
    if engine == "local":
        report = build(home, wanted, LocalEngine(2), KilledOnce, MemoryBackend())
    else:
        with RayEngine(RaySettings(), workers=1) as running:
            report = build(home, wanted, running, KilledOnce, MemoryBackend())
    assert (tmp_path / "was killed").exists()
    assert report.made == 6
    assert contents(home) == built_here(tmp_path / "never killed", source)


@pytest.mark.slow
def test_a_block_that_always_kills_its_worker_is_told(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(TESTS))
    with pytest.raises(DataError, match="1 of 6 blocks failed"), RayEngine(RaySettings(), workers=1) as running:
        build(tmp_path / "home", Wanted("papers", [source], RECIPE), running, Deadly, MemoryBackend())
    assert len(stamps(tmp_path / "home")) == 5


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"pip install 'anamnesis\[ray\]'"), RayEngine(RaySettings(), 1):
        pass


def test_a_cluster_that_cannot_be_reached_is_told_at_once() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(ServiceError, match="cannot be started or reached"), RayEngine(RaySettings(address=address), 1):
        pass


@pytest.mark.slow
def test_an_encoder_that_the_cluster_does_not_have_is_told(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(TESTS))
    with pytest.raises(ServiceError, match="is not on this machine"), RayEngine(RaySettings(), workers=1) as running:
        build(tmp_path / "home", Wanted("papers", [source], RECIPE), running, Missing, MemoryBackend())
