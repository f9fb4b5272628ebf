"""Units read against the wordings of a graph: embedded together, and remembered, because a case is read many times.

A session reads its whole case again at each turn, and several times within one. What is remembered stays in this
process's memory and is bounded.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tools.encoders import MINILM, Encoder
from tools.knowledge_graph.compiled import CompiledGraph
from tools.knowledge_graph.loader import SHARED
from tools.knowledge_graph.spoken import Spoken
from tools.knowledge_graph.units import Unit
from tools.knowledge_graph.wordings import Agreement, ChineseWordings, EnglishWordings
from tools.reading.features import features, meanings
from tools.text.language import language_of

REMEMBERED = 2048  # ours: units kept; about 12 MB with the starter graph
Key = tuple[str, bool, bool, bool, bool, bool, bool]


@lru_cache(maxsize=SHARED)
def _wordings(compiled: CompiledGraph) -> tuple[EnglishWordings, ChineseWordings]:
    return EnglishWordings(compiled), ChineseWordings(compiled.graph)


class UnitReader:
    """Agreement of units with every finding of one graph. May be used from several threads.

    Args:
        compiled: the graph and the vectors of its phrases. encoder: the encoder that made those vectors.
    """

    def __init__(self, compiled: CompiledGraph, encoder: Encoder) -> None:
        self._encoder = encoder
        self._vectors = compiled.vectors
        self._english, self._chinese = _wordings(compiled)
        self._spoken = Spoken(compiled.graph.findings)
        self._known: OrderedDict[Key, Agreement] = OrderedDict()
        self._lock = threading.Lock()

    def worth_reading(self, unit: Unit, texts: Sequence[str]) -> bool:
        """Whether clauses read together may tell more than each alone: a wording has words of both.

        Args:
            texts: of the clauses that the unit joins, each alone.
        """
        if len(unit.members) < 2 or language_of(unit.text) == "zh":
            return True
        return self._english.joins(texts)

    def read(self, units: Sequence[Unit]) -> list[Agreement]:
        """The agreement of each unit; its arrays are shared and must not be changed."""
        keys = [_key(u) for u in units]
        with self._lock:
            known = {k: self._known[k] for k in keys if k in self._known}
        new = {k: u for k, u in zip(keys, units, strict=True) if k not in known}
        known |= dict(zip(new, self._fresh(list(new.values())), strict=True))
        with self._lock:
            for key in keys:
                self._known[key] = known[key]
                self._known.move_to_end(key)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return [known[k] for k in keys]

    def _fresh(self, units: Sequence[Unit]) -> list[Agreement]:
        if not units:
            return []
        heard = self._spoken.knows
        both = dict.fromkeys(text for u in units for text in (u.text, u.bare) if text)
        seen = dict(zip(both, features(list(both)), strict=True)) if heard else {}
        texts = list(dict.fromkeys(u.text for u in units if language_of(u.text) != "zh"))
        cosines: NDArray[np.float32] = np.zeros((0, len(self._vectors)), dtype=np.float32)
        if texts:
            read_already = heard and self._encoder.name == MINILM
            told = meanings([seen[t] for t in texts]) if read_already else self._encoder.encode_queries(texts)
            cosines = np.asarray(told @ self._vectors.T, dtype=np.float32)
        row = {text: i for i, text in enumerate(texts)}
        read = [
            self._english.agreement(u, cosines[row[u.text]]) if u.text in row else self._chinese.agreement(u)
            for u in units
        ]
        return self._spoken.joined(units, read, seen) if heard else read


def _key(unit: Unit) -> Key:
    """All that the agreement of a unit with wordings depends on."""
    joined = len(unit.members) > 1
    return (unit.text, unit.denied, unit.negated, unit.negative, unit.topical, unit.distant, joined)
