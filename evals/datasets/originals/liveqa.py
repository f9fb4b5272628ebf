"""LiveQA-Med 2017: consumers' questions with reference answers, and MedQuAD's answers judged for them.

Formats: the repository abachaa/LiveQA_MedicalTask_TREC2017 (Readme.txt; the test files spell their elements in two
ways; the training files have SUB-QUESTION and ANSWERS), and of abachaa/MedQuAD the archive
QA-TestSet-LiveQA-Med-Qrels-2479-Answers.zip: lines "question judgement answer" with judgements such as 4-Excellent,
and a CSV of AnswerID and Answer, a text "Question: .. URL: .. Answer: ..". The archive's inside is known from code
that reads it, not from the archive.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from evals.datasets.answered_questions import LIVEQA, LIVEQA_ANSWERS
from evals.datasets.originals.contract import Conversion, Converted, Found, Original, Placed, Problem, Row, placed
from evals.datasets.originals.csv_rows import csv_rows
from evals.datasets.originals.members import Member, members, text_of
from evals.datasets.originals.xml_rows import below, children, said, xml_root
from prompts.errors import DataError

JUDGED = re.compile(r"^(?:TQ)?(\d+)\s+([1-4])(?:-\w+)?\s+(\S+)$")
JUDGEMENTS = "qrels_"  # in the name of the file of judgements
PLAIN, FULL = "-Medical-Test.xml", "-Medical-Test-Questions-w-summaries.xml"  # the test set in its two spellings
PARTS = re.compile(
    r"^\s*Question:\s*(?P<question>.*?)\s*(?:\(Also called:\s*(?P<also>.*?)\)\s*)?URL:\s*(?P<url>\S+)\s*"
    r"Answer:\s*(?P<answer>.*)$",
    re.DOTALL,
)


class ReferenceAnswer(BaseModel):
    """An answer that a librarian or clinician gave; ``answer`` may be ""."""

    model_config = ConfigDict(frozen=True)

    answer: str
    url: str = ""
    comment: str = ""


class LiveqaQuestion(Row):
    """A consumer's message. ``paraphrase`` and ``summary`` are of the test set alone."""

    subject: str = ""
    message: str = Field(min_length=1)
    paraphrase: str = ""
    summary: str = ""
    focus: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    reference_answers: tuple[ReferenceAnswer, ...] = ()


class Judgement(Row):
    """How good an answer of MedQuAD is for a question: 1 incorrect, 2 related, 3 incomplete, 4 excellent."""

    question: str
    answer_id: str
    grade: int = Field(ge=1, le=4)


class JudgedAnswer(Row):
    """An answer of MedQuAD that was judged, with the question that it stands under there."""

    question: str
    also_called: str = ""
    url: str = Field(min_length=1)
    answer: str


def read(path: Path) -> Found:
    """Questions, judgements and judged answers of a file, a folder of the files, or the archive."""
    for member in members(path, is_part):
        if isinstance(member, Problem):
            yield member
        elif member.name.endswith(PLAIN) and (fuller := path / member.name.replace(PLAIN, FULL)).is_file():
            yield Problem(member.name, 0, f"Passed over: {fuller.name} has the same questions, with summaries.")
        elif member.name.lower().endswith(".zip"):
            yield from (_inside(member.name, one) for one in read(path / member.name))
        elif member.name.lower().endswith(".xml"):
            yield from _questions(member)
        elif member.name.lower().endswith(".csv"):
            yield from _answers(member)
        elif is_part(member.name):
            yield from _judgements(member)
        else:
            yield Problem(member.name, 0, "The file is none of this data set.")


def is_part(name: str) -> bool:
    """Whether a name is that of a file of questions, judgements or answers, or of their archive.

    LiveQA's own qrels name no answers but hold their texts, and are not taken.
    """
    low = name.lower()
    return low.endswith((".xml", ".csv", ".zip")) or (low.endswith(".txt") and JUDGEMENTS in low)


