"""`anamnesis dev bench reading`: processor seconds of what is read of the longest messages before anything is asked.

Each text is as long as the door lets it through (`agent.messages`): prose, notes in shorthand, Chinese,
words that all differ, and fragments that repeat. Read is what a turn reads of a case: triage, then the look-up.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from functools import partial

from pydantic import BaseModel

from agent.assembly import open_encoder
from agent.messages import STATEMENT, check_message
from agent.sessions.home import Home
from evals.bench.frame import Figure, built_homes, figures_of, local_settings, told
from evals.datasets.rows import SHIPPED, read_jsonl
from graphs.triage.contract import SessionView
from graphs.triage.local import TriageLocal
from prompts.errors import InputError
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.literature.vocabulary import known_words

ASKED = 2.0  # seconds of a processor for any 20,000 characters
CASE = "A man of 60 has had chest pain for two days."
FRAGMENTS = ("SOB HTN DM2 ", "我胸口疼，", "Na 126 K 5.9 ", "no fever or chills and ", "pain  ")


class Told(BaseModel):
    """A text, and its language."""

    text: str
    language: str = "en"


def texts(limit: int) -> Iterator[tuple[str, str]]:
    """Names and texts of at least ``limit`` characters."""
    notes = read_jsonl(SHIPPED / "unseen" / "notes.jsonl", Told)
    pages = [row.text for row in read_jsonl(SHIPPED / "unseen" / "own_documents.jsonl", Told)]
    yield "prose", " ".join(pages * (1 + limit // sum(map(len, pages))))
    for language, mark in (("en", "\n"), ("zh", "，")):
        told = [row.text for row in notes if row.language == language]
        yield f"notes, {language}", mark.join(told * (1 + limit // sum(map(len, told))))
    words = sorted(word for word in known_words().frequent(1) if word.isalpha())
    yield "different words", " ".join(random.Random(0).sample(words, limit // 4))  # noqa: S311
    for fragment in FRAGMENTS:
        yield f"“{fragment.strip()}” repeated", fragment * (1 + limit // len(fragment))


def let_through(text: str, limit: int) -> str:
    """As much of the beginning of a text as the door takes."""
    text = text[:limit]
    ends = [match.end() for match in STATEMENT.finditer(text)]
    low, high = 0, len(ends)
    while low < high:  # the most statements that pass
        middle = (low + high + 1) // 2
        try:
            check_message(text[: ends[middle - 1]], limit)
            low = middle
        except InputError:
            high = middle - 1
    return check_message(text[: ends[low - 1]], limit)


def measure() -> list[Figure]:
    """Read every text once, in one process whose models are loaded.

    Raises:
        InputError: nothing is built yet.
    """
    out: list[Figure] = []
    settings = local_settings()
    with built_homes(1) as (folder,):
        home = Home(folder)
        graph, triage = KnowledgeGraph(open_encoder(settings, home), home.indexes), TriageLocal()
        some = [(name, let_through(text, settings.max_characters)) for name, text in texts(settings.max_characters)]
        for text in (CASE, some[0][1]):  # the first ones load what later ones find
            triage.decide_now(text[::-1], SessionView())  # backwards, so that nothing of it is remembered
            graph.look_up(text[::-1])
        for n, (name, text) in enumerate(some, start=1):
            by_triage = _seconds(partial(triage.decide_now, text, SessionView()))
            looked = _seconds(partial(graph.look_up, text))
            rows = (("", by_triage + looked, "s", f"at most {ASKED:g} s"), (", triage", by_triage, "s"))
            out += figures_of(f"{name} ({len(text):,} characters)", 1, *rows)
            told("text", n, len(some))
    return out


def _seconds(read: Callable[[], object]) -> float:
    started = time.process_time()
    read()
    return time.process_time() - started
