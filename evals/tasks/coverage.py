"""`coverage`: what the starter knowledge holds of what patients ask and of the diagnoses that cases end in.

``kqa.statements``: of the statements that physicians say an answer to a real patient's question must have (K-QA), those
that a sentence of the starter library says, as the trained reader judges: of the `NEAREST` sentences by cosine among
those of the documents found for the statement, one that supports it with at least `SURE`. ``kqa.questions``: questions
of which every statement is. ``diagnoses.graph`` and ``.library``: gold diagnoses of AgentClinic's cases that a disease
of the graph, or a text of the library, is named by (one name within the other, whole words). ``agentclinic``,
``strangers_inside``, ``strangers_outside``: cases whose diagnosis stands ``first``, or among ``five``, where every
disease of the graph competes; a case whose diagnosis the graph lacks counts as wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from agent.assembly import open_encoder
from evals.contract import Figure, Task, TaskContext
from evals.datasets.clinical import CASES, read_clinic
from evals.datasets.messages import KQA
from evals.datasets.rows import read_jsonl
from evals.sessions import starter_library
from evals.statistics import clustered_share, share
from evals.tasks.outside import STRANGERS_INSIDE, STRANGERS_OUTSIDE, Stranger
from evals.tasks.verdicts import the_reader
from tools.encoders import Encoder
from tools.icd10 import load_icd10
from tools.knowledge_graph.loader import STARTER, read_graph
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.knowledge_graph.names import DiagnosisNames
from tools.knowledge_graph.schema import Graph
from tools.library.collection import Library
from tools.library.document import Document
from tools.reading.contract import Pair, Reader, Stance
from tools.text.sentences import split_sentences

DOCUMENTS = 8  # ours: documents found for a statement whose sentences are read
NEAREST = 8  # ours: sentences that are read
SURE = 0.5  # ours: even odds, not tuned
SHORTEST = 4  # ours: characters of a name
FIVE = 5  # asked


class KqaRow(BaseModel):
    """A question with the statements that an answer must have."""

    model_config = ConfigDict(frozen=True)

    question: str = Field(min_length=1, alias="Question")
    must_have: tuple[str, ...] = Field(alias="Must_have")


def run(context: TaskContext) -> list[Figure]:
    """Look for every statement, for every diagnosis, and where the diagnoses of cases stand among all diseases."""
    encoder, reader = open_encoder(context.settings, context.home), the_reader()
    library = starter_library(context, encoder)
    rows = context.sample([row for row in read_jsonl(context.data / KQA, KqaRow) if row.must_have])
    said = [[is_said(library, encoder, reader, s) for s in row.must_have] for row in context.each(rows, "statements")]
    out = clustered_share("coverage.kqa.statements", said, context.seed)
    out += share("coverage.kqa.questions", [all(one) for one in said])
    clinic = read_clinic(context.data)
    gold = sorted({case.gold_diagnosis for case in clinic})
    graph = read_graph(STARTER)
    held = {
        "graph": [name for d in graph.diseases for name in (d.name, *d.aliases)],
        "library": [name for d in library.documents for name in (d.title, *re.split(r"[()]", d.title))],
    }
    for room, names in held.items():
        out += share(f"coverage.diagnoses.{room}", [is_named(one, names) for one in gold])
    cases = {"agentclinic": [(c.text, c.gold_diagnosis) for c in context.sample(clinic)]}
    for source, path in {"strangers_inside": STRANGERS_INSIDE, "strangers_outside": STRANGERS_OUTSIDE}.items():
        if context.has(path):
            cases[source] = [(row.text, row.disease) for row in read_jsonl(context.data / path, Stranger)]
    looked = KnowledgeGraph(encoder, context.home.indexes)
    known = DiagnosisNames(graph, load_icd10(context.home.indexes / "icd10.json"))
    for source, told in cases.items():
        places: list[int] = []
        for text, diagnosis in context.each(told, source):
            ranking = looked.look_up(text, limit=FIVE).ranking
            right = [is_right(d.disease, diagnosis, graph, known) for d in ranking]
            places.append(right.index(True) if True in right else FIVE)
        out += share(f"coverage.{source}.first", [place == 0 for place in places])
        out += share(f"coverage.{source}.five", [place < FIVE for place in places])
    return out


def is_right(disease: str, diagnosis: str, graph: Graph, names: DiagnosisNames) -> bool:
    """Whether a disease of the graph is the diagnosis: by its names, its code, or a name within the other."""
    node = graph.disease[disease]
    return names.disease(diagnosis) == disease or is_named(diagnosis, (node.name, *node.aliases))


def is_said(library: Library, encoder: Encoder, reader: Reader, statement: str) -> bool:
    """Whether a sentence of the library says it, as the reader judges."""
    pairs = [pair for hit in library.search(statement, DOCUMENTS) for pair in _pairs(statement, hit.document)]
    if not pairs:
        return False
    near = encoder.encode_documents([p.sentence for p in pairs]) @ encoder.encode_queries([statement])[0]
    read = reader.read([pairs[at] for at in np.argsort(-near)[:NEAREST]])
    return any(r.stance(Stance.SUPPORTS) >= SURE for r in read)


def _pairs(statement: str, document: Document) -> list[Pair]:
    sentences = [s.of(document.text).strip() for s in split_sentences(document.text)]
    kept = [s for s in sentences if s and not s.startswith("#")]
    return [Pair(statement, s, document.title, before) for before, s in zip(["", *kept], kept, strict=False)]


def is_named(diagnosis: str, names: Iterable[str]) -> bool:
    """Whether a name stands in a diagnosis, or a diagnosis in a name, as whole words."""

    def folded(name: str) -> str:
        plain = name.lower().replace("'s", "").replace("ae", "e").replace("oe", "e")
        return f" {' '.join(re.findall(r'[a-z0-9]+', plain))} "

    wanted = folded(diagnosis)
    return any(name in wanted or wanted in name for name in map(folded, names) if len(name) >= SHORTEST + 2)


TASK = Task(
    name="coverage",
    what="what the starter knowledge holds: statements due to patients' questions, diagnoses of cases",
    inputs=(KQA, CASES),
    expected="3 minutes",
    limit=200,
    run=run,
)
