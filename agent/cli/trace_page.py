"""`anamnesis trace RUN --html FILE`: a run, or two beside each other, as one HTML file."""

from __future__ import annotations

import sys
from pathlib import Path

from agent.loop import run as wait
from agent.sessions import Home
from agent.sessions.opening import open_database
from agent.sessions.traces import Traces
from agent.settings import load_settings
from agent.trace_page.page import page, run_of
from prompts.errors import InputError
from tools.files import write_atomic


def write_page(run: str | None, file: Path | None, beside: str | None) -> None:
    """Write the page of a run; raises InputError for a run that is unknown and a place that cannot be written."""
    if run is None or file is None:
        raise InputError("A page needs a run and a file.", "anamnesis trace RUN --html FILE; RUN is session/turn.")
    if file.is_dir():
        raise InputError(f"{file} is a folder.", "Give the name of a file with --html.")
    settings = load_settings()
    home = Home(settings.home)
    database = wait(open_database(settings, home.prepare()))
    try:
        traces = Traces(database, home)
        runs = [(name, wait(traces.events(name))) for name in (run, beside) if name is not None]
        shown = [run_of(n, e, database.texts, prefix) for (n, e), prefix in zip(runs, ("a-", "b-"), strict=False)]
    finally:
        wait(database.close())
    written = page(shown[0], shown[1] if len(shown) > 1 else None).encode()
    try:
        write_atomic(file, written)
    except OSError as error:
        raise InputError(f"{file} cannot be written: {error.strerror}.", "Choose another place.") from error
    sys.stdout.write(f"{file} ({len(written) / 1000:.0f} kB). It holds patient text: keep it as you keep the case.\n")