def convert(records: Iterator[Row], conversion: Conversion) -> Converted:
    """The test questions with their judgements, and the judged answers, as `questions` reads them."""
    asked: list[LiveqaQuestion] = []
    judged: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in records:
        if isinstance(row, LiveqaQuestion):
            asked.append(row)
        elif isinstance(row, Judgement):
            judged[row.question].append({"answer_id": row.answer_id, "grade": row.grade})
        elif isinstance(row, JudgedAnswer):
            yield LIVEQA_ANSWERS, {"answer_id": row.id, **row.model_dump(mode="json", exclude={"id"}), "parsed": True}
    for question in asked:
        if question.id in judged:
            made = question.model_dump(mode="json", exclude={"paraphrase", "keywords"})
            yield LIVEQA, made | {"nist_paraphrase": question.paraphrase, "qrels": judged[question.id]}
        else:
            conversion.leave_out("a question for which no answer of MedQuAD was judged")


def _inside(archive: str, one: Placed | Problem) -> Placed | Problem:
    return one._replace(file=f"{archive}/{one.file}")


def _questions(member: Member) -> Found:
    root = xml_root(member)
    if isinstance(root, Problem):
        yield root
        return
    found = below(root, "NLM-QUESTION")
    for element in found:
        holder = (children(element, "Original-Question") or [element])[0]
        values = {
            "id": element.get("qid") or element.get("questionid") or "",
            "subject": said(holder, "SUBJECT"), "message": said(holder, "MESSAGE"),
            "paraphrase": said(element, "NIST-PARAPHRASE", "Paraphrase"), "summary": said(element, "NLM-Summary"),
            "focus": _texts(element, "FOCUS", "Q-Focus"), "types": _texts(element, "TYPE", "Q-Type"),
            "keywords": _texts(element, "KEYWORD", "Q-Keyword"), "reference_answers": _references(element),
        }  # fmt: skip
        yield placed(LiveqaQuestion, values, member.name, element.sourceline)
    if not found:
        yield Problem(member.name, root.sourceline, "The file has no NLM-QUESTION.")


def _references(element: Any) -> list[dict[str, str]]:
    of_test = [
        {"answer": said(e, "ANSWER"), "url": said(e, "AnswerURL"), "comment": said(e, "COMMENT")}
        for e in below(element, "RefAnswer", "ReferenceAnswer")
    ]
    answers = [a for group in below(element, "ANSWERS") for a in children(group, "ANSWER")]
    return [*of_test, *({"answer": "".join(a.itertext()).strip()} for a in answers)]


def _texts(element: Any, *names: str) -> list[str]:
    return [t for t in ("".join(e.itertext()).strip() for e in below(element, *names)) if t]


def _judgements(member: Member) -> Found:
    try:
        lines = text_of(member).split("\n")
    except DataError as error:
        yield Problem(member.name, 0, f"{error.what} {error.advice}")
        return
    for number, line in enumerate(lines, start=1):
        match = JUDGED.match(line.strip())
        if match:
            values = {"question": f"TQ{match[1]}", "grade": match[2], "answer_id": match[3]}
            yield placed(Judgement, {"id": f"TQ{match[1]} {match[3]}", **values}, member.name, number)
        elif line.strip():
            yield Problem(member.name, number, "The line is no question, judgement and answer.")


def _answers(member: Member) -> Found:
    for row in csv_rows(member, frozenset({"AnswerID", "Answer"})):
        if isinstance(row, Problem):
            yield row
            continue
        match = PARTS.match(row.cells["Answer"])
        if match is None:
            yield Problem(member.name, row.line, "The answer is not of the form Question, URL, Answer.")
            continue
        parts = {"question": match["question"], "also_called": match["also"] or "", "url": match["url"]}
        values = {"id": row.cells["AnswerID"].strip(), **parts, "answer": match["answer"].strip()}
        yield placed(JudgedAnswer, values, member.name, row.line)


ORIGINAL = Original("liveqa", "the test or training files, and MedQuAD's archive of judged answers", read, convert)
