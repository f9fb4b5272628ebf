"""A turn on standard error: a line a finished step, and on a terminal the answer while a model writes it."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from agent.cli.render import progress_console, show_step
from agent.conversation import Step

TITLE = "Draft, not yet verified"
SHOWN = 1200  # characters of a draft that are shown, its end; ours: a panel that fits a small terminal


class Progress:
    """Shows the steps of a turn. A draft vanishes with the step that wrote it: the verified answer takes its place.

    Args:
        quiet: show nothing. out: the console; drafts are shown only where it is a terminal.
    """

    def __init__(self, *, quiet: bool = False, out: Console | None = None) -> None:
        self._quiet, self._out = quiet, out or progress_console()
        self._live: Live | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def show(self, step: Step) -> None:
        """Show a step as it happens."""
        if self._quiet:
            return
        if step.status == "text":
            self._draft(step.text)
            return
        if step.status == "finished":
            self._close()
        show_step(step, self._out)

    def _draft(self, text: str) -> None:
        if not self._out.is_terminal:
            return
        if self._live is None:
            self._live = Live(console=self._out, transient=True, auto_refresh=False)
            self._live.start()
        shown = text if len(text) <= SHOWN else "… " + text[-SHOWN:]
        panel = Panel(Text(shown, style="dim"), title=TITLE, title_align="left", border_style="yellow")
        self._live.update(panel, refresh=True)

    def _close(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None
