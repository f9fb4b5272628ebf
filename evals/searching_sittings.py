"""Sessions with an agent that searches a mirror for some items: those whose row names the mirror's folder."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from agent.settings import Settings
from evals.asked import Item
from evals.sittings import Held, Sittings, sitting


class Searching(NamedTuple):
    """A row whose question is asked over a mirror of PubMed."""

    row: Any
    mirror: Path


class SearchingSittings(Sittings):
    """Holds sessions with the plain agent, or over the mirror of the item's row.

    Args:
        plain: who holds the first. open: opens an agent over a mirror; each mirror is opened once.
    """

    def __init__(self, plain: Sittings, open: Callable[[Path], Sittings]) -> None:
        self._plain, self._open_mirror = plain, open
        self._lock, self._opened = Lock(), dict[Path, Sittings]()

    async def ahold(self, item: Item) -> Held:
        """Say an item's messages in a fresh session of the agent that it is for."""
        if not isinstance(item.row, Searching):
            return await self._plain.ahold(item)
        sittings = await asyncio.to_thread(self._over, item.row.mirror)
        return await sittings.ahold(item)

    def _over(self, mirror: Path) -> Sittings:
        with self._lock:
            if mirror not in self._opened:
                self._opened[mirror] = self._open_mirror(mirror)
            return self._opened[mirror]


@contextlib.contextmanager
def searching_sitting(settings: Settings) -> Iterator[Sittings]:
    """The assembled agent, and beside it one a mirror once an item asks for it."""
    with contextlib.ExitStack() as stack:

        def over(mirror: Path) -> Sittings:
            literature = settings.literature.model_copy(update={"mirror": mirror})
            return stack.enter_context(sitting(settings.model_copy(update={"literature": literature})))

        yield SearchingSittings(stack.enter_context(sitting(settings)), over)
