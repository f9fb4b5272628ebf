"""Agent evaluations as Inspect tasks: logs with every node, tool and model call, resumed where they were cut off.

Inspect AI is imported when a logged run begins and nowhere else: it takes seconds, and a plain run needs none of it.
Here is what is known of logged runs without it.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from prompts.errors import InputError

PARALLEL = 4  # ours: sessions at once, where the evaluation allows it
FINISHED = "success"  # how Inspect calls a run that is over
REPLY = "reply"  # where a sample's metadata keep the whole reply: a list of one text, JSON
RIGHT = "samples.all.right"


@dataclass(frozen=True)
class Logging:
    """Where a log goes and how it is made.

    Attributes:
        folder: of logs. resume: go on with the newest unfinished log of the same run. parallel: sessions at once.
    """

    folder: Path
    resume: bool = False
    parallel: int = PARALLEL


def report_beside(log: Path) -> Path:
    """Where the report of a log stands. Inspect takes what begins with a date for a log, so its name does not."""
    return log.with_name(f"report_{log.stem}.json")


def log_beside(report: Path) -> Path:
    """Where the log of such a report stands."""
    return report.with_name(f"{report.stem.removeprefix('report_')}.eval")


def check_installed() -> None:
    """Raise InputError where Inspect is not installed."""
    if find_spec("inspect_ai") is None:
        raise InputError("Inspect AI is not installed.", "Install the extra: pip install 'anamnesis[evals]'.")


def show(
    folder: Annotated[Path, typer.Argument(help="The folder of the logs.")],
    port: Annotated[int, typer.Option(min=1024, max=65535, help="The port on this machine.")] = 7575,
) -> None:
    """Serve Inspect's viewer on the loopback address until it is interrupted.

    Raises:
        InputError: no folder, no Inspect, or a port that is taken.
    """
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}.", "Give the folder that --log named.")
    check_installed()
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            raise InputError(f"Port {port} is taken.", "Give another one with --port.")
    from inspect_ai import view

    view(log_dir=str(folder.resolve()), host="127.0.0.1", port=port, log_level="warning")
