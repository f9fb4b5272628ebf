"""What is installed: locked with hashes, no more than the rooms of the product import, and asked about known faults."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from test_imports import imported

ROOT = Path(__file__).parents[1]
LOCKS = ROOT / "deploy" / "lock"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;]+)[^\\\n]*((?:\\\n\s+--hash=sha256:[0-9a-f]{64} ?)*)", re.MULTILINE)
PLANTED = {
    "id": "PYSEC-0000-1",
    "summary": "planted by a test",
    "published": "2026-01-01T00:00:00Z",
    "affected": [
        {
            "package": {"name": "jinja2", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "99.1"}]}],
        }
    ],
}


def pins(path: Path) -> dict[str, tuple[str, int]]:
    """Version and number of hashes of each package of a lock, or of the constraints."""
    return {canonicalize_name(n): (v, h.count("sha256:")) for n, v, h in PIN.findall(path.read_text())}


def needed(*extras: str) -> set[str]:
    """The packages that the product and some of its extras ask for by name."""
    lines = list(PROJECT["dependencies"])
    for extra in extras:
        lines += PROJECT["optional-dependencies"][extra]
    asked = [Requirement(line) for line in lines]
    nested = {e for r in asked if r.name == "anamnesis" for e in r.extras}
    own = {canonicalize_name(r.name) for r in asked if r.name != "anamnesis"}
    return own | (needed(*nested) if nested else set())


@pytest.mark.parametrize(
    ("lock", "extras"),
    [("core", ()), ("dev", ("dev",)), ("image", ("serve", "mcp", "postgres", "milvus", "telemetry"))],
)
def test_a_lock_holds_all_that_is_asked_for_with_hashes_and_the_tried_versions(
    lock: str, extras: tuple[str, ...]
) -> None:
    locked, tried = pins(LOCKS / f"{lock}.txt"), pins(ROOT / "constraints.txt")
    assert needed(*extras) - {"torch"} <= locked.keys()
    assert [name for name, (_, hashes) in locked.items() if not hashes] == []
    assert {name: v for name, (v, _) in locked.items() if tried[name][0] != v} == {}


def test_torch_and_what_its_builds_need_are_locked_apart() -> None:
    torch, tried = pins(LOCKS / "torch.txt"), pins(ROOT / "constraints.txt")
    assert torch["torch"][0] == tried["torch"][0]
    assert torch["torch"][1] > 10
    cuda = pins(LOCKS / "cuda.txt")
    assert "triton" in cuda
    assert all(hashes for _, hashes in cuda.values())
    assert not cuda.keys() & pins(LOCKS / "dev.txt").keys()


def test_no_room_of_the_product_imports_what_only_training_and_evaluations_need() -> None:
    served = pins(LOCKS / "image.txt").keys() | needed("ray", "studio") | {"torch", "anamnesis"}
    names = packages_distributions()
    found: dict[str, str] = {}
    for file in (f for room in ("agent", "graphs", "prompts", "tools") for f in (ROOT / room).rglob("*.py")):
        for module in imported(ast.parse(file.read_text(encoding="utf-8"))):
            makers = {canonicalize_name(d) for d in names.get(module, ())}
            if makers and not makers & served:
                found[module] = str(file.relative_to(ROOT))
    assert found == {}


class Advisories(BaseHTTPRequestHandler):
    """A service that speaks OSV's query, with one fault planted."""

    planted = True
    status = 200

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        faulty = self.planted and asked["package"]["name"] == "jinja2"
        body = json.dumps({"vulns": [PLANTED]} if faulty else {}).encode()
        self.send_response(self.status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def advisories() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Advisories)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1/query"
    server.shutdown()
    server.server_close()


def audited(advisories: str, *locks: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "deploy" / "audit.py"), "--advisories", advisories, *map(str, locks)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_planted_fault_is_found_and_told_with_the_version_that_mends_it(advisories: str) -> None:
    done = audited(advisories, LOCKS / "torch.txt", LOCKS / "dev.txt")
    assert done.returncode == 1
    assert f"jinja2 {pins(LOCKS / 'dev.txt')['jinja2'][0]}: PYSEC-0000-1, mended in 99.1" in done.stdout
    checked = int(re.findall(r"(\d+) packages checked", done.stdout)[0])
    assert checked > 200


def test_locks_without_a_known_fault_pass(advisories: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Advisories, "planted", False)
    done = audited(advisories, LOCKS / "torch.txt")
    assert (done.returncode, done.stdout) == (0, "1 packages checked, 0 known faults.\n")


@pytest.mark.parametrize("status", [None, 503])
def test_a_service_that_does_not_answer_is_no_pass(
    advisories: str, status: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Advisories, "status", status)
    done = audited(advisories if status else "http://127.0.0.1:9/v1/query", LOCKS / "torch.txt")
    assert done.returncode == 2
    assert done.stdout.startswith("Not checked: ")
