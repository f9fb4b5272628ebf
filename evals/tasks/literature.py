"""`literature`: nine ways to find the documents that answer a question, plain and told as a narrative (CoMeta).

Collection: full abstracts, and BioASQ's gold documents as merged snippets. The snippets were chosen because they
answer, so search over them flatters every stream alike: compare streams here, not figures with those of papers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evals.contract import Figure, Task, TaskContext
from evals.datasets import literature as data
from evals.datasets.bioasq import SNIPPETS
from evals.literature_streams import STREAMS, recall
from evals.metrics.ranking import reciprocal_rank
from evals.statistics import mean, median, paired_difference, share
from tools.reading.corpus import BIOASQ, PUBMEDQA

if TYPE_CHECKING:
    from evals.datasets.literature import LiteratureQuestion
    from evals.literature_streams import Answer

INPUTS = (data.ABSTRACTS, SNIPPETS, BIOASQ, PUBMEDQA, data.NARRATIVES)
HITS = (1, 5, 10)  # with CoMeta's Hit@10
MRR_DEPTH, RECALL_DEPTH = 10, 20  # ours
COMPARED = (("hybrid", "rrf_plain"), ("pool_weighted", "pool_rrf"))


def run(context: TaskContext) -> list[Figure]:
    """Search every question in every way, and count."""
    sets, answers = _searched(context)
    return [f for name, questions in sets.items() for f in figures_of(name, questions, answers[name], context.seed)]


def figures_of(
    name: str, questions: Sequence[LiteratureQuestion], answers: Sequence[Answer], seed: int
) -> list[Figure]:
    """Every figure of one set of questions."""
    golds = [q.gold for q in questions]
    out = [f for stream in STREAMS for f in _stream(f"{stream}.{name}", stream, golds, answers, seed)]
    for pair in COMPARED:
        out += _compared(name, pair, golds, answers, seed)
    out += mean(f"adapt_e.{name}.rungs", [float(len(a.climb.steps)) for a in answers], seed)
    kinds = {step.rung for a in answers for step in a.climb.steps}
    for kind in sorted(kinds):
        counts = [float(s.count) for a in answers for s in a.climb.steps if s.rung == kind]
        out += median(f"adapt_e.{name}.{kind}_documents", counts, seed)
    return out + share(f"raw.{name}.refused", [a.refused for a in answers])


def _stream(
    name: str, stream: str, golds: Sequence[frozenset[str]], answers: Sequence[Answer], seed: int
) -> list[Figure]:
    found = [a.streams[stream] for a in answers]
    pairs = list(zip((f.ids for f in found), golds, strict=True))
    out = [f for k in HITS for f in share(f"{name}.hit@{k}", [bool(g.intersection(ids[:k])) for ids, g in pairs])]
    out += mean(f"{name}.mrr@{MRR_DEPTH}", [reciprocal_rank(ids, g, MRR_DEPTH) for ids, g in pairs], seed)
    out += mean(f"{name}.recall@{RECALL_DEPTH}", [recall(ids, g, RECALL_DEPTH) for ids, g in pairs], seed)
    out += share(f"{name}.zero_hit_rate", [not ids for ids, _ in pairs])
    return out + median(f"{name}.ms", [f.ms for f in found], seed)


def _compared(
    name: str, pair: tuple[str, str], golds: Sequence[frozenset[str]], answers: Sequence[Answer], seed: int
) -> list[Figure]:
    """Paired differences: Hit@10 in points, the others in 0..1."""

    def values(stream: str, metric: str) -> list[float]:
        lists = [a.streams[stream].ids for a in answers]
        if metric == "hit@10":
            return [100.0 * bool(g.intersection(ids[:10])) for ids, g in zip(lists, golds, strict=True)]
        if metric == "mrr@10":
            return [reciprocal_rank(ids, g, MRR_DEPTH) for ids, g in zip(lists, golds, strict=True)]
        return [recall(ids, g, RECALL_DEPTH) for ids, g in zip(lists, golds, strict=True)]

    first, second = pair
    figure = f"{first}_over_{second}.{name}"
    metrics = ("hit@10", "mrr@10", "recall@20")
    return [f for m in metrics for f in paired_difference(f"{figure}.{m}", values(first, m), values(second, m), seed)]


def _searched(context: TaskContext) -> tuple[dict[str, list[LiteratureQuestion]], dict[str, list[Answer]]]:
    from agent.assembly import open_search
    from agent.sessions import Home
    from evals.agent_runs import evaluation_encoders
    from evals.literature_collection import prepare, text_of, vectors_of
    from evals.literature_streams import Streams
    from evals.runner import data_sha256
    from tools.literature.hybrid import HybridCollection
    from tools.mirror.engine import Mirror

    documents = data.read_collection(context.data)
    sets = _questions(context, frozenset(d.pmid for d in documents))
    home = Home(context.settings.home).prepare()
    digest = data_sha256(context.data, (data.ABSTRACTS, SNIPPETS))[:16]
    folder, lexicon = prepare(home.cache / "evaluations" / f"literature-{digest}", documents, context)
    plain, cached = evaluation_encoders(context.settings, home)
    collection = HybridCollection([d.pmid for d in documents], lexicon, vectors_of(documents, plain, context))
    planner = open_search(context.settings, home, folder).planner
    streams = Streams(Mirror.open(folder), planner, collection, {d.pmid: text_of(d) for d in documents})
    answers = {}
    for name, questions in sets.items():
        vectors = cached.encode_queries([q.text for q in questions])
        rows = context.tick(list(zip(questions, vectors, strict=True)), name, len(questions))
        answers[name] = [streams.answer(question, vector) for question, vector in rows]
    cached.close()
    plain.close()
    return sets, answers


def _questions(context: TaskContext, held: frozenset[str]) -> dict[str, list[LiteratureQuestion]]:
    """The sets; ``narrative_source`` are the plain questions of the narratives."""
    bioasq = data.read_bioasq(context.data, held)
    narratives = context.sample(data.read_narratives(context.data, bioasq))
    told = {n.id for n in narratives}
    return {
        "bioasq": context.sample(bioasq),
        "pubmedqa": context.sample(data.read_pubmedqa(context.data, held)),
        "narrative": narratives,
        "narrative_source": [q for q in bioasq if q.id in told],
    }


TASK = Task(
    name="literature",
    what="documents that answer a question, by nine streams: Boolean ladder, words, meaning, and their fusions",
    inputs=INPUTS,
    expected="2 minutes; 25 the first time, which embeds 42,577 documents",
    limit=1000,
    run=run,
)
