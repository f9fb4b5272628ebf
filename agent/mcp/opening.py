"""The agent, opened once and beside the protocol, so that a client's first request is answered at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.agent import Agent


class Opening:
    """Opens an agent in a thread at its first use; what failed once is tried again at the next call.

    Args:
        opener: gives the agent.
        own: the agent is this object's to close.
    """

    def __init__(self, opener: Callable[[], Agent], *, own: bool = True) -> None:
        self._opener, self._own = opener, own
        self._task: asyncio.Task[Agent] | None = None

    def begin(self) -> asyncio.Task[Agent]:
        """Open it in the background."""
        failed = self._task is not None and self._task.done() and (self._task.cancelled() or self._task.exception())
        if self._task is None or failed:
            self._task = asyncio.ensure_future(asyncio.to_thread(self._opener))
        return self._task

    async def agent(self) -> Agent:
        """The agent, opened. Raises InputError or DataError as `Agent` does."""
        return await asyncio.shield(self.begin())  # a cancelled call leaves it to the others

    async def tools(self, names: list[str]) -> list[str]:
        """Those of the tools that the configuration offers; all of them where its settings cannot be read yet."""
        if self._task is not None and self._task.done():
            failed = self._task.cancelled() or self._task.exception() is not None
            offered = names if failed else [tool.name for tool in self._task.result().parts.tools]
            return [name for name in names if name in offered]
        return await asyncio.to_thread(_of_settings, names)

    async def close(self) -> None:
        """Close what was opened."""
        if self._task is None or not self._own:
            return
        await asyncio.wait([self._task])
        if not self._task.cancelled() and self._task.exception() is None:
            await asyncio.to_thread(self._task.result().close)


def open_agent() -> Agent:
    """The agent of the environment's settings."""
    from agent.agent import Agent

    return Agent(say=logging.getLogger(__name__).warning, everything=True)


def _of_settings(names: list[str]) -> list[str]:
    from agent.settings import load_settings
    from graphs.planning.fixed import uses
    from prompts.errors import AnamnesisError

    try:
        return uses(load_settings().pipeline, names)
    except AnamnesisError:  # the first call tells it
        return names
