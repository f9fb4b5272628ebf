"""What plain words say of a finding that likeness misreads (ours).

Some findings are lacks, which patients word as negations ("the spots don't fade under a glass"): the negation states
them, and who tells of what he does well denies them. Others are told by words of their own alone: two tablets of
paracetamol are no overdose. The words are in ``plain_words.yaml``; they are of the starter graph's findings, by id.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.knowledge_graph.schema import FindingNode
from tools.text.clauses import Clause
from tools.yaml_files import read_yaml

WORDS = Path(__file__).with_name("plain_words.yaml")
NEVER = re.compile(r"(?!)")


class Told(NamedTuple):
    """What states a finding in a clause, in a whole sentence, what denies it, and what must stand beside either.

    ``says``: words that a clause states or denies as any others; ``stated``: a lack, which its negation states.
    """

    finding: str
    says: re.Pattern[str]
    stated: re.Pattern[str]
    whole: re.Pattern[str]
    denied: re.Pattern[str]
    beside: re.Pattern[str]


class Needs(NamedTuple):
    """The words without one of which a text does not tell of a finding, where it needs one, and whether a denial alone
    does."""

    finding: str
    word: re.Pattern[str]
    where: re.Pattern[str]
    denied: bool


class PlainWords:
    """The plain words of one graph's findings."""

    def __init__(self, findings: Sequence[FindingNode]) -> None:
        at = {f.id: i for i, f in enumerate(findings)}
        told, needs, self._words = _rows()
        self._told = [(at[row.finding], row) for row in told if row.finding in at]
        self._needs = [(at[row.finding], row) for row in needs if row.finding in at]
        self._count = len(findings)
        self._lasting = [f.kind in ("history", "exposure", "habit") for f in findings]

    def told(self, clauses: Sequence[Clause]) -> list[dict[int, bool]]:
        """For each clause the findings, by position, that its words plainly state (True) or deny (False)."""
        texts = [c.text.replace("’", "'") for c in clauses]
        sentences = [""] * (max((c.sentence for c in clauses), default=-1) + 1)
        spans: list[tuple[int, int]] = []
        for clause, text in zip(clauses, texts, strict=True):
            start = len(sentences[clause.sentence])
            sentences[clause.sentence] += f"{text}, "
            spans.append((start, start + len(text)))
        over = [row for _, row in self._told if row.whole is not NEVER]
        ends = {row: [[m.end() for m in row.whole.finditer(whole)] for whole in sentences] for row in over}
        out: list[dict[int, bool]] = []
        for clause, text, (start, end) in zip(clauses, texts, spans, strict=True):
            around = "".join(sentences[max(clause.sentence - 1, 0) : clause.sentence + 2])
            now = not clause.past or self._words["now"].search(text) is not None
            found: dict[int, bool] = {}
            for finding, row in self._told:
                ended = ends[row][clause.sentence] if row in ends else []
                said = self._said(row, text, whole=bisect_right(ended, start) < bisect_right(ended, end))
                if said is None and row.says.search(text):
                    said = clause.present is not False
                if said is not None and (now or self._lasting[finding]) and row.beside.search(around):
                    found[finding] = said
            out.append(found)
        return out

    def _said(self, row: Told, text: str, *, whole: bool) -> bool | None:
        """Whether a clause states a finding or denies it; None for neither. ``whole``: what states it over the commas
        of its sentence ends in the clause."""
        lack = row.stated.search(text)
        if lack is not None:
            return self._words["undone"].search(text[: lack.start()]) is None
        if whole:
            return True
        return False if row.denied.search(text) and self._lessens_nothing(text) else None

    def able(self, text: str) -> bool:
        """Whether a clause tells of what somebody is able to do."""
        return self._words["able"].search(text) is not None and self._lessens_nothing(text)

    def _lessens_nothing(self, text: str) -> bool:
        return self._words["lessened"].search(text) is None

    def tellable(self, text: str, *, denied: bool) -> NDArray[np.bool_]:
        """Array (findings,): whether a text that states or denies something has the words that a finding needs."""
        out = np.ones(self._count, dtype=bool)
        for finding, row in self._needs:
            if (denied or not row.denied) and row.where.search(text):
                out[finding] = row.word.search(text) is not None
        return out


@lru_cache(maxsize=1)
def _rows() -> tuple[tuple[Told, ...], tuple[Needs, ...], dict[str, re.Pattern[str]]]:
    """The rows of the file, and its words by name."""
    written = read_yaml(WORDS)
    words: Mapping[str, str] = written["words"]

    def pattern(row: Mapping[str, str], key: str, otherwise: re.Pattern[str]) -> re.Pattern[str]:
        text = re.sub(r"<(cannot|not)>", lambda m: words[m[1]], row.get(key, ""))
        return re.compile(text, re.IGNORECASE) if text else otherwise

    anywhere = re.compile("")
    told = tuple(
        Told(
            row["finding"],
            pattern(row, "says", NEVER),
            pattern(row, "stated", NEVER),
            pattern(row, "whole", NEVER),
            pattern(row, "denied", NEVER),
            pattern(row, "beside", anywhere),
        )
        for row in written["told"]
    )
    needs = tuple(
        Needs(row["finding"], pattern(row, "word", NEVER), pattern(row, "where", anywhere), row.get("denied", False))
        for row in written["needs"]
    )
    return told, needs, {name: re.compile(text, re.IGNORECASE) for name, text in words.items()}
