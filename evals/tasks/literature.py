"""`literature`: nine ways to find the documents that answer a question, plain and told as a narrative (CoMeta).

Collection: full abstracts, and BioASQ's gold documents as merged snippets. The snippets were chosen because they
answer, so search over them flatters every stream alike: compare streams here, not figures with those of papers.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agent.assembly import open_search
from agent.cli.console import say
from evals.contract import Figure, Task, TaskContext
from evals.datasets import literature as data
from evals.datasets.bioasq import SNIPPETS
from evals.datasets.literature import LiteratureDocument, LiteratureQuestion
from evals.runner import data_sha256
from evals.sessions import encoders
from evals.statistics import mean, median, paired_difference, reciprocal_rank, share
from prompts.errors import InputError
from tools.encoders import Encoder, Vectors
from tools.files import locked
from tools.fusion import reciprocal_rank_fusion
from tools.indexes.lexical import Lexicon
from tools.literature.adapt_e.contract import QueryPlanner
from tools.literature.hybrid import HybridCollection, best, order_pool
from tools.literature.ladder import Climb, climb
from tools.mirror.database import FORMAT as MIRROR
from tools.mirror.engine import Mirror
from tools.mirror.load import load_records
from tools.mirror.records import MeshHeading, MirrorRecord
from tools.reading.corpus import BIOASQ, PUBMEDQA

STREAMS = ("raw", "adapt_e", "bm25", "dense", "rrf_plain", "cometa", "hybrid", "pool_rrf", "pool_weighted")
HITS = (1, 5, 10)  # with CoMeta's Hit@10
MRR_DEPTH, RECALL_DEPTH = 10, 20  # ours
COMPARED = (("hybrid", "rrf_plain"), ("pool_weighted", "pool_rrf"))
DEPTH = 100  # ours: documents that a stream gives to a fusion
ENOUGH = 60  # ours: as the setting of the literature tool
FORMAT = 1  # raised with every change of what is built here
CHUNK = 1024  # ours: documents embedded between two steps of the progress bar


class Found(NamedTuple):
    """What a stream found, and the milliseconds beyond the encoder's own."""

    ids: list[str]
    ms: float


class Answer(NamedTuple):
    """Every stream's result for a question, with the ladder that Adapt-E climbed; ``refused`` is the raw query's."""

    streams: dict[str, Found]
    climb: Climb
    refused: bool


def run(context: TaskContext) -> list[Figure]:
    """Search every question in every way, and count."""
    documents = data.read_collection(context.data)
    held = frozenset(d.pmid for d in documents)
    bioasq = data.read_bioasq(context.data, held)
    pubmedqa = data.read_pubmedqa(context.data, held)
    narratives = context.sample(data.read_narratives(context.data / data.NARRATIVES, bioasq))
    told = {n.id for n in narratives}
    sets = {
        "bioasq": context.sample(bioasq),
        "pubmedqa": context.sample(pubmedqa),
        "pubmedqa_narrative": context.sample(data.read_narratives(data.PUBMEDQA_NARRATIVES, pubmedqa)),
        "narrative": narratives,
        "narrative_source": [q for q in bioasq if q.id in told],  # the plain questions of the narratives
    }
    folder, lexicon = prepared(context, documents)
    texts = {d.pmid: text_of(d) for d in documents}
    out = [Figure(name="collection.all.documents", value=len(documents), n=len(documents))]
    with encoders(context.settings, context.home) as (plain, cached):
        vectors = vectors_of(list(texts.values()), plain, context, "vectors")
        collection = HybridCollection(list(texts), lexicon, vectors)
        planner = open_search(context.settings, context.home, folder, say).planner
        streams = Streams(Mirror.open(folder), planner, collection, texts)
        for name, questions in sets.items():
            asked = cached.encode_queries([q.text for q in questions])
            rows = context.each(list(zip(questions, asked, strict=True)), name)
            answers = [asyncio.run(streams.answer(question.text, vector)) for question, vector in rows]
            out += figures_of(name, questions, answers, context.seed)
    return out


