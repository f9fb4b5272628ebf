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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from agent.agent import Agent
from evals.contract import Figure, Task, TaskContext
from evals.datasets.cases import DIFFERENTIAL, FIRST, SECOND, ChineseCase, DifferentialCase, read_cases, read_chinese
from evals.datasets.ddxplus import CODES, TEXTS
from evals.sessions import assembled
from evals.statistics import RESAMPLES, ends, share
from evals.tasks.cases import SHIPPED
from evals.tasks.differential.graphs import train_records
from graphs.completeness.contract import Decision, GateDecision, Label
from graphs.context import Parts
from tools.contract import Differential
from tools.encoders import Encoder
from tools.icd10 import load_icd10
from tools.indexes.lexical import Lexicon
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.knowledge_graph.record_ranking import RecordCollection
from tools.library.collection import Library
from tools.library.document import SPECIAL_TOKENS, pack
from tools.library.search import lexical, make_query
from tools.text.language import HAN
from tools.text.sentences import Span, sentences
from tools.text.tokens import tokens

SHOWN = 5  # lines of the differential whose names are looked at, as many as the agent shows
DEPTHS = (5, 10)  # pages among which the right one is looked for
SETS = {"first": FIRST, "second": SECOND}


def run(context: TaskContext) -> list[Figure]:
    """Ask every part about every case."""
    parts, encoder = assembled(context.settings, context.home)
    with Agent(context.settings, parts=parts):
        asked = Asked.open(context, parts, encoder)
        out: list[Figure] = []
        for name, path in SETS.items():
            cases = context.sample(read_chinese(path))
            looked = [asked.look(c) for c in context.each(cases, f"{name} set")]
            out += [f.model_copy(update={"name": f"{name}.{f.name}"}) for f in figures_of(looked, context.seed)]
        written = [c for c in read_cases(SHIPPED, DIFFERENTIAL, DifferentialCase) if c.language == "en"]
        rows = [(c.disease, asked.orders(c.text)) for c in context.each(written, "English cases")]
        encoder.close()
    return out + page_figures("english.pages", rows)


@dataclass(frozen=True)
class Asked:
    """What every case is put to: the product's gate and first look-up, the graph with the records, and the pages."""

    parts: Parts
    graph: KnowledgeGraph
    english: Pages
    chinese: Pages

    @classmethod
    def open(cls, context: TaskContext, parts: Parts, encoder: Encoder) -> Asked:
        """Read graph, records and library."""
        indexes = context.home.indexes
        records = RecordCollection(train_records(context.data), encoder)
        graph = KnowledgeGraph(encoder, indexes, records=records, table=load_icd10(indexes / "icd10.json"))
        library = Library.open(indexes / "library", encoder)
        pages = [Page(d.id.partition(":")[2], f"{d.title}\n{d.text}") for d in library.documents]
        entries = [Page(d.id, graph.evidence_for(d.id, "zh").text) for d in graph.graph.diseases]
        return cls(parts, graph, Pages(pages, encoder), Pages(entries, encoder))

    def look(self, case: ChineseCase) -> Looked:
        """All that is made of a case."""
        chinese = {"dense": self.chinese.by_meaning(case.text), "bm25": self.chinese.by_words(case.text)}
        orders = {"pages": self.orders(case.text), "sparse_pages": self.orders(case.sparse), "chinese_pages": chinese}
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


@dataclass(frozen=True)
class Shown:
    """What a text was given: the direct arm's differential, the retrieve arm's ranking, the gate's decision."""

    direct: Differential
    retrieve: tuple[str, ...]
    gate: GateDecision


Orders = Mapping[str, Sequence[str]]  # a way to search -> ids of pages, best first


@dataclass(frozen=True)
class Looked:
    """A case, what its complete and its sparse text were given, and orders of pages by the collection's name."""

    case: ChineseCase
    complete: Shown
    sparse: Shown
    pages: Mapping[str, Orders] = field(default_factory=dict)


def figures_of(looked: Sequence[Looked], seed: int) -> list[Figure]:
    """Every figure of one set of cases."""
    out = [*text_figures([x.case for x in looked]), *label_figures(looked), *name_figures(looked)]
    out += arm_figures("complete", [(x.case, x.complete) for x in looked])
    out += arm_figures("sparse", [(x.case, x.sparse) for x in looked])
    for style in ("lay", "clinical"):
        out += arm_figures(style, [(x.case, x.complete) for x in looked if x.case.style == style])
    out += told_apart([x.complete.gate.score for x in looked], [x.sparse.gate.score for x in looked], seed)
    for name in looked[0].pages if looked else ():
        out += page_figures(name, [(x.case.disease, x.pages[name]) for x in looked])
    return out


def text_figures(cases: Sequence[ChineseCase]) -> list[Figure]:
    """Whether sentences are cut as written, and whether medical words stay whole as tokens."""
    cut = [({s.of(c.text) for s in sentences(c.text)}, c) for c in cases]
    words = [(set(tokens(c.text)), c) for c in cases]
    return [
        *share("units.cases.as_written", [spans == set(c.sentences) for spans, c in cut]),
        *share("units.sentences.as_written", [s in spans for spans, c in cut for s in c.sentences]),
        *share("tokens.terms.whole", [t in found for found, c in words for t in c.terms]),
    ]


