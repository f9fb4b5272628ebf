"""Whole processes of the command and of snippets, forked from one that has imported everything once.

Each has its own environment, folder and standard streams, as if it had been started; only the imports are shared.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from support.session_worker import FORKS

PATIENCE = 120.0  # seconds


def command(
    *arguments: str, environment: dict[str, str], cwd: Path, stdin: bytes = b""
) -> subprocess.CompletedProcess[str]:
    """The command line, from its launcher on."""
    return Running(_command, arguments, environment, cwd, stdin).ended()


def running(*arguments: str, environment: dict[str, str], cwd: Path) -> Running:
    """The command line, which goes on until it is stopped."""
    return Running(_command, arguments, environment, cwd, b"")


def snippet(code: str, *, environment: dict[str, str], cwd: Path) -> Running:
    """Code as ``python -c`` runs it; what is on its PYTHONPATH can be imported."""
    return Running(_snippet, (code,), environment, cwd, b"")


class Running:
    """A process that was started; its standard streams are files until it has ended."""

    def __init__(
        self,
        target: Callable[..., None],
        arguments: tuple[str, ...],
        environment: dict[str, str],
        cwd: Path,
        stdin: bytes,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._streams = [Path(self._folder.name) / name for name in ("stdin", "stdout", "stderr")]
        self._streams[0].write_bytes(stdin)
        started = ([str(s) for s in self._streams], environment, str(cwd), target, arguments)
        self.process = FORKS.Process(target=_started, args=started)
        self.process.start()

    def written(self) -> str:
        """What it has written so far, to both of its streams."""
        return "".join(s.read_text(encoding="utf-8", errors="replace") for s in self._streams[1:] if s.exists())

    def wait_for(self, word: str) -> None:
        """Wait until it has written a word."""
        end = time.monotonic() + PATIENCE
        while word not in self.written():
            assert self.process.is_alive() or word in self.written(), self.written()
            assert time.monotonic() < end, self.written()
            time.sleep(0.02)

    def signal(self, number: int) -> None:
        """Send it a signal."""
        assert self.process.pid is not None
        os.kill(self.process.pid, number)

    def wait(self, patience: float = PATIENCE) -> int | None:
        """Wait for its end; its exit status, None where it has not ended."""
        self.process.join(patience)
        return self.process.exitcode

    def kill(self) -> None:
        """End it as ``kill -9`` does."""
        self.process.kill()
        self.process.join()
        self._folder.cleanup()

    def ended(self) -> subprocess.CompletedProcess[str]:
        """Wait for its end; what it wrote is read as UTF-8."""
        self.process.join(PATIENCE)
        if self.process.exitcode is None:
            self.kill()
            raise subprocess.TimeoutExpired("a process", PATIENCE)
        out, err = (s.read_text(encoding="utf-8", errors="replace") for s in self._streams[1:])
        self._folder.cleanup()
        return subprocess.CompletedProcess([], self.process.exitcode, out, err)


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
