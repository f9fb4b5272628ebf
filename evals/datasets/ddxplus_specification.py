"""The graph that DDXPlus' own specification gives: which evidences belong to which condition, with their statements.

It is the generator's own knowledge, without rates: a ceiling for what a graph may know, no result.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evals.datasets.ddxplus_findings import AT, EVIDENCES, STATEMENTS, VALUE, statements
from prompts.errors import DataError
from tools.icd10 import ICD10
from tools.knowledge_graph.building.contract import Named
from tools.knowledge_graph.building.judges import TopicsLocal, relation_of
from tools.knowledge_graph.formats import KIND, slug
from tools.knowledge_graph.schema import Graph

CONDITIONS_FILE = "ddxplus/release_conditions.json"
NOTE = "From the official specification of the generator: a ceiling, no result."


def statement_of(evidence: str, told: dict[str, str], templates: dict[str, Any]) -> str:
    """The sentence of one evidence of a row (``E_55_@_V_14``, ``E_56_@_7``); "" when nothing is worth saying."""
    code, _, value = evidence.partition(AT)
    if evidence in told:
        return told[evidence]
    if evidence in templates["_sentences"]:
        return str(templates["_sentences"][evidence])
    return str(templates[code]).replace(VALUE, str(int(value))) if value.lstrip("-").isdigit() else ""


def read_templates(data: Path) -> dict[str, Any]:
    """``statements_plain.json`` as it is."""
    read: dict[str, Any] = json.loads((data / STATEMENTS).read_bytes())
    return read


async def specification_graph(data: Path, table: ICD10) -> tuple[Graph, dict[str, str]]:
    """The graph, and the conditions -> its diseases.

    A valued evidence is a finding with a narrower one for each value that has words; conditions list evidences.
    """
    try:
        conditions = json.loads((data / CONDITIONS_FILE).read_bytes())
        findings = _findings(statements(data), read_templates(data), json.loads((data / EVIDENCES).read_bytes()))
        coded = [Named(name=name, code=str(c["icd10-id"]).upper()[:3]) for name, c in conditions.items()]
        l2 = await TopicsLocal(table).group(coded, "l2")
        l1 = await TopicsLocal(table).group([Named(name=t.name, code=t.code) for t in l2], "l1")
        of_l2 = {at: slug(t.name) for t in l2 for at in t.members}
        of_l1 = {at: slug(t.name) for t in l1 for at in t.members}
        diseases = [
            _disease(name, c, of_l2[at], coded[at].code, findings) for at, (name, c) in enumerate(conditions.items())
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{CONDITIONS_FILE} does not fit the evidences: {error}.", "Take the official files.") from None
    used = {e["finding"] for d in diseases for e in d["manifestations"]}
    graph = Graph.model_validate(
        {
            "about": {"name": "conditions", "origin": "imported", "source": CONDITIONS_FILE, "note": NOTE},
            "categories": [{"id": slug(t.name), "name": t.name, "zh": t.name} for t in l1],
            "subcategories": [
                {"id": slug(t.name), "name": t.name, "zh": t.name, "l1": of_l1[at]} for at, t in enumerate(l2)
            ],
            "findings": [f for f in findings.values() if f["id"] in used or f["broader"] in used],
            "diseases": diseases,
        }
    )
    return graph, {name: slug(name) for name in conditions}


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
    return {
        "id": slug(name), "name": name, "zh": name, "icd10": code, "l2": l2, "how_common": "common",
        "severity": "unknown", "sex": "any", "ages": {"min": 0, "max": 120, "typical": [0, 120]},
        "manifestations": [
            {"finding": findings[c]["id"], "how_often": "common", "roles": ["d"]} for c in dict.fromkeys(codes)
        ],
    }  # fmt: skip
