"""Graphs over DDXPlus's conditions by others: its own specification's, and the one that MedRAG's authors released.

The specification is the generator's own knowledge, without rates: a ceiling for what a graph may know, no result.
MedRAG's graph (arXiv 2502.04413, CC BY-NC 4.0) is mended as far as it must be to be used; of every figure with it that
is to be said. What the import mends is in its note (`tools.knowledge_graph.formats`). Here two second names are
joined to their diseases, and those without a class are put into one of the file's own (``medrag_diseases.yaml``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field

from evals.datasets.ddxplus import AT, EVIDENCES, RELEASED_CONDITIONS, VALUE, read_templates, statements
from evals.datasets.rows import read_object, read_yaml_rows
from prompts.errors import DataError
from tools.evidence import Frozen
from tools.icd10 import ICD10
from tools.knowledge_graph.building.contract import Named
from tools.knowledge_graph.building.judges import TopicsLocal, relation_of
from tools.knowledge_graph.formats import KIND, read_any
from tools.knowledge_graph.schema import Disease, Graph, slug

TRIPLES = "ddxplus/medrag_ddxplus_kg.csv"
DISEASES = Path(__file__).parent / "medrag_diseases.yaml"
NOTE = "From the official specification of the generator: a ceiling, no result."


async def specification_graph(data: Path, table: ICD10) -> tuple[Graph, dict[str, str]]:
    """The graph, and the conditions -> its diseases.

    A valued evidence is a finding with a narrower one for each value that has words; conditions list evidences.
    """
    conditions = read_object(data / RELEASED_CONDITIONS)
    try:
        findings = _findings(statements(data), read_templates(data), read_object(data / EVIDENCES))
        coded = [Named(name=name, code=str(c["icd10-id"]).upper()[:3]) for name, c in conditions.items()]
        l2 = await TopicsLocal(table).group(coded, "l2")
        l1 = await TopicsLocal(table).group([Named(name=t.name, code=t.code) for t in l2], "l1")
        of_l2 = {at: slug(t.name) for t in l2 for at in t.members}
        of_l1 = {at: slug(t.name) for t in l1 for at in t.members}
        diseases = [
            _disease(name, c, of_l2[at], coded[at].code, findings) for at, (name, c) in enumerate(conditions.items())
        ]
    except (ValueError, KeyError, TypeError) as error:
        what = f"{RELEASED_CONDITIONS} does not fit the evidences: {error}."
        raise DataError(what, "Take the official files.") from None
    used = {e["finding"] for d in diseases for e in d["manifestations"]}
    graph = Graph.model_validate(
        {
            "about": {"name": "conditions", "origin": "imported", "source": RELEASED_CONDITIONS, "note": NOTE},
            "categories": [_named(t.name) for t in l1],
            "subcategories": [_named(t.name) | {"l1": of_l1[at]} for at, t in enumerate(l2)],
            "findings": [f for f in findings.values() if f["id"] in used or f["broader"] in used],
            "diseases": diseases,
        }
    )
    return graph, {name: slug(name) for name in conditions}


def _named(name: str) -> dict[str, Any]:
    return {"id": slug(name), "name": name, "zh": name}


def _findings(told: dict[str, str], templates: dict[str, Any], release: dict[str, Any]) -> dict[str, dict[str, Any]]:
    out: dict[str, dict[str, Any]] = {}
    used: set[str] = set()
    for code, evidence in release.items():
        general = str(templates[code]).replace(VALUE, "").strip(" .")
        out[code] = _finding(code, general, None, used, history=bool(evidence["is_antecedent"]))
        for value in evidence["value_meaning"]:
            key = f"{code}{AT}{value}"
            if key in told and told[key].strip(" .").casefold() not in used:
                out[key] = _finding(key, told[key].strip(" ."), slug(code), used, history=False)
    return out


def _finding(code: str, name: str, broader: str | None, used: set[str], *, history: bool) -> dict[str, Any]:
    relation = relation_of(name)
    relation = "anamnesis" if history and relation == "symptomatology" else relation
    used.add(name.casefold())
    kind = KIND[relation] if relation != "immunology" else "history"
    return {"id": slug(code), "name": name, "zh": name, "relation": relation, "kind": kind, "broader": broader}


def _disease(
    name: str, condition: dict[str, Any], l2: str, code: str, findings: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    codes = [c for c in (*condition["symptoms"], *condition["antecedents"]) if c in findings]
    return _named(name) | {
        "icd10": code, "l2": l2, "how_common": "common",
        "severity": "unknown", "sex": "any", "ages": {"min": 0, "max": 120, "typical": [0, 120]},
        "manifestations": [
            {"finding": findings[c]["id"], "how_often": "common", "roles": ["d"]} for c in dict.fromkeys(codes)
        ],
    }  # fmt: skip


class Placed(Frozen):
    """A disease of MedRAG's file, the condition that it is, the class we put it in, and the disease that it repeats."""

    disease: str = Field(min_length=1)
    condition: str = Field(min_length=1)
    place: str = ""
    same_as: str = ""


def medrag_graph(data: Path) -> tuple[Graph, dict[str, str]]:
    """The mended graph, and the conditions -> its diseases.

    Raises:
        DataError: the file's diseases are others than those of ``medrag_diseases.yaml``.
    """
    graph = read_any(data / TRIPLES)
    placed = {p.disease: p for p in read_yaml_rows(DISEASES, Placed)}
    if set(placed) != set(graph.disease):
        odd = ", ".join(sorted(set(placed) ^ set(graph.disease)))
        raise DataError(f"{Path(TRIPLES).name} has other diseases than expected: {odd}.", "Give the released file.")
    diseases = tuple(_mended(d, placed[d.id], graph, placed) for d in graph.diseases if not placed[d.id].same_as)
    used = {d.l2 for d in diseases}
    subcategories = tuple(s for s in graph.subcategories if s.id in used)
    above = {s.l1 for s in subcategories}
    mended = Graph(  # anew: a copy would keep what the graph has looked up already
        categories=tuple(c for c in graph.categories if c.id in above),
        subcategories=subcategories,
        findings=graph.findings,
        diseases=diseases,
        about=graph.about,
    )
    return mended, {p.condition: p.disease for p in placed.values() if not p.same_as}


def _mended(disease: Disease, placed: Placed, graph: Graph, all_placed: dict[str, Placed]) -> Disease:
    edges = list(disease.manifestations)
    for other in graph.diseases:
        if all_placed[other.id].same_as == disease.id:
            known = {e.finding for e in edges}
            edges += [e for e in other.manifestations if e.finding not in known]
    return disease.model_copy(update={"l2": placed.place or disease.l2, "manifestations": tuple(edges)})