def figures_of(
    name: str, questions: Sequence[LiteratureQuestion], answers: Sequence[Answer], seed: int
) -> list[Figure]:
    """Every figure of one set of questions; paired differences are of Hit@10 in points, of the others in 0..1."""
    golds = [q.gold for q in questions]

    def of(stream: str, metric: Callable[[list[str], frozenset[str]], float]) -> list[float]:
        return [metric(a.streams[stream].ids, gold) for a, gold in zip(answers, golds, strict=True)]

    def hit(k: int) -> Callable[[list[str], frozenset[str]], bool]:
        return lambda ids, gold: bool(gold.intersection(ids[:k]))

    def rank(ids: list[str], gold: frozenset[str]) -> float:
        return reciprocal_rank(ids, gold, MRR_DEPTH)

    def found(ids: list[str], gold: frozenset[str]) -> float:
        return recall(ids, gold, RECALL_DEPTH)

    out: list[Figure] = []
    for stream in STREAMS:
        own = f"{stream}.{name}"
        for k in HITS:
            out += share(f"{own}.hit@{k}", [bool(h) for h in of(stream, hit(k))])
        out += mean(f"{own}.mrr@{MRR_DEPTH}", of(stream, rank), seed)
        out += mean(f"{own}.recall@{RECALL_DEPTH}", of(stream, found), seed)
        out += share(f"{own}.zero_hit_rate", [not a.streams[stream].ids for a in answers])
        out += median(f"{own}.ms", [a.streams[stream].ms for a in answers], seed)
    for first, second in COMPARED:
        for metric, values in (("hit@10", hit(10)), ("mrr@10", rank), ("recall@20", found)):
            scale = 100.0 if metric == "hit@10" else 1.0
            left, right = ([scale * v for v in of(stream, values)] for stream in (first, second))
            out += paired_difference(f"{first}_over_{second}.{name}.{metric}", left, right, seed)
    out += mean(f"adapt_e.{name}.rungs", [float(len(a.climb.steps)) for a in answers], seed)
    for kind in sorted({step.rung for a in answers for step in a.climb.steps}):
        counts = [float(s.count) for a in answers for s in a.climb.steps if s.rung == kind]
        out += median(f"adapt_e.{name}.{kind}_documents", counts, seed)
    return out + share(f"raw.{name}.refused", [a.refused for a in answers])


def recall(ids: Sequence[str], gold: frozenset[str], depth: int) -> float:
    """The share of the gold documents among the first ``depth``, 0..1."""
    return len(gold.intersection(ids[:depth])) / len(gold)


class Streams:
    """Searches one collection in every way.

    Args:
        mirror: the Boolean engine.
        planner: Adapt-E's planner.
        collection: words and vectors, ids being PMIDs.
        texts: the documents' texts by PMID.
    """

    def __init__(
        self, mirror: Mirror, planner: QueryPlanner, collection: HybridCollection, texts: Mapping[str, str]
    ) -> None:
        self._mirror, self._planner, self._collection = mirror, planner, collection
        self._texts, self._places = texts, {key: n for n, key in enumerate(collection.ids)}

    async def answer(self, text: str, vector: Vectors) -> Answer:
        """All streams for a question; ``vector`` is its embedding."""
        ids, vectors = self._collection.ids, self._collection.vectors
        started = time.perf_counter()
        try:  # the question as it stands, read as PubMed reads it; one that the language refuses finds nothing
            read, refused = list(self._mirror.find(text, ENOUGH).ids), False
        except InputError:
            read, refused = [], True
        raw = Found(read, _since(started))
        started = time.perf_counter()
        plan = await self._planner.plan(text, case=False)
        planned = _since(started)
        climbed = await climb(self._mirror, plan.expressions, ENOUGH)
        adapt_e = Found(list(climbed.ids), _since(started))
        started = time.perf_counter()
        scores = self._collection.lexicon.scores(text)
        bm25 = Found([ids[i] for i in best(scores, DEPTH) if scores[i] > 0], _since(started))
        started = time.perf_counter()
        dense = Found([ids[i] for i in best(np.asarray(vectors @ vector), DEPTH)], _since(started))
        started = time.perf_counter()
        ranked = [r.id for r in self._collection.rank(text, plan, vector, DEPTH)]
        hybrid = Found(ranked, planned + _since(started))
        # The ladder's own records in another order, as with live PubMed: by ranks, and by weighted scores.
        started = time.perf_counter()
        pool = {key: float(vectors[self._places[key]] @ vector) for key in adapt_e.ids}
        by_cosine = Found(sorted(pool, key=lambda key: (-pool[key], key)), _since(started))
        started = time.perf_counter()
        weighed = order_pool(text, plan, {key: self._texts[key] for key in pool}, pool)
        weighted = Found([r.id for r in weighed], adapt_e.ms + _since(started))
        found = (raw, adapt_e, bm25, dense, _fused(bm25, dense), _fused(adapt_e, dense), hybrid)
        every = (*found, _fused(adapt_e, by_cosine), weighted)
        return Answer(dict(zip(STREAMS, every, strict=True)), climbed, refused)


