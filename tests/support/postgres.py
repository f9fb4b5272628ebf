"""A real PostgreSQL for tests: a cluster in a temporary folder, reached by a socket, gone with the tests."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

PLACES = "/usr/lib/postgresql/*/bin"  # Debian's; elsewhere the PATH tells
QUIET = ("fsync=off", "listen_addresses=", "max_connections=60", "shared_buffers=16MB")


def binaries() -> Path | None:
    """The folder of PostgreSQL's programs, None where there is none."""
    debian = sorted(Path("/").glob(PLACES.lstrip("/")))
    found = shutil.which("initdb")
    return debian[-1] if debian else Path(found).parent if found else None


def reason() -> str:
    """Why PostgreSQL cannot be started here, "" where it can."""
    if binaries() is None:
        return "PostgreSQL is not installed"
    for package in ("psycopg", "psycopg_pool", "langgraph.checkpoint.postgres"):
        with contextlib.suppress(ImportError):
            __import__(package)
            continue
        return f"{package} is not installed"
    if os.geteuid() == 0:
        try:
            pwd.getpwnam("postgres")
        except KeyError:
            return "PostgreSQL does not run as root, and there is no user postgres"
    return ""


@contextlib.contextmanager
def cluster() -> Iterator[str]:
    """A running server; its address. Skips the test where there is no PostgreSQL."""
    if why := reason():
        pytest.skip(why)
    programs = binaries()
    assert programs is not None
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    as_user: list[str] = []
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]
    data, log = folder / "data", folder / "log"

    def run(*command: str) -> None:
        subprocess.run([*as_user, *command], check=True, capture_output=True, cwd=folder)

    try:
        run(
            str(programs / "initdb"),
            "-D",
            str(data),
            "-U",
            "anamnesis",
            "-A",
            "trust",
            "-N",
            "-E",
            "UTF8",
            "--locale=C",
        )
        options = " ".join([f"-k {folder}", *(f"-c {setting}" for setting in QUIET)])
        run(str(programs / "pg_ctl"), "-D", str(data), "-l", str(log), "-o", options, "-w", "start")
        try:
            yield f"postgresql://anamnesis@/postgres?host={folder}"
        finally:
            run(str(programs / "pg_ctl"), "-D", str(data), "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
