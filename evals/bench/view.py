"""`anamnesis dev bench view`: what a reader sees of answers, and how much of it: 40 messages that ship, asked locally.

What is counted is what the terminal prints of the one view that all renderers share; a Chinese character is a word.
"""

from __future__ import annotations

import io
import re
import statistics
from typing import NamedTuple

from rich.console import Console

from agent.agent import Agent
from agent.cli.render import show_answer
from evals.bench.frame import Figure, built_homes, figures_of, local_settings, told
from evals.datasets.rows import SHIPPED, read_yaml
from graphs.answering.contract import Answer
from graphs.answering.presentation import present

STEPS = {"evidence.yaml": 2, "differential.yaml": 5, "emergencies.yaml": 4}  # ours: every so-manieth message, 40 in all
WORD = re.compile(r"[\u4e00-\u9fff]|[^\W_\u4e00-\u9fff]+")
WIDE = 400  # ours: columns of the terminal, so that few lines are broken
BEGINS = 30  # ours: characters by which the direct answer is found in what is printed


class Seen(NamedTuple):
    """Of an answer: whether something is urgent, words above the direct answer, boxes, notices shown, words in all."""

    urgent: bool
    above: int
    boxes: int
    notices: int
    words: int


def messages() -> list[str]:
    """The messages that are asked."""
    return [row["text"] for name, step in STEPS.items() for row in read_yaml(SHIPPED / "dev" / name)[::step]]


def seen(answer: Answer) -> Seen:
    """What a reader sees of an answer."""
    shown, out = present(answer), io.StringIO()
    show_answer(Console(file=out, width=WIDE), answer)
    text = " ".join(out.getvalue().split())
    first = shown.lead.head or next((line.text for line in shown.lead.lines), "")
    above = text.partition(" ".join(first.split())[:BEGINS])[0] if first else text
    urgent = bool(shown.alerts or shown.dangers)
    notices = {*shown.dangers, *shown.box, *(label.text for label in shown.labels)}
    boxes = bool(shown.dangers) + bool(shown.box)
    return Seen(urgent, len(WORD.findall(above)), boxes, len(notices), len(WORD.findall(text)))


def measure() -> list[Figure]:
    """Ask each message in a session of its own.

    Raises:
        InputError: nothing is built yet.
    """
    texts, found = messages(), list[Seen]()
    with built_homes(1) as (home,), Agent(local_settings(home=home)) as agent:
        for n, text in enumerate(texts, start=1):
            found.append(seen(agent.ask(text)))
            told("message", n, len(texts))
    return figures(found)


def figures(found: list[Seen]) -> list[Figure]:
    """The figures of all answers."""
    calm, urgent = [s.above for s in found if not s.urgent], [s.above for s in found if s.urgent]
    return [
        *figures_of("view.", len(calm), ("words_above", max(calm, default=0), "words, most", "0")),
        *figures_of("view.", len(urgent), ("words_above_urgent", _median(urgent), "words, median")),
        *figures_of(
            "view.",
            len(found),
            ("boxes", max((s.boxes for s in found), default=0), "boxes, most", "at most 1"),
            ("notices", _median([s.notices for s in found]), "notices, median"),
            ("words", _median([s.words for s in found]), "words, median"),
        ),
    ]


def _median(values: list[int]) -> float:
    return statistics.median(values) if values else 0.0
