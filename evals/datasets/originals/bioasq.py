"""BioASQ, Task B: questions with gold documents, snippets and answers (golden enriched test sets, training sets).

Format: files {"questions": [..]} as in the repository Teddy-XiongGZ/MIRAGE (rawdata/bioasq/Task10BGoldenEnriched/
10B1_golden.json and others); Tsatsaronis et al. 2015. Documents are addresses that end in a PubMed id. The name of a
golden file tells task and batch. A test set without answers is read too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, field_validator, model_validator

from evals.datasets.literature import SNIPPETS
from evals.datasets.originals.contract import Conversion, Converted, Found, Original, Problem, Row, placed
from evals.datasets.originals.entries import is_json, json_entries
from evals.datasets.originals.json_rows import JsonText
from evals.datasets.originals.members import Member, members
from tools.reading.corpus import BIOASQ

GOLDEN = re.compile(r"^(\d+)B(\d+)_golden$")
PMID = re.compile(r"^(?:.*/)?(\d+)/?$")


class Snippet(BaseModel):
    """A piece of a gold document: its section and characters as the release gives them, some of them negative."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    pmid: str = Field(validation_alias=AliasChoices("document", "pmid"), pattern=r"^\d+$")
    text: str = Field(min_length=1)
    begin_section: str = Field(validation_alias=AliasChoices("beginSection", "begin_section"))
    end_section: str = Field(validation_alias=AliasChoices("endSection", "end_section"))
    begin: int = Field(validation_alias=AliasChoices("offsetInBeginSection", "begin"))
    end: int = Field(validation_alias=AliasChoices("offsetInEndSection", "end"))

    @field_validator("pmid", mode="before")
    @classmethod
    def _of_address(cls, address: object) -> object:
        return _pmid(address)


class BioasqQuestion(Row):
    """A question.

    Attributes:
        exact_answer: groups of names for the same thing; ``(("yes",),)`` for a question of yes or no; empty where the
            kind has none or the file holds no answers.
        documents: PubMed ids. task, batch: of the file's name, None for others.
    """

    question: str = Field(validation_alias=AliasChoices("body", "question"), min_length=1)
    type: Literal["yesno", "factoid", "list", "summary"]
    documents: tuple[str, ...] = ()
    snippets: tuple[Snippet, ...] = ()
    ideal_answer: tuple[str, ...] = ()
    exact_answer: tuple[tuple[str, ...], ...] = ()
    task: int | None = None
    batch: int | None = None
    has_concepts: bool = False

    model_config = Row.model_config | {"populate_by_name": True}

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


def read(path: Path) -> Found:
    """The questions of a file or of a folder of them."""
    return json_entries(members(path, is_json), _questions)


def convert(records: Iterator[Row], conversion: Conversion) -> Converted:
    """The questions, and their gold documents as merged snippets, as `literature` and `mirror` read them."""
    asked: dict[str, list[str]] = defaultdict(list)
    pieces: dict[str, dict[tuple[str, int, int], Snippet]] = defaultdict(dict)
    for row in records:
        if not isinstance(row, BioasqQuestion) or not row.documents:
            conversion.leave_out("a question without gold documents")
            continue
        yield BIOASQ, _prepared(row)
        for snippet in row.snippets:
            pieces[snippet.pmid][snippet.begin_section, snippet.begin, snippet.end] = snippet
            asked[snippet.pmid].append(row.id)
    for pmid, found in pieces.items():
        yield SNIPPETS, _document(pmid, list(found.values()), asked[pmid])


def _prepared(row: BioasqQuestion) -> dict[str, Any]:
    made = row.model_dump(mode="json")
    if not row.exact_answer:
        made["exact_answer"] = None
    elif row.type == "yesno":
        made["exact_answer"] = row.exact_answer[0][0].casefold()
    return made


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


def _questions(text: JsonText, member: Member) -> Found:
    golden = GOLDEN.match(member.stem)
    named = {"task": int(golden[1]), "batch": int(golden[2])} if golden else {}
    found = False
    for _, key in text.entries():
        if key != "questions":
            text.value()
            continue
        found = True
        for at, _ in text.entries():
            value = text.value()
            more = named | {"has_concepts": bool(value.get("concepts"))} if isinstance(value, dict) else named
            yield placed(BioasqQuestion, value | more if isinstance(value, dict) else value, member.name, at)
    if not found:
        yield Problem(member.name, 1, "The file has no questions.")


def _pmid(address: object) -> object:
    match = PMID.match(address) if isinstance(address, str) else None
    return match[1] if match else address


ORIGINAL = Original("bioasq", "golden or training files of Task B, one or a folder of them", read, convert)
