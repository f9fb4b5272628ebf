"""Settings of the selection."""

from __future__ import annotations

from typing import Literal

from tools.evidence import Frozen


class SelectionSettings(Frozen):
    """How documents are selected.

    Attributes:
        method: ``kads``, or ``in_order``: the first ones found, without KADS.
        together: where selection and filter are both a model's, one call does both (ours; off: published, one call to
            select and one a document to filter).
        guard: against generated text: the local selector's echo-chamber guard, and that a model is told to keep the
            retrieved of two documents that say the same. shuffle: show a model the documents in an order drawn by the
            question. Both are ours, and off in the published configurations.
    """

    method: Literal["kads", "in_order"] = "kads"
    together: bool = True
    guard: bool = True
    shuffle: bool = True
