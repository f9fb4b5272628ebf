"""A model that plays every role and often slips, as small ones do."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from random import Random

from evals.bench.faults import _braces, _said, _text, _unknown
from evals.scripted.player import play
from evals.scripted.server import Request, Scripted

MALFORMED, WRONG_IDS = 0.15, 0.10  # asked: what models of some eight thousand million parameters get wrong
REPAIR = re.compile(r"^That reply (?:cannot be used|was cut)")  # as our client asks for one


class SmallModel:
    """A model that plays every role and often slips: replies that cannot be read, numbers that were never shown.

    What it says depends on the seed and the request alone, whatever order requests come in.

    Attributes:
        seed: of its slips; one of its own for each turn. slips: how often it slipped, by the slip.
        repairs: how often it was asked to put a reply right. twice: how often that reply was a repair of the same turn.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._good: dict[str, Scripted] = {}  # what a reply should have been
        self._repaired: set[tuple[int, str]] = set()
        self.slips: Counter[str] = Counter()
        self.repairs = self.twice = 0

    def __call__(self, request: Request) -> Scripted:
        """The answer to a request."""
        last = request["messages"][-1]
        repair = last["role"] == "user" and REPAIR.search(str(last["content"])) is not None
        shown = str(request["messages"][-2]["content"]) if repair else ""
        good = self._good.get(shown) or play(request)
        draw = Random(f"{self.seed} {json.dumps(request, sort_keys=True)}")  # noqa: S311  no secret
        slip = draw.random()
        if slip < MALFORMED:
            answer = self._malformed(good, draw)
        elif slip < MALFORMED + WRONG_IDS and not repair:
            answer = _unknown(request, good)
            self.slips["wrong ids"] += 1
        else:
            answer = _braces(request, good) if draw.random() < MALFORMED else good
        self.repairs += repair
        self.twice += repair and (self.seed, shown) in self._repaired
        if repair:
            self._repaired.add((self.seed, _said(answer)))
        return answer

    def _malformed(self, good: Scripted, draw: Random) -> Scripted:
        name, spoil = draw.choice(SLIPS)
        self.slips[name] += 1
        answer = _text(good, spoil(_said(good)))
        self._good[_said(answer)] = good
        return answer


SLIPS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("broken off", lambda said: said[: 2 * len(said) // 3]),
    ("a trailing comma", lambda said: said[:-1] + ",}"),
    ("a key without quotes", lambda said: re.sub(r'"(\w+)":', r"\1:", said, count=1)),
    ("single quotes", lambda said: said.replace('"', "'")),
    ("a comment", lambda said: said[:-1] + " // that is all\n}"),
    ("prose", lambda said: f"Certainly! Here is what I found {{in short}}: {said[2:40]}"),
)
