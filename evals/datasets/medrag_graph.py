"""The graph that MedRAG's authors released (arXiv 2502.04413, CC BY-NC 4.0), mended as far as it must be to be used.

What the import mends is in its note (`tools.knowledge_graph.formats`). Here two second names are joined to
their diseases and the diseases without a class are put into one of the file's own classes
(``medrag_diseases.yaml``). Of every figure with this graph that is to be said.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from evals.datasets.rows import read_yaml_rows
from prompts.errors import DataError
from tools.knowledge_graph.formats import read_any
from tools.knowledge_graph.schema import Disease, Graph

TRIPLES = "ddxplus/medrag_ddxplus_kg.csv"
DISEASES = Path(__file__).parent / "medrag_diseases.yaml"


class Placed(BaseModel):
    """A disease of the file, the condition that it is, the class that we put it in, and the disease that it repeats."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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
