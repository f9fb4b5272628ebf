"""What a client's tool calls have found so far, so that `fill_knowledge_gaps` can count it as covered.

A turn of the agent holds its own evidence; a client that calls the tools by itself has no turn, so its findings are
remembered here: in memory only, for each connection (for each key, where the protocol has no connections).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable

from tools.evidence import Evidence

CLIENTS = 200  # ours: connections remembered; the one used longest ago is forgotten
PIECES = 200  # ours: pieces of evidence of one connection, some hundred kilobytes


class Remembered:
    """Evidence by connection, bounded, in order of last use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[tuple[str, str], OrderedDict[str, Evidence]] = OrderedDict()

    def add(self, client: tuple[str, str], evidence: Iterable[Evidence]) -> None:
        """Remember evidence for a client: (key's id, connection's id)."""
        with self._lock:
            held = self._found.setdefault(client, OrderedDict())
            self._found.move_to_end(client)
            for item in evidence:
                held[item.id] = item
                held.move_to_end(item.id)
            while len(held) > PIECES:
                held.popitem(last=False)
            while len(self._found) > CLIENTS:
                self._found.popitem(last=False)

    def of(self, client: tuple[str, str]) -> list[Evidence]:
        """What was found for a client, oldest first."""
        with self._lock:
            return list(self._found.get(client, {}).values())
