"""How near a case's text is to the graph's diseases, and to diseases that the graph lacks.

The others are the categories of ICD-10 (chapters of diseases, ``CHAPTERS``) under which the graph has none: their names
are all that is known of them, which is enough to say that a case sounds like something else.
"""

from __future__ import annotations

import io
import json
import zipfile
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tools.encoders import Encoder, Vectors
from tools.files import locked, write_atomic
from tools.icd10.table import categories
from tools.knowledge_graph.entries import render
from tools.knowledge_graph.schema import Graph

CHAPTERS = "ABCDEFGHIJKLMNOPQ"  # ours: letters of codes that stand for diseases, not for findings or injuries
NEAREST = 5  # ours: nearest other names whose mean is told
FORMAT = 1  # raised when the file's form changes


class Near(NamedTuple):
    """Cosines of a case's text: with the graph's entries and names, disease by disease, and with other names."""

    entries: Vectors
    names: Vectors
    others: Vectors

    @property
    def others_mean(self) -> float:
        """The mean of the nearest names of diseases that the graph lacks."""
        return float(np.sort(self.others)[-NEAREST:].mean())

    def others_above(self, least: float) -> int:
        """How many of these names are nearer than this."""
        return int((self.others > least).sum())


class Names:
    """Vectors of entries, names and other diseases' names; made at the first use, then read from a file."""

    def __init__(self, graph: Graph, encoder: Encoder, file: Path, key: str) -> None:
        self._graph, self._encoder, self._file, self._key = graph, encoder, file, key
        self._vectors: tuple[Vectors, Vectors, Vectors] | None = None
        self.of = lru_cache(maxsize=16)(self._of)  # a turn looks the same case up more than once

    def build(self) -> tuple[Vectors, Vectors, Vectors]:
        """The vectors, which are written where they are missing, damaged or of another graph or encoder."""
        if self._vectors is None:
            self._vectors = self._read() or self._made()
        return self._vectors

    def _of(self, case: str) -> Near:
        entries, names, others = self.build()
        query = self._encoder.encode_queries([case])[0]
        return Near(entries @ query, names @ query, others @ query)

    def _made(self) -> tuple[Vectors, Vectors, Vectors]:
        with locked(self._file):
            known = self._read()
            if known is not None:
                return known
            diseases = self._graph.diseases
            parts = (
                self._encoder.encode_documents([render(self._graph, d, "en").text for d in diseases]),
                self._encoder.encode_documents([d.name for d in diseases]),
                self._encoder.encode_documents(other_names(self._graph)),
            )
            buffer = io.BytesIO()
            entries, names, others = (p.astype(np.float16) for p in parts)
            np.savez(buffer, entries=entries, names=names, others=others, key=np.array(self._named))
            write_atomic(self._file, buffer.getvalue())
        return parts

    def _read(self) -> tuple[Vectors, Vectors, Vectors] | None:
        try:
            with np.load(self._file, allow_pickle=False) as arrays:
                if str(arrays["key"]) != self._named:
                    return None
                entries, names, others = (np.asarray(arrays[n], np.float32) for n in ("entries", "names", "others"))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None  # missing or damaged: it is made again from the graph, which is the source
        return entries, names, others

    @property
    def _named(self) -> str:
        return json.dumps([FORMAT, self._key, self._encoder.name, CHAPTERS])


def other_names(graph: Graph) -> list[str]:
    """Names of the categories of diseases in which the graph has none."""
    held = {d.icd10[:3] for d in graph.diseases}
    return [name for code, name in categories() if code[0] in CHAPTERS and code not in held and not _rest(name)]


def _rest(name: str) -> bool:
    """Whether a category is what is left over beside others, which names nothing."""
    return name.lower().startswith("other")
