"""Whole processes of the command and of snippets, forked from one that has imported everything once.

Each has its own environment, folder and standard streams, as if it had been started; only the imports are shared.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from support.session_worker import FORKS

PATIENCE = 120.0  # seconds


def command(
    *arguments: str, environment: dict[str, str], cwd: Path, stdin: bytes = b""
) -> subprocess.CompletedProcess[str]:
    """The command line, from its launcher on."""
    return finished(_command, arguments, environment, cwd, stdin)


def snippet(code: str, *, environment: dict[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Code as ``python -c`` runs it; what is on its PYTHONPATH can be imported."""
    return finished(_snippet, (code,), environment, cwd, b"")


def finished(
    target: Callable[..., None], arguments: tuple[str, ...], environment: dict[str, str], cwd: Path, stdin: bytes
) -> subprocess.CompletedProcess[str]:
    """Run a function in a process of its own until it ends; what it wrote is read as UTF-8."""
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder) / name for name in ("stdin", "stdout", "stderr")]
        streams[0].write_bytes(stdin)
        started = ([str(s) for s in streams], environment, str(cwd), target, arguments)
        process = FORKS.Process(target=_started, args=started)
        process.start()
        process.join(PATIENCE)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(list(arguments), PATIENCE)
        out, err = (s.read_text(encoding="utf-8", errors="replace") for s in streams[1:])
        return subprocess.CompletedProcess(list(arguments), process.exitcode, out, err)


def _started(
    streams: list[str], environment: dict[str, str], cwd: str, target: Callable[..., None], arguments: tuple[str, ...]
) -> None:
    for number, (name, flags) in enumerate(
        zip(streams, (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT), strict=True)
    ):
        os.dup2(os.open(name, flags), number)
    sys.stdin, sys.stdout, sys.stderr = (_text(number) for number in range(3))
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    target(*arguments)


def _text(number: int) -> io.TextIOWrapper:
    mode = "rb" if number == 0 else "wb"
    return io.TextIOWrapper(os.fdopen(number, mode, closefd=False), encoding="utf-8", write_through=True)


def _command(*arguments: str) -> None:
    from anamnesis import main

    sys.argv = ["anamnesis", *arguments]
    main()


def _snippet(code: str) -> None:
    sys.path[:0] = os.environ["PYTHONPATH"].split(os.pathsep)
    exec(compile(code, "<snippet>", "exec"), {"__name__": "__main__"})  # noqa: S102 - the test's own code
