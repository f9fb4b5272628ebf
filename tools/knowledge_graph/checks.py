"""What is wrong with a graph: every problem at once, whatever file the graph was read from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from tools.knowledge_graph.schema import (
    MAX_SAY,
    MAX_SAY_ZH,
    MIN_A,
    MIN_D,
    MIN_MANIFESTATIONS,
    MIN_SAY,
    About,
    Disease,
    FindingNode,
    Graph,
)

# (node, where it stands) pairs, as read
Read = list[tuple[Any, str]]


def graph_problems(about: About, l1: Read, l2: Read, findings: Read, diseases: Read) -> list[str]:
    """Every problem, each with the file and the id that it concerns.

    A written graph must be full (docs/knowledge-format.md): so many wordings a finding, so many edges a disease.
    """
    full = about.origin == "written"
    problems: list[str] = []
    for level, nodes in (("L1", l1), ("L2", l2), ("finding", findings), ("disease", diseases)):
        problems += _duplicates(level, nodes)
    problems += [] if diseases else ["there is no disease"]
    problems += _taxonomy_problems(l1, l2, diseases)
    problems += _finding_problems(findings, full=full)
    return problems + list(_disease_problems(findings, diseases, full=full))


def problems_of(graph: Graph, where: str) -> list[str]:
    """The problems of a graph in memory; ``where`` names it in each."""
    parts = (graph.categories, graph.subcategories, graph.findings, graph.diseases)
    return graph_problems(graph.about, *([(node, where) for node in nodes] for nodes in parts))


def _duplicates(level: str, nodes: Read) -> Iterator[str]:
    times = Counter(node.id for node, _ in nodes)
    for node, file in nodes:
        if times[node.id] > 1:
            yield f"{file}: {node.id}: {level} id stands {times[node.id]} times"


def _taxonomy_problems(l1: Read, l2: Read, diseases: Read) -> Iterator[str]:
    l1_ids, l2_ids = {n.id for n, _ in l1}, {n.id for n, _ in l2}
    for node, file in l2:
        if node.l1 not in l1_ids:
            yield f"{file}: {node.id}: unknown L1 {node.l1!r}"
    for node, file in diseases:
        if node.l2 not in l2_ids:
            yield f"{file}: {node.id}: unknown L2 {node.l2!r}"
    yield from _unused("L1", l1, {n.l1 for n, _ in l2})
    yield from _unused("L2", l2, {n.l2 for n, _ in diseases})


def _unused(level: str, nodes: Read, used: set[str]) -> Iterator[str]:
    for node, file in nodes:
        if node.id not in used:
            yield f"{file}: {node.id}: orphan, nothing uses this {level}"


def _finding_problems(findings: Read, *, full: bool) -> Iterator[str]:
    broader = {node.id: node.broader for node, _ in findings}
    owner: dict[str, tuple[str, str]] = {}
    for node, file in findings:
        if node.broader is not None and node.broader not in broader:
            yield f"{file}: {node.id}: unknown broader finding {node.broader!r}"
        elif _in_circle(node.id, broader):
            yield f"{file}: {node.id}: its broader findings run in a circle"
        if node.relation == "therapy" and node.kind != "treatment":
            yield f"{file}: {node.id}: a therapy must be of kind treatment"
        if full:
            yield from (f"{file}: {node.id}: {words}" for words in _wrong_wordings(node))
        for phrase in (node.name, *node.say, node.zh, *node.say_zh):
            key = " ".join(phrase.casefold().split())
            first, where = owner.setdefault(key, (node.id, file))
            if first != node.id:
                yield f"{file}: {node.id}: phrase {phrase!r} stands under {first} too ({where})"


def _wrong_wordings(node: FindingNode) -> Iterator[str]:
    if not MIN_SAY <= len(node.say) <= MAX_SAY:
        yield f"{len(node.say)} wordings in say, {MIN_SAY} to {MAX_SAY} are wanted"
    if not 1 <= len(node.say_zh) <= MAX_SAY_ZH:
        yield f"{len(node.say_zh)} wordings in say_zh, 1 to {MAX_SAY_ZH} are wanted"


def _in_circle(start: str, broader: dict[str, str | None]) -> bool:
    seen: set[str] = set()
    at: str | None = start
    while at is not None and at not in seen:
        seen.add(at)
        at = broader.get(at)
    return at is not None


def _disease_problems(findings: Read, diseases: Read, *, full: bool) -> Iterator[str]:
    known = {node.id: node for node, _ in findings}
    used: set[str] = set()
    for disease, file in diseases:
        ids = [m.finding for m in disease.manifestations]
        used.update(ids)
        yield from (f"{file}: {disease.id}: unknown finding {i!r}" for i in ids if i not in known)
        yield from (f"{file}: {disease.id}: finding {i!r} stands twice" for i, n in Counter(ids).items() if n > 1)
        if full:
            yield from (f"{file}: {disease.id}: {words}" for words in _too_few(disease, known))
        elif not ids:
            yield f"{file}: {disease.id}: no manifestation"
        if full and not disease.icd10:
            yield f"{file}: {disease.id}: icd10 is missing"
    general = {} if full else {node.id: node.broader for node, _ in findings}  # a value of a used finding is used
    for node, file in findings:
        if node.id not in used and general.get(node.id) not in used:
            yield f"{file}: {node.id}: orphan, no disease uses this finding"


def _too_few(disease: Disease, known: dict[str, FindingNode]) -> Iterator[str]:
    edges: Sequence[Any] = disease.manifestations
    count_a = sum("a" in m.roles for m in edges)
    count_d = sum("d" in m.roles and not (m.finding in known and known[m.finding].only_shown) for m in edges)
    if len(edges) < MIN_MANIFESTATIONS:
        yield f"{len(edges)} manifestations, at least {MIN_MANIFESTATIONS} are needed"
    if count_a < MIN_A:
        yield f"{count_a} manifestations with role a, at least {MIN_A} are needed"
    if count_d < MIN_D:
        yield f"{count_d} manifestations with role d that are no treatment, at least {MIN_D} are needed"
