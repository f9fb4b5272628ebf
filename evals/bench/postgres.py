"""A PostgreSQL of one's own: a cluster in a temporary folder, reached by a socket, gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from agent.telemetry.contract import importable
from prompts.errors import ServiceError

PLACES = "usr/lib/postgresql/*/bin"  # Debian's; elsewhere the PATH tells
USER = "postgres"  # it does not run as root
ALWAYS = ("listen_addresses=", "max_connections=60")
INITIAL = ("-U", "anamnesis", "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
PACKAGES = ("psycopg", "psycopg_pool", "langgraph.checkpoint.postgres")


def reason() -> str:
    """Why PostgreSQL cannot be started here, "" where it can."""
    if _programs() is None:
        return "PostgreSQL is not installed"
    for name in PACKAGES:
        if not importable(name):
            return f"{name} is not installed"
    if os.geteuid() == 0 and USER not in {entry.pw_name for entry in pwd.getpwall()}:
        return f"PostgreSQL does not run as root, and there is no user {USER}"
    return ""


@contextmanager
def cluster(settings: Sequence[str] = ()) -> Iterator[str]:
    """A running server; its address.

    Args:
        settings: of the server, for example ``fsync=off``.

    Raises:
        ServiceError: there is no PostgreSQL, or it does not start.
    """
    programs, why = _programs(), reason()
    if programs is None or why:
        raise ServiceError(f"PostgreSQL cannot be started: {why}.", "Debian: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))  # the path of a socket must be short
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, USER)
        options = " ".join([f"-k {folder}", *(f"-c {setting}" for setting in (*ALWAYS, *settings))])
        _run(folder, programs / "initdb", "-D", folder / "data", *INITIAL)
        control = (programs / "pg_ctl", "-D", folder / "data", "-w")
        _run(folder, *control, "-l", folder / "log", "-o", options, "start")
        try:
            yield f"postgresql://anamnesis@/postgres?host={folder}"
        finally:
            _run(folder, *control, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(folder: Path, *command: object) -> None:
    """A command as the user that may."""
    as_user = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--"] if os.geteuid() == 0 else []
    done = subprocess.run(  # noqa: S603
        [*as_user, *map(str, command)], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=folder
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace")[-500:]
        raise ServiceError(f"PostgreSQL could not be run: {said}", "Its log says more.")


def _programs() -> Path | None:
    """The folder of PostgreSQL's programs, None where there is none."""
    debian = sorted(Path("/").glob(PLACES))
    found = shutil.which("initdb")
    return debian[-1] if debian else Path(found).parent if found else None
