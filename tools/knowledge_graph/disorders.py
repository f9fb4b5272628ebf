"""Monarch's disorder files (dismech, one YAML a disorder) joined to a graph: each edge with what it cites.

A statement goes in only with a quotation that supports it and the PMID or DOI that the quotation is of; what is stated
without one, or is refuted, stays out. All files go in or none does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from prompts.errors import DataError
from tools.knowledge_graph.schema import (
    Category,
    Disease,
    FindingNode,
    Graph,
    Manifestation,
    Subcategory,
    key_of,
    problems_of,
)

SUFFIXES = (".yaml", ".yml")
CITED = ("PMID:", "DOI:")  # how a reference begins that a reader can look up
SUPPORTS = "SUPPORT"  # what a quotation does for its statement; partly or not at all is left out
MOST = 2  # ours: quotations of one edge
SHOWN = 10  # ours: problems that are told
LISTS = {"phenotypes": ("symptom", "symptomatology"), "treatments": ("treatment", "therapy")}
# The file's frequencies, as the graph's; ours. What tells none is taken as occasional.
OFTEN = {
    "OBLIGATE": "always", "VERY_FREQUENT": "usual", "FREQUENT": "common", "OCCASIONAL": "occasional",
    "RARE": "rare", "VERY_RARE": "rare", "EXCLUDED": "absent",
}  # fmt: skip


def are_disorders(path: Path) -> bool:
    """Whether a path is a disorder file, or a folder of YAML that is no graph."""
    if path.is_dir():
        return not (path / "taxonomy.yaml").exists() and any(path.glob("*.yaml"))
    return path.suffix.lower() in SUFFIXES


def join_disorders(path: Path, graph: Graph) -> Graph:
    """The graph with the cited statements of a disorder file, or of all files of a folder.

    A disease and a finding that the graph has by any of its names keep all that they are; their edges gain the
    quotations. Others are added.

    Raises:
        DataError: with what is wrong in which file; a damaged file keeps all of them out.
    """
    files = sorted(p for p in path.iterdir() if p.suffix in SUFFIXES) if path.is_dir() else [path]
    files = [p for p in files if not p.name.endswith(".history.yaml")]
    problems: list[str] = []
    joined = _Joined(graph)
    for file in files:
        try:
            joined.add(_read(file))
        except (DataError, ValidationError) as error:
            problems.append(f"{file.name}: {_first(error)}")
    if problems:
        more = [f"... and {len(problems) - SHOWN} more"] if len(problems) > SHOWN else []
        raise DataError("\n".join([*problems[:SHOWN], *more]), "Fetch these files anew; nothing was taken from any.")
    return joined.graph(path.name)


def _first(error: DataError | ValidationError) -> str:
    if isinstance(error, ValidationError):
        return f"{'.'.join(map(str, error.errors()[0]['loc']))}: {error.errors()[0]['msg']}"
    return str(error).partition("\n")[0]


def _read(file: Path) -> Mapping[str, Any]:
    """The disorder of a file, its lists of statements checked."""
    try:
        found = yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise DataError(f"damaged or cut off: {' '.join(str(error).split())[:120]}", "Fetch it anew.") from error
    if not isinstance(found, dict) or not _said(found.get("name")):
        raise DataError("no disorder: it has no name.", "Give files of kb/disorders.")
    for key in LISTS:
        rows = found.get(key) or []
        if not isinstance(rows, list) or not all(isinstance(r, dict) and _said(r.get("name")) for r in rows):
            raise DataError(f"{key} is no list of named statements.", "Fetch it anew.")
    return found


class _Joined:
    """A graph that grows by disorders."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._findings = {f.id: f for f in graph.findings}
        self._diseases = {d.id: d for d in graph.diseases}
        self._groups: dict[str, Subcategory] = {}
        said = ((f.id, w) for f in graph.findings for w in (f.name, *f.say))
        self._finding_of = {_key(words): f for f, words in reversed(list(said))}
        named = ((d.id, w) for d in graph.diseases for w in (d.name, *d.aliases))
        self._disease_of = {_key(words): d for d, words in reversed(list(named))}
        self.edges = self.added = self.known = 0

    def add(self, disorder: Mapping[str, Any]) -> None:
        """Take the cited statements of a disorder; one without any changes nothing."""
        stated = list(_stated(disorder))
        if not stated:
            return
        names = list(dict.fromkeys(filter(None, (_said(disorder["name"]), _label(disorder.get("disease_term"))))))
        held = next((self._disease_of[_key(n)] for n in names if _key(n) in self._disease_of), None)
        self.known += held is not None
        edges = {m.finding: m for m in self._diseases[held].manifestations} if held else {}
        for row, kind, relation in stated:
            finding = self._finding(row, kind, relation)
            old = edges.get(finding)
            told = {
                "note": "; ".join(filter(None, (old.note if old else None, _quotes(row)))),
                "source": "; ".join(dict.fromkeys(_said(e["reference"]) for e in _cited(row))),
            }
            often = OFTEN.get(_said(row.get("frequency")), "occasional")
            if old is not None:
                edges[finding] = old.model_copy(update=told)
            else:
                edges[finding] = Manifestation(finding=finding, how_often=often, roles=("d",), **told)  # type: ignore[arg-type]
            self.edges += 1
        if held:
            self._diseases[held] = self._diseases[held].model_copy(update={"manifestations": tuple(edges.values())})
        else:
            self._add_disease(names, _said(disorder.get("category")), tuple(edges.values()))

    def _finding(self, row: Mapping[str, Any], kind: str, relation: str) -> str:
        names = list(dict.fromkeys(filter(None, (_said(row["name"]), _label(row.get("phenotype_term"))))))
        for name in names:
            if _key(name) in self._finding_of:
                return self._finding_of[_key(name)]
        new = key_of(f"monarch {names[0]}")
        say = tuple(n for n in names if _key(n) not in self._finding_of)
        node = FindingNode(id=new, name=names[0], zh=names[0], relation=relation, kind=kind, say=say)  # type: ignore[arg-type]
        self._findings[new] = node
        self._finding_of |= {_key(n): new for n in names}
        return new

    def _add_disease(self, names: Sequence[str], category: str, edges: tuple[Manifestation, ...]) -> None:
        group = category or "Other"
        l2 = key_of(f"monarch {group}")
        self._groups.setdefault(l2, Subcategory(id=l2, name=group, zh=group, l1="monarch"))
        row = {
            "id": key_of(f"monarch {names[0]}"), "name": names[0], "zh": names[0], "aliases": tuple(names[1:]),
            "l2": l2, "how_common": "uncommon", "severity": "unknown", "sex": "any",
            "ages": {"min": 0, "max": 120, "typical": (0, 120)}, "manifestations": edges,
        }  # fmt: skip
        disease = Disease.model_validate(row)
        self._diseases[disease.id] = disease
        self._disease_of |= {_key(n): disease.id for n in names}
        self.added += 1

    def graph(self, where: str) -> Graph:
        """The whole, checked; raises DataError where it is no sound graph, or nothing was cited."""
        if not self.edges:
            raise DataError(f"{where} holds no statement with a quotation and its PMID or DOI.", "Give kb/disorders.")
        about = self._graph.about.model_copy(
            update={
                "name": f"{self._graph.about.name}-monarch",
                "origin": "imported",
                "source": f"{self._graph.about.name} graph and Monarch disorder files ({where})",
                "licence": "BSD-3-Clause (Monarch dismech); quotations belong to their publishers",
                "note": f"{self.edges} cited edges; {self.known} diseases known, {self.added} added.",
            }
        )
        top = [Category(id="monarch", name="Monarch disorders", zh="Monarch disorders")] if self._groups else []
        whole = Graph(
            categories=(*self._graph.categories, *top),
            subcategories=(*self._graph.subcategories, *self._groups.values()),
            findings=tuple(self._findings.values()),
            diseases=tuple(self._diseases.values()),
            about=about,
        )
        if problems := problems_of(whole, where):
            raise DataError("\n".join(problems[:SHOWN]), "Nothing was taken from any file.")
        return whole


def _stated(disorder: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str, str]]:
    """The statements that cite, with the kind and the relation of their findings."""
    for key, (kind, relation) in LISTS.items():
        yield from ((row, kind, relation) for row in disorder.get(key) or () if _cited(row))


def _cited(row: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The quotations that support a statement, with a reference that can be looked up."""
    evidence = row.get("evidence")
    return [
        e
        for e in (evidence if isinstance(evidence, list) else ())
        if isinstance(e, dict)
        and e.get("supports") == SUPPORTS
        and _said(e.get("snippet"))
        and _said(e.get("reference")).upper().startswith(CITED)
    ][:MOST]


def _quotes(row: Mapping[str, Any]) -> str:
    return " ".join(f"“{_said(e['snippet'])}” {_said(e['reference'])}" for e in _cited(row))


def _label(term: object) -> str:
    """The name of an ontology's term."""
    inner = term.get("term") if isinstance(term, dict) else None
    return _said(inner.get("label")) if isinstance(inner, dict) else ""


def _said(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _key(words: str) -> str:
    return " ".join(words.casefold().split())
