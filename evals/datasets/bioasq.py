"""BioASQ, Task B: questions with gold documents, snippets and answers (golden enriched test sets, training sets).

Format: files {"questions": [..]} as in the repository Teddy-XiongGZ/MIRAGE (rawdata/bioasq/Task10BGoldenEnriched/
10B1_golden.json and others); Tsatsaronis et al. 2015. Documents are addresses that end in a PubMed id. The name of a
golden file tells task and batch. A test set without answers is read too. The project's form is batches 7-8.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from pydantic import Field, field_validator, model_validator

from evals.datasets.releases import (
    Conversion,
    Converted,
    Entry,
    Found,
    Original,
    Placed,
    Problem,
    Record,
    json_entries,
    named,
    read_files,
)
from evals.datasets.rows import Row
from tools.reading import corpus

SNIPPETS = "literature/bioasq_documents.jsonl"
GOLDEN = re.compile(r"^(\d+)B(\d+)_golden$")
PMID = re.compile(r"^(?:.*/)?(\d+)/?$")


def _pmid(address: object) -> object:
    match = PMID.match(address) if isinstance(address, str) else None
    return match[1] if match else address


class Snippet(Row):
    """A piece of a gold document: its section and characters as the release gives them, some of them negative."""

    pmid: str = Field(alias="document", pattern=r"^\d+$")
    text: str = Field(min_length=1)
    begin_section: str = Field(alias="beginSection")
    end_section: str = Field(alias="endSection")
    begin: int = Field(alias="offsetInBeginSection")
    end: int = Field(alias="offsetInEndSection")

    _of_address = field_validator("pmid", mode="before")(_pmid)


class BioasqQuestion(Record):
    """A question.

    Attributes:
        exact_answer: groups of names for the same thing; ``(("yes",),)`` for a question of yes or no; empty where the
            kind has none or the file holds no answers.
        documents: PubMed ids. task, batch: of the file's name, None for others.
    """

    question: str = Field(alias="body", min_length=1)
    type: Literal["yesno", "factoid", "list", "summary"]
    documents: tuple[str, ...] = ()
    snippets: tuple[Snippet, ...] = ()
    ideal_answer: tuple[str, ...] = ()
    exact_answer: tuple[tuple[str, ...], ...] = ()
    task: int | None = None
    batch: int | None = None
    has_concepts: bool = False

    @field_validator("documents", mode="before")
    @classmethod
    def _ids(cls, documents: object) -> object:
        return [_pmid(d) for d in documents] if isinstance(documents, list) else documents

    @field_validator("ideal_answer", mode="before")
    @classmethod
    def _one_or_more(cls, answer: object) -> object:
        return (answer,) if isinstance(answer, str) else answer or ()

    @field_validator("exact_answer", mode="before")
    @classmethod
    def _groups(cls, answer: object) -> object:
        if isinstance(answer, str):
            answer = [answer]
        return [[g] if isinstance(g, str) else g for g in answer] if isinstance(answer, list | tuple) else answer or ()

    @model_validator(mode="after")
    def _of_its_kind(self) -> Self:
        said = {name.casefold() for group in self.exact_answer for name in group}
        if self.type == "yesno" and self.exact_answer and (len(said) != 1 or not said <= {"yes", "no"}):
            raise ValueError("the exact answer is neither yes nor no")
        return self


class SnippetQuestion(NamedTuple):
    """A question, yes or no, and its snippets: (PMID, title, text) each; titles are not known."""

    id: str
    question: str
    gold: str
    snippets: tuple[tuple[str, str, str], ...]


def read_yes_no(data: Path, *, judge: bool) -> list[SnippetQuestion]:
    """The yes/no questions with snippets, of one side of the division of the reader's corpus."""
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


def read(path: Path) -> Found:
    """The questions of a file or of a folder of them."""
    return read_files(path, named(".json"), lambda m: map(_question, json_entries(m, depth=2, under="questions")))


def convert(records: Iterator[BioasqQuestion], conversion: Conversion) -> Converted:
    """The questions, and their gold documents as merged snippets, as `literature` and `mirror` read them."""
    asked: dict[str, list[str]] = defaultdict(list)
    pieces: dict[str, dict[tuple[str, int, int], Snippet]] = defaultdict(dict)
    for row in records:
        if not row.documents:
            conversion.leave_out("a question without gold documents")
            continue
        exact: object = row.exact_answer[0][0].casefold() if row.type == "yesno" and row.exact_answer else None
        made = row.model_dump(mode="json")
        yield corpus.BIOASQ, made | {"exact_answer": exact or made["exact_answer"] or None}
        for snippet in row.snippets:
            pieces[snippet.pmid][snippet.begin_section, snippet.begin, snippet.end] = snippet
            asked[snippet.pmid].append(row.id)
    for pmid, found in pieces.items():
        yield SNIPPETS, _document(pmid, list(found.values()), asked[pmid])


def _document(pmid: str, snippets: list[Snippet], questions: list[str]) -> dict[str, Any]:
    """The snippets of a document by section; those inside another are left out, those that overlap stay apart."""
    sections: dict[str, list[dict[str, Any]]] = {"title": [], "abstract": [], "other": []}
    for s in sorted(snippets, key=lambda s: (s.begin, -s.end)):
        kept = sections[s.begin_section if s.begin_section in sections else "other"]
        if not any(k["end"] >= s.end and s.text.strip() in k["text"] for k in kept):
            kept.append({"begin": s.begin, "end": s.end, "text": s.text})
    return {
        "pmid": pmid,
        **{f"{name}_snippets": found for name, found in sections.items()},
        "questions": sorted(set(questions)),
        "source": "bioasq",
    }


def _question(entry: Entry) -> Placed | Problem:
    golden = GOLDEN.match(entry.member.stem)
    task, batch = (int(golden[1]), int(golden[2])) if golden else (None, None)
    concepts = isinstance(entry.value, dict) and bool(entry.value.get("concepts"))
    return entry.placed(BioasqQuestion, task=task, batch=batch, has_concepts=concepts)


ORIGINAL = Original("bioasq", "golden or training files of Task B, one or a folder of them", read, convert)
