"""Plain triples of others (disease, has_symptomatology, phrase; disease, is_a, class) as a graph, with what was mended.

The released graph of MedRAG (arXiv 2502.04413) has this form. What is mended: a disease without a class goes under
"unclassified"; spellings of one name become one disease; an answer pasted behind its question is read as what it
states, and dropped when it states nothing; ``(L)`` and ``(R)`` are written out, so that sides stay apart. Phrases in
prose are of both roles, pasted answers of role d alone: the file does not tell. It gives no frequencies: every edge is
taken as ``common``.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from tools.knowledge_graph.checks import problems_of
from tools.knowledge_graph.formats.triples import NODES, RELATIONS
from tools.knowledge_graph.schema import Graph

KIND = {
    "symptomatology": "symptom",
    "psychopathology": "symptom",
    "lifestyle": "habit",
    "anamnesis": "history",
    "exposure": "exposure",
    "immunology": "test",
    "therapy": "treatment",
}
UNCLASSIFIED = "unclassified"
LONGEST_ID = 120  # ours: characters of an id
_PASTED = re.compile(r"^(?P<question>.+?)\s*[?:]:\s*(?P<answer>.*)$", re.DOTALL)
_NOTHING = frozenset({"", "na", "n", "nowhere", "false", "none"})  # answers that state nothing
_SIDES = ((re.compile(r"\s*\(L\)"), " left"), (re.compile(r"\s*\(R\)"), " right"))
Row = tuple[str, str, str]


def is_foreign(subjects: Iterable[str]) -> bool:
    """Whether no subject is one of ours (``disease:gerd``)."""
    return not any(s.partition(":")[0] in (*NODES, "graph") and ":" in s for s in subjects)


def slug(text: str) -> str:
    """An id: lower case, ASCII, words joined by one hyphen; "" when nothing is left."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def key_of(text: str) -> str:
    """An id of its own for every wording: its slug, and where letters or the end are lost in that, a checksum too."""
    base = slug(text)
    lost = any(c.isalpha() and not slug(c) for c in text)
    if not lost and len(base) <= LONGEST_ID:
        return base
    digest = hashlib.sha256(" ".join(text.casefold().split()).encode()).hexdigest()[:8]
    return f"{base[: LONGEST_ID - 9].strip('-')}-{digest}".strip("-")


def graph_of_foreign(rows: list[Row], name: str) -> tuple[Graph | None, list[str]]:
    """The graph, or None and what is wrong with the rows."""
    problems = [f"{name}: row {n}: unknown relation {r!r}" for n, (_, r, _) in enumerate(rows, 2) if not _known(r)]
    problems += [f"{name}: row {n}: an empty cell" for n, (s, _, o) in enumerate(rows, 2) if not (key_of(s) and o)]
    if problems:
        return None, problems
    above = {key_of(s): o for s, r, o in rows if r == "is_a"}
    placed = {s for s, r, _ in rows if r == "is_a"}
    edges = [(s, r.removeprefix("has_"), o) for s, r, o in rows if r != "is_a"]
    read = _Reading()
    read.loose = len({s for s, _, _ in edges} - placed)
    for subject, relation, told in edges:
        read.take(subject, relation, told)
    return _graph(read, above, name)


def _known(relation: str) -> bool:
    return relation == "is_a" or relation in RELATIONS


class _Reading:
    """Findings and the edges of each disease, in order of the rows; counts what was mended."""

    def __init__(self) -> None:
        self.findings: dict[str, dict[str, Any]] = {}
        self.edges: dict[str, dict[str, dict[str, Any]]] = {}
        self.spellings: dict[str, list[str]] = {}
        self.loose = self.pasted = self.dropped = self.sided = 0

    def take(self, subject: str, relation: str, object: str) -> None:
        disease = key_of(subject)
        names = self.spellings.setdefault(disease, [])
        if subject not in names:
            names.append(subject)
        phrase, roles = self._phrase(object)
        key = key_of(phrase)
        edges = self.edges.setdefault(disease, {})
        if not key:
            return
        self.findings.setdefault(
            key, {"id": key, "name": phrase, "zh": phrase, "relation": relation, "kind": KIND[relation]}
        )
        edges.setdefault(key, {"finding": key, "how_often": "common", "roles": roles})

    def _phrase(self, object: str) -> tuple[str, list[str]]:
        text = " ".join(object.split())
        for pattern, word in _SIDES:
            text, n = pattern.subn(word, text)
            self.sided += n
        pasted = _PASTED.match(text)
        if pasted is None:
            return text, ["d", "a"]
        self.pasted += 1
        question, answer = pasted["question"].rstrip(":? "), pasted["answer"].strip()
        if answer.casefold() in _NOTHING:
            self.dropped += 1
            return "", []
        return (question if answer.casefold() in ("true", "y", "yes") else f"{question}: {answer}"), ["d"]


def _graph(read: _Reading, above: dict[str, str], name: str) -> tuple[Graph | None, list[str]]:
    diseases, l2, l1 = [], {}, {}
    for key, names in read.spellings.items():
        group = above.get(key, UNCLASSIFIED)
        chapter = above.get(key_of(group), UNCLASSIFIED)
        l2[key_of(group)] = {"id": key_of(group), "l1": key_of(chapter), "name": _words(group), "zh": _words(group)}
        l1[key_of(chapter)] = {"id": key_of(chapter), "name": _words(chapter), "zh": _words(chapter)}
        diseases.append(_disease(key, names, key_of(group), list(read.edges[key].values())))
    used = {e["finding"] for d in diseases for e in d["manifestations"]}
    spelt = [len(n) for n in read.spellings.values()]
    note = (
        f"{read.loose} of {sum(spelt)} names had no class; {sum(n > 1 for n in spelt)} of {len(diseases)} diseases had "
        f"several spellings; {read.pasted} pasted answers, {read.dropped} of them state nothing and were dropped; "
        f"{read.sided} sides written out; frequencies are not given and taken as common."
    )
    graph = Graph.model_validate(
        {
            "about": {"name": slug(name.rpartition(".")[0]) or "imported", "origin": "imported", "source": name}
            | {"note": note},
            "categories": list(l1.values()),
            "subcategories": list(l2.values()),
            "findings": [f for f in read.findings.values() if f["id"] in used],
            "diseases": diseases,
        }
    )
    problems = problems_of(graph, name)
    return (None, problems) if problems else (graph, [])


def _disease(id: str, names: list[str], l2: str, edges: list[dict[str, Any]]) -> dict[str, Any]:
    first, *others = dict.fromkeys(_words(n) for n in names)
    return {
        "id": id, "name": first, "zh": first, "aliases": others, "icd10": "", "l2": l2, "how_common": "uncommon",
        "severity": "unknown", "sex": "any", "ages": {"min": 0, "max": 120, "typical": [0, 120]},
        "manifestations": edges,
    }  # fmt: skip


def _words(name: str) -> str:
    words = " ".join(name.replace("_", " ").split())
    return words[:1].upper() + words[1:]
