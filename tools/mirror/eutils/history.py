"""The history server: result lists that a client names by WebEnv and query_key."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

from tools.mirror.eutils.parameters import Parameters
from tools.mirror.eutils.replies import RequestError

KEPT = 8 * 3600.0  # seconds; NCBI keeps a history for eight hours without use
ENVIRONMENTS, KEYS = 200, 500  # ours: together with 10,000 ids a key at most about 100 MB in common use


class History:
    """Lists of PMIDs in memory; the least recently used environment goes first. Safe in several threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._environments: OrderedDict[str, tuple[float, list[tuple[str, ...]]]] = OrderedDict()

    def put(self, ids: Sequence[str], environment: str = "") -> tuple[str, int]:
        """Keep a list; returns its environment and key. Raises RequestError for an environment that is not known."""
        with self._lock:
            name, lists = self._open(environment) if environment else (f"ANAM_{secrets.token_hex(12)}", [])
            if len(lists) >= KEYS:
                raise RequestError(f"The history holds {KEYS} lists, no more", "Begin a new one without WebEnv.")
            lists.append(tuple(ids))
            self._environments[name] = (self._clock(), lists)
            self._environments.move_to_end(name)
            while len(self._environments) > ENVIRONMENTS:
                self._environments.popitem(last=False)
            return name, len(lists)

    def get(self, parameters: Parameters) -> tuple[str, ...]:
        """The list that WebEnv and query_key name. Raises RequestError when there is none."""
        key = parameters.number("query_key", 0)
        with self._lock:
            name, lists = self._open(parameters.text("WebEnv"))
            if not 1 <= key <= len(lists):
                raise RequestError("Invalid query_key, or none", "Give the query_key that was sent with the WebEnv.")
            self._environments[name] = (self._clock(), lists)
            self._environments.move_to_end(name)
            return lists[key - 1]

    def _open(self, name: str) -> tuple[str, list[tuple[str, ...]]]:
        used, lists = self._environments.get(name, (float("-inf"), []))
        if self._clock() - used > KEPT:
            self._environments.pop(name, None)
            raise RequestError("Unable to obtain query: the WebEnv is not known", "Search again with usehistory=y.")
        return name, lists
