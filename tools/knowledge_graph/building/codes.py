"""The ICD-10 code of a diagnosis by its name, and the names of chapters and blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tools.encoders import Encoder
from tools.icd10 import ICD10
from tools.knowledge_graph.building.spelling import Spelling
from tools.knowledge_graph.lexicon import Lexicon, words
from tools.knowledge_graph.schema import Graph
from tools.text.language import HAN

CANDIDATES = 12  # ours: names of the table that share most words, compared by meaning
ALIKE = 0.75  # ours: least cosine of a diagnosis to the name that gives it its code
SHARED = 0.3  # ours: least share of the diagnosis' words, weighted, in that name
_WRITTEN = re.compile(r"\b([A-TV-Z]\d[0-9A-Z](?:\.[0-9A-Z]{1,4})?)\b", re.ASCII)
_ASIDE = re.compile(r"\([^)]*\)|^\W*(?:possible|probable|suspected)\b", re.IGNORECASE)
_RANGE = re.compile(r"\s*\([A-Z]\d[0-9A-Z]-[A-Z]\d[0-9A-Z]\)\s*$")


class Coded(NamedTuple):
    """The code of a diagnosis, how it was found, and the starter graph's disease of that name ("" for none)."""

    code: str
    how: str
    known: str = ""


class Codes:
    """Codes of diagnoses.

    Args:
        table: the compiled ICD-10 table.
        encoder: compares names by meaning.
        graph: a graph whose diseases are known by name; None for none.
    """

    def __init__(self, table: ICD10, encoder: Encoder, graph: Graph | None = None) -> None:
        self._table, self._encoder = table, encoder
        self._known = {
            " ".join(sorted(set(words(name)))): (d.id, d.icd10)
            for d in (graph.diseases if graph is not None else ())
            for name in (d.name, *d.aliases)
        }
        self._chinese = {
            "".join(name.split()): (d.id, d.icd10)
            for d in (graph.diseases if graph is not None else ())
            for name in (d.zh, *d.aliases_zh)
            if HAN.search(name)
        }
        self._rows = table.codes()
        self._lexicon = Lexicon([words(row.name) for row in self._rows])
        known = [name for d in (graph.diseases if graph is not None else ()) for name in (d.name, *d.aliases)]
        self._spelling = Spelling([*(row.name for row in self._rows), *known])

    def find(self, names: Sequence[str]) -> list[Coded]:
        """The code of each name: written in it, that of a known disease, or that of the nearest name of the table.

        Where there is none, the name is looked up as `respelt`: what that finds says what group a disease is in, not
        which disease it is.
        """
        return [self._certain(name) or self._nearest(name) or self._respelt(name) for name in names]

    def respelt(self, name: str) -> str:
        """The name with words that no known name has put right, where one known word alone is as near."""
        return self._spelling.mended(name)

    def _certain(self, name: str) -> Coded | None:
        written = _WRITTEN.search(name)
        if written is not None and self._table.nearest(written[1]) is not None:
            return Coded(written[1], "written")
        if HAN.search(name):  # its Latin letters alone are not its name
            chinese = self._chinese.get("".join(name.split()))
            return Coded(chinese[1], "known", chinese[0]) if chinese is not None else Coded("", "none")
        for form in _forms(name):
            known = self._known.get(" ".join(sorted(set(words(form)))))
            if known is not None:
                return Coded(known[1], "known", known[0])
        return None

    def _respelt(self, name: str) -> Coded:
        mended = self.respelt(name)
        found = (self._certain(mended) or self._nearest(mended)) if mended != name else None
        return Coded(found.code, "respelt") if found is not None else Coded("", "none")

    def _nearest(self, name: str) -> Coded | None:
        held, said = self._lexicon.coverage(words(name))
        shared = np.sqrt(held * said)
        best = [int(i) for i in np.argsort(-shared, kind="stable")[:CANDIDATES] if said[i] >= SHARED]
        if not best:
            return None
        vectors = self._encoder.encode_documents([name, *(self._rows[i].name for i in best)])
        cosines = vectors[1:] @ vectors[0]
        at = int(cosines.argmax())
        return Coded(self._rows[best[at]].code, "nearest name") if cosines[at] >= ALIKE else None


def without_code(name: str) -> str:
    """A name without the ICD-10 code that is written in it."""
    return " ".join(_WRITTEN.sub(" ", name).replace("( )", " ").split())


def _forms(name: str) -> list[str]:
    """A name as written, without what stands in brackets, and, of alternatives, each."""
    bare = _ASIDE.sub(" ", name)
    return [name, bare, *(part for part in bare.split("/") if part != bare)]


@lru_cache(maxsize=4096)
def topic_name(code: str) -> str:
    """The name of a chapter or block of ICD-10-CM, such as ``J40-J4A`` or ``10``; "" for an unknown one."""
    import simple_icd_10_cm as tree

    return _RANGE.sub("", tree.get_description(code)) if tree.is_valid_item(code) else ""