def _fused(*parts: Found) -> Found:
    started = time.perf_counter()
    fused = reciprocal_rank_fusion({str(n): part.ids for n, part in enumerate(parts)})
    return Found([f.id for f in fused][:DEPTH], sum(p.ms for p in parts) + _since(started))


def _since(started: float) -> float:
    return 1000 * (time.perf_counter() - started)


def prepared(context: TaskContext, documents: Sequence[LiteratureDocument]) -> tuple[Path, Lexicon]:
    """The folder of the mirror of the collection, and its words; built the first time and kept by its content."""
    digest = data_sha256(context.data, (data.ABSTRACTS, SNIPPETS))[:16]
    folder = context.home.cache / "evaluations" / f"literature-{digest}"

    def build() -> None:
        rows = map(mirror_record, context.each(documents, "mirror"))
        load_records(folder / "mirror", rows, source="literature evaluation")
        Lexicon([text_of(d) for d in context.each(documents, "words")]).save(folder / "words")

    build_once(folder, build)
    return folder / "mirror", Lexicon.load(folder / "words", len(documents))


def build_once(folder: Path, build: Callable[[], None]) -> None:
    """Build what is kept in a folder, whose name must change with the documents, where it is not there whole."""
    done = folder / f"built-{FORMAT}-{MIRROR}"
    with locked(folder):
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            build()
            done.touch()


def text_of(document: LiteratureDocument) -> str:
    """What is embedded and searched by words: the title, where there is one, and the abstract."""
    return f"{document.title}\n{document.abstract}" if document.title else document.abstract


def vectors_of(texts: Sequence[str], encoder: Encoder, context: TaskContext, label: str) -> Vectors:
    """Array (len(texts), dimension); what was embedded before comes from the encoder's cache.

    Texts are embedded by length, because a batch is as slow as its longest text. A run that is cut off goes on where
    it was.
    """
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    vectors = np.empty((len(texts), encoder.dimension), dtype=np.float32)
    for at in context.each(range(0, len(order), CHUNK), label):
        places = order[at : at + CHUNK]
        vectors[places] = encoder.encode_documents([texts[i] for i in places])
    return vectors


def mirror_record(document: LiteratureDocument, headings: Iterable[str] | None = None) -> MirrorRecord:
    """A document as a record of a mirror; its MeSH headings without qualifiers and stars, unless others are given."""
    names: Iterator[str] = (name.partition("/")[0].strip("*") for name in document.mesh)
    return MirrorRecord(
        pmid=document.pmid,
        title=document.title,
        abstract=document.abstract,
        date=str(document.year or ""),
        journal=document.journal,
        publication_types=document.publication_types,
        mesh=tuple(MeshHeading(name=n) for n in (headings if headings is not None else dict.fromkeys(names)) if n),
    )


TASK = Task(
    name="literature",
    what="documents that answer a question, by nine streams: Boolean ladder, words, meaning, and their fusions",
    inputs=(data.ABSTRACTS, SNIPPETS, BIOASQ, PUBMEDQA, data.NARRATIVES),
    expected="2 minutes; 25 the first time, which embeds 42,577 documents",
    limit=1000,
    run=run,
)
