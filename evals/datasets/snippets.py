"""BioASQ's yes/no questions with the snippets that answer them, divided as the reader's corpus is.

Source: BioASQ Task B, batches 7-8 (Tsatsaronis et al. 2015).
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tools.reading import corpus


class SnippetQuestion(NamedTuple):
    """A question, yes or no, and its snippets: (PMID, title, text) each; titles are not known."""

    id: str
    question: str
    gold: str
    snippets: tuple[tuple[str, str, str], ...]


def read_yes_no(data: Path, *, judge: bool) -> list[SnippetQuestion]:
    """The yes/no questions of one side of the division that have snippets."""
    return [
        SnippetQuestion(
            id=row["id"],
            question=row["question"],
            gold=str(row["exact_answer"]).lower(),
            snippets=tuple((str(s["pmid"]), "", s["text"]) for s in row["snippets"]),
        )
        for row in corpus.snippet_questions(data, judge=judge)
        if row["type"] == "yesno"
    ]
