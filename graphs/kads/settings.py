"""Settings of the selection."""

from __future__ import annotations

from typing import Literal

from tools.evidence import Frozen


class SelectionSettings(Frozen):
    """How documents are selected.

    Attributes:
        method: ``kads``, or ``in_order``: the first ones found, without KADS.
        guard: the echo-chamber guard against generated text. shuffle: show a model the documents in an order drawn by
            the question. Both are ours, and off in the published configurations.
    """

    method: Literal["kads", "in_order"] = "kads"
    guard: bool = True
    shuffle: bool = True
