"""Where Chinese wordings stand in a text: whole, or the part of the body and its complaint a few characters apart.

Chinese has no spaces, so a wording may stand in a text by accident: 吐 in 吐血, 腹胀 in 腹胀痛. And words come between
the two that a wording has side by side: 小腿肿 is told as 小腿开始肿. All rules are ours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tools.knowledge_graph.schema import Graph
from tools.text.body_sites import sites

COMPLAINTS = "痛肿痒麻胀红"  # ours: what is said of a part of the body in one character
BETWEEN = 6  # ours: characters that may stand between a part and its complaint
_NO_SUCH_PAIN = re.compile(r"[压触叩按举]$")  # tenderness is no pain
_NOT = re.compile(r"[不无没未]")
Flags = NDArray[np.bool_]


class Standing:
    """Finds the wordings of a graph in texts.

    Args:
        wordings: folded as texts are (`tools.knowledge_graph.lexicon.folded`); "" stands nowhere.
        owners: the position of each wording's finding. graph: whose findings they are.
    """

    def __init__(self, wordings: Sequence[str], owners: Sequence[int], graph: Graph) -> None:
        self._wordings, self._owners = wordings, owners
        position = {f.id: i for i, f in enumerate(graph.findings)}
        self._above = [frozenset(position[b] for b in graph.broader(f.id)) for f in graph.findings]
        known = frozenset(wordings)
        self._apart = [
            (i, w[:-1], _apart(w, sided=bool({f"左{w}", f"右{w}"} & known)), sites(w[:-1]))
            for i, w in enumerate(wordings)
            if len(w) > 1 and w[-1] in COMPLAINTS and sites(w[:-1])
        ]

    def whole(self, text: str, *, denied: bool) -> tuple[Flags, Flags]:
        """Arrays (wordings,): those that stand in the text, and those whose characters stand there by accident alone.

        By accident: only within a longer wording that says something else. What a narrower finding's wording holds
        (胸痛 in 胸痛放射) is said with it; but to deny the narrower is not to deny the broader (吐血, 吐).
        """
        found = [i for i, w in enumerate(self._wordings) if w and w in text]
        spans = {i: _spans(self._wordings[i], text) for i in found}
        stands, accident = (np.zeros(len(self._wordings), dtype=bool) for _ in range(2))
        for i in found:
            longer = [s for j in found if self._else(i, j, denied=denied) for s in spans[j]]
            stands[i] = any(not any(a <= start and end <= b for a, b in longer) for start, end in spans[i])
            accident[i] = not stands[i]
        return stands, accident

    def apart(self, text: str) -> Flags:
        """Array (wordings,): those whose part and complaint stand near each other, with no other part between."""
        out = np.zeros(len(self._wordings), dtype=bool)
        for i, part, pattern, where in self._apart:
            match = pattern.search(text) if part in text else None
            if match is not None and not _NOT.search(match[1]) and not _NO_SUCH_PAIN.search(match[1]):
                out[i] = sites(match[1]) <= where
        return out

    def _else(self, i: int, j: int, *, denied: bool) -> bool:
        """Whether wording ``j`` is longer than ``i`` and says something that does not imply it."""
        one, other = self._owners[i], self._owners[j]
        if len(self._wordings[j]) <= len(self._wordings[i]) or one == other:
            return False
        return denied or one not in self._above[other]


def _apart(wording: str, *, sided: bool) -> re.Pattern[str]:
    """A part and its complaint with something between; ``sided``: the part of one side has a wording of its own."""
    part, complaint = wording[:-1], wording[-1]
    before = "(?<![左右])" if sided else ""
    return re.compile(rf"{before}{re.escape(part)}([^ ]{{1,{BETWEEN}}}?){complaint}(?!痛)")


def _spans(wording: str, text: str) -> list[tuple[int, int]]:
    """Where a wording stands; a fullness that goes on to be a pain (腹胀痛) is none."""
    after = "(?!痛)" if wording.endswith("胀") else ""
    return [m.span() for m in re.finditer(f"{re.escape(wording)}{after}", text)]