def label_figures(looked: Sequence[Looked]) -> list[Figure]:
    """Labels as expected, over all units and over those that should have each label; a lost unit is wrong."""
    pairs = [
        (letter, labels.get(sentence))
        for x in looked
        for labels in [{u.text: u.label for u in x.complete.gate.units}]
        for sentence, letter in zip(x.case.sentences, x.case.labels, strict=bool(x.case.labels))
    ]
    wanted = [letter for letter, _ in pairs]
    out = share("labels.units.as_expected", [letter == got for letter, got in pairs])
    for label in Label:
        of_label = [got == want for want, got in pairs if want == label]
        out += share(f"labels.expected_{label.lower()}.as_expected", of_label)
    return out + share("labels.majority.as_expected", [w == max(Label, key=wanted.count) for w in wanted])


def name_figures(looked: Sequence[Looked]) -> list[Figure]:
    """Names that a Chinese reader is shown: of diseases, and of findings for and against."""
    lines = [d for x in looked for d in x.complete.direct.ranking[:SHOWN]]
    findings = [f for d in lines for f in (*d.findings_for, *d.findings_against)]
    return [
        *share("names.diseases.chinese", [HAN.search(d.name_zh) is not None for d in lines]),
        *share("names.findings.chinese", [HAN.search(f) is not None for f in findings]),
    ]


def arm_figures(setting: str, rows: Sequence[tuple[ChineseCase, Shown]]) -> list[Figure]:
    """Both arms and the gate over the texts of one setting."""
    decisions = [s.gate.decision for _, s in rows]
    direct = [tuple(r.disease for r in s.direct.ranking) for _, s in rows]
    arms = {"direct": direct, "retrieve": [s.retrieve for _, s in rows]}
    hits = {
        (arm, k): [c.disease in r[:k] for (c, _), r in zip(rows, arms[arm], strict=True)]
        for arm in arms
        for k in (1, 3)
    }
    enough = [d is Decision.DIRECT for d in decisions]
    first, learnt = hits["direct", 1], hits["retrieve", 1]
    return [
        *(f for (arm, k), hit in hits.items() for f in share(f"{setting}.{arm}.top{k}", hit)),
        *share(f"{setting}.gate.retrieval_rate", [not e for e in enough]),
        *share(f"{setting}.gate.warned", [d is Decision.RETRIEVE_WITH_WARNING for d in decisions]),
        *share(f"{setting}.gate.accuracy", [a if e else b for e, a, b in zip(enough, first, learnt, strict=True)]),
        *share(f"{setting}.gate.wrong_enough", [not hit for e, hit in zip(enough, first, strict=True) if e]),
    ]


def told_apart(complete: Sequence[float], sparse: Sequence[float], seed: int) -> list[Figure]:
    """AUROC of the gate's score, complete against sparse, with an interval over cases; nothing for no case."""
    count = len(complete)
    if not count:
        return []
    pairs = (np.sign(np.subtract.outer(complete, sparse)) + 1) / 2  # (complete, sparse): 1 in order, 0.5 level, else 0
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), RESAMPLES) / count
    ci95 = ends(((drawn @ pairs) * drawn).sum(axis=1))
    return [Figure(name="gate.complete_over_sparse.auroc", value=float(pairs.mean()), n=count, ci95=ci95)]


def page_figures(name: str, rows: Sequence[tuple[str, Orders]]) -> list[Figure]:
    """Recall of the right page (its id, and the orders that were found), in percent, by every way to search."""
    ways = list(rows[0][1]) if rows else []
    return [
        figure
        for way in ways
        for depth in DEPTHS
        for figure in share(f"{name}.{way}.recall@{depth}", [right in found[way][:depth] for right, found in rows])
    ]


class Page(NamedTuple):
    """A text that can be the right one, by the id of its disease where it is about one."""

    id: str
    text: str


class Pages:
    """Pages in memory, each cut into windows that the encoder reads whole."""

    def __init__(self, pages: Sequence[Page], encoder: Encoder) -> None:
        self._ids, self._encoder = [p.id for p in pages], encoder
        self._lexicon = Lexicon([p.text for p in pages])
        budget = encoder.limit - SPECIAL_TOKENS
        windows = [[s.of(p.text) for s in pack(p.text, Span(0, len(p.text)), budget, encoder)] for p in pages]
        self._owner = np.repeat(np.arange(len(pages)), [len(w) for w in windows])
        self._vectors = encoder.encode_documents([text for texts in windows for text in texts])

    def by_words(self, text: str) -> list[str]:
        """Ids of the pages that share a word with the text, best first."""
        scores = self._lexicon.scores(lexical(text))
        return [self._ids[i] for i in np.argsort(-scores, kind="stable") if scores[i] > 0]

    def by_meaning(self, text: str) -> list[str]:
        """Ids of all pages, by the most similar pair of a window and a piece of the text."""
        similar = (self._vectors @ make_query(text, (), self._encoder).vectors.T).max(axis=1)
        best = np.full(len(self._ids), -1.0, dtype=np.float32)
        np.maximum.at(best, self._owner, similar)
        return [self._ids[i] for i in np.argsort(-best, kind="stable")]


def orders(pages: Pages, text: str, english: Differential) -> dict[str, list[str]]:
    """Orders of English pages: of the text itself, of the English names of what the graph read in it, the graph's own.

    Args:
        english: the look-up of the text with English names.
    """
    read = ". ".join(dict.fromkeys(f.name for f in english.findings if f.id and f.present))
    return {
        "dense": pages.by_meaning(text),
        "bm25": pages.by_words(text),
        "findings_dense": pages.by_meaning(read) if read else [],
        "findings_bm25": pages.by_words(read) if read else [],
        "graph": [r.disease for r in english.ranking],
    }


TASK = Task(
    name="completeness_chinese",
    what="written Chinese cases, complete and sparse: "
    "units, tokens, labels, gate, both arms, pages by words and meaning",
    inputs=(TEXTS, CODES),
    expected="2 minutes",
    limit=100,
    run=run,
)
