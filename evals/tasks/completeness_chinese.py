"""`completeness_chinese`: written Chinese cases through units, tokens, labels, the gate, both arms and every search.

Two sets: ``first`` is the one that faults were looked for in and rules mended by, ``second`` was only measured.
``complete`` is the whole case, ``sparse`` what is left when most is not told; ``lay`` and ``clinical`` are the complete
ones by style. ``direct`` and ``retrieve`` are the arms of `completeness`: the graph's first look-up, and with what the
98 train rows of DDXPlus, which are English, say. The gate is the product's own: ``retrieval_rate``, ``wrong_enough``
(share of direct answers that are wrong), ``complete_over_sparse.auroc`` (0.5: it does not tell them apart).
``pages``: the right page of the English library among the first k, by the Chinese text itself (``dense``: the encoder,
``bm25``), by the English names of what the graph read in it (``findings_*``), and by the graph's ranking (``graph``);
``english.pages`` are the same for the written English cases, ``chinese_pages`` for the graph's entries in Chinese.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evals.chinese_figures import SHOWN, Looked, Shown, figures_of, page_figures
from evals.contract import Figure, Task, TaskContext
from evals.datasets.cases import DIFFERENTIAL, FIRST, SECOND, ChineseCase, DifferentialCase, read_cases, read_chinese
from evals.datasets.ddxplus import CODES, TEXTS
from evals.page_orders import Page, Pages, orders
from evals.tasks.cases import SHIPPED
from tools.contract import Differential
from tools.encoders import Encoder
from tools.icd10 import load_icd10
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.library.collection import Library

if TYPE_CHECKING:
    from agent.sessions import Home
    from evals.encoder import EvalEncoder
    from graphs.context import Parts
    from tools.embedding_cache import CachedEncoder

WHAT = "written Chinese cases, complete and sparse: units, tokens, labels, gate, both arms, pages by words and meaning"


SETS = {"first": FIRST, "second": SECOND}


def run(context: TaskContext) -> list[Figure]:
    """Ask every part about every case."""
    from agent.agent import Agent
    from agent.assembly import assemble
    from agent.sessions import Home
    from evals.agent_runs import cached

    home = Home(context.settings.home).prepare()
    encoders: list[EvalEncoder] = []

    def wrap(encoder: CachedEncoder) -> EvalEncoder:
        encoders.append(cached(encoder, home))
        return encoders[-1]

    parts = assemble(context.settings, home, wrap=wrap)
    with Agent(context.settings, parts=parts):
        asked = Asked.open(context, parts, home, encoders[-1])
        out: list[Figure] = []
        for name, path in SETS.items():
            cases = context.sample(read_chinese(path))
            looked = [asked.look(c) for c in context.tick(cases, f"{name} set", len(cases))]
            out += [f.model_copy(update={"name": f"{name}.{f.name}"}) for f in figures_of(looked, context.seed)]
        written = [c for c in read_cases(SHIPPED, DIFFERENTIAL, DifferentialCase) if c.language == "en"]
        rows = [(c.disease, asked.orders(c.text)) for c in context.tick(written, "English cases", len(written))]
        encoders[-1].close()
    return out + page_figures("english.pages", rows)


@dataclass(frozen=True)
class Asked:
    """What every case is put to: the product's gate and first look-up, the graph with the records, and the pages."""

    parts: Parts
    graph: KnowledgeGraph
    english: Pages
    chinese: Pages

    @classmethod
    def open(cls, context: TaskContext, parts: Parts, home: Home, encoder: Encoder) -> Asked:
        """Read graph, records and library."""
        from evals.differential_graphs import train_records
        from tools.knowledge_graph.record_ranking import RecordCollection

        records = RecordCollection(train_records(context.data), encoder)
        graph = KnowledgeGraph(encoder, home.indexes, records=records, table=load_icd10(home.indexes / "icd10.json"))
        library = Library.open(home.indexes / "library", encoder)
        pages = [Page(d.id.partition(":")[2], f"{d.title}\n{d.text}") for d in library.documents]
        entries = [Page(d.id, graph.evidence_for(d.id, "zh").text) for d in graph.graph.diseases]
        return cls(parts, graph, Pages(pages, encoder), Pages(entries, encoder))

    def look(self, case: ChineseCase) -> Looked:
        """All that is made of a case."""
        chinese = {"dense": self.chinese.by_meaning(case.text), "bm25": self.chinese.by_words(case.text)}
        orders = {
            "pages": self.orders(case.text),
            "sparse_pages": self.orders(case.sparse),
            "chinese_pages": chinese,
        }
        return Looked(case, self.shown(case.text), self.shown(case.sparse), orders)

    def shown(self, text: str) -> Shown:
        """What gate and arms make of a text; the gate sees the agent's own first look-up."""
        first: Differential = self.parts.look_up(text, "zh", ())
        gate = asyncio.run(self.parts.gate.assess(text, "case", first))
        everything = 2 * len(self.graph.graph.diseases)  # more than there are, those that only records have among them
        learnt = self.graph.look_up(text, "zh", everything, explained=0, learn=True)
        direct = self.graph.look_up(text, "zh", everything, explained=SHOWN)
        return Shown(direct, tuple(r.disease for r in learnt.ranking), gate)

    def orders(self, text: str) -> dict[str, list[str]]:
        """Orders of the English library's pages."""
        return orders(self.english, text, self.graph.look_up(text, "en"))


TASK = Task(
    name="completeness_chinese",
    what=WHAT,
    inputs=(TEXTS, CODES),
    expected="2 minutes",
    limit=100,
    run=run,
)
