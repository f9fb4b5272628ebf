"""LiveQA-Med 2017: consumers' questions with reference answers, and MedQuAD's answers judged for them.

Formats: the repository abachaa/LiveQA_MedicalTask_TREC2017 (Readme.txt; the test files spell their elements in two
ways; the training files have SUB-QUESTION and ANSWERS), and of abachaa/MedQuAD the archive
QA-TestSet-LiveQA-Med-Qrels-2479-Answers.zip: lines "question judgement answer" with judgements such as 4-Excellent,
and a CSV of AnswerID and Answer, a text "Question: .. URL: .. Answer: ..". The archive's inside is known from code
that reads it, not from the archive. Ben Abacha et al. 2017.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field

from evals.datasets.releases import (
    BrokenFileError,
    Conversion,
    Converted,
    Entry,
    Found,
    Member,
    Original,
    Placed,
    Problem,
    Record,
    below,
    csv_entries,
    read_files,
    said,
    texts_of,
    xml_root,
)
from evals.datasets.rows import Row, read_jsonl

LIVEQA = "medquad/liveqa_dev.jsonl"
LIVEQA_ANSWERS = "medquad/liveqa_answers.jsonl"
GOOD = 3  # code: of the grades 1 to 4, complete or incomplete but right answers
JUDGED = re.compile(r"^(?:TQ)?(\d+)\s+([1-4])(?:-\w+)?\s+(\S+)$")
JUDGEMENTS = "qrels_"  # in the name of the file of judgements
PLAIN, FULL = "-Medical-Test.xml", "-Medical-Test-Questions-w-summaries.xml"  # the test set in its two spellings
PARTS = re.compile(
    r"^\s*Question:\s*(?P<question>.*?)\s*(?:\(Also called:\s*(?P<also_called>.*?)\)\s*)?URL:\s*(?P<url>\S+)\s*"
    r"Answer:\s*(?P<answer>.*)$",
    re.DOTALL,
)


class Grade(Row):
    """How good an answer of MedQuAD is for a question: 1 incorrect, 2 related, 3 incomplete, 4 excellent."""

    answer_id: str
    grade: int = Field(ge=1, le=4)


class ReferenceAnswer(Row):
    """An answer that a librarian or clinician gave; ``answer`` may be ""."""

    answer: str
    url: str = ""
    comment: str = ""


class LiveQuestion(Record):
    """A consumer's message with reference answers and graded ones; paraphrase and summary are of the test set."""

    subject: str = ""
    message: str = Field(min_length=1)
    summary: str = ""
    focus: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    reference_answers: tuple[ReferenceAnswer, ...] = ()
    nist_paraphrase: str = ""
    qrels: tuple[Grade, ...] = ()

    @property
    def text(self) -> str:
        """Subject and message."""
        return ". ".join(part.strip() for part in (self.subject, self.message) if part.strip())

    @property
    def golden(self) -> str:
        """The first reference answer; "" without one."""
        return next((r.answer.strip() for r in self.reference_answers if r.answer.strip()), "")


class JudgedAnswer(Record):
    """An answer of MedQuAD that was judged, with the question that it stands under there."""

    id: str = Field(alias="answer_id", min_length=1)
    question: str | None = ""
    also_called: str | None = ""
    url: str | None = ""
    answer: str
    parsed: bool = True


class Graded(NamedTuple):
    """An answer with the mean of the grades (1 to 4) that people gave it for a question.

    ``golden`` is the first reference answer of the question.
    """

    question_id: str
    question: str
    golden: str
    answer: str
    grade: float


def read_live(data: Path) -> list[LiveQuestion]:
    """The messages; raises DataError for a damaged row."""
    return read_jsonl(data / LIVEQA, LiveQuestion)


def read_answers(data: Path) -> dict[str, str]:
    """The judged answers by id, each once: one that was judged for several messages stands in the file for each."""
    return {row.id: row.answer for row in read_jsonl(data / LIVEQA_ANSWERS, JudgedAnswer) if row.answer.strip()}


def read_graded(data: Path) -> list[Graded]:
    """Every judged answer once a question, empty ones left out; an answer that was graded twice has the mean."""
    answers = read_answers(data)
    out: list[Graded] = []
    for row in read_live(data):
        grades: dict[str, list[int]] = defaultdict(list)
        for judged in row.qrels:
            if judged.answer_id in answers:
                grades[judged.answer_id].append(judged.grade)
        for key, given in grades.items():
            out.append(Graded(row.id, row.text, row.golden, answers[key].strip(), sum(given) / len(given)))
    return out


class Judgement(Record):
    """A grade of an answer for a question of the release."""

    question: str
    answer_id: str
    grade: int = Field(ge=1, le=4)


def read(path: Path) -> Found:
    """Questions, judgements and judged answers of a file, a folder of the files, or the archive."""

    def found(member: Member) -> Found:
        name = member.name.lower()
        if member.name.endswith(PLAIN) and (fuller := path / member.name.replace(PLAIN, FULL)).is_file():
            raise BrokenFileError(0, f"Passed over: {fuller.name} has the same questions, with summaries.")
        if name.endswith(".zip"):
            yield from (one._replace(file=f"{member.name}/{one.file}") for one in read(path / member.name))
        elif name.endswith(".xml"):
            yield from _questions(member)
        elif name.endswith(".csv"):
            yield from csv_entries(member, frozenset({"AnswerID", "Answer"}), _answer)
        elif is_part(member.name):
            yield from _judgements(member)
        else:
            raise BrokenFileError(0, "The file is none of this data set.")

    return read_files(path, is_part, found)


def is_part(name: str) -> bool:
    """Whether a name is that of a file of questions, judgements or answers, or of their archive.

    LiveQA's own qrels name no answers but hold their texts, and are not taken.
    """
    low = name.lower()
    return low.endswith((".xml", ".csv", ".zip")) or (low.endswith(".txt") and JUDGEMENTS in low)


def convert(records: Iterator[Record], conversion: Conversion) -> Converted:
    """The test questions with their judgements, and the judged answers, as `questions` reads them."""
    asked: list[LiveQuestion] = []
    judged: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in records:
        if isinstance(row, LiveQuestion):
            asked.append(row)
        elif isinstance(row, Judgement):
            judged[row.question].append({"answer_id": row.answer_id, "grade": row.grade})
        elif isinstance(row, JudgedAnswer):
            yield LIVEQA_ANSWERS, row.model_dump(mode="json", by_alias=True)
    for question in asked:
        if question.id in judged:
            yield LIVEQA, question.model_dump(mode="json") | {"qrels": judged[question.id]}
        else:
            conversion.leave_out("a question for which no answer of MedQuAD was judged")


def _questions(member: Member) -> Found:
    root = xml_root(member)
    found = below(root, "NLM-QUESTION")
    if not found:
        raise BrokenFileError(root.sourceline, "The file has no NLM-QUESTION.")
    for element in found:
        holder = (below(element, "Original-Question", deep=False) or [element])[0]
        values = {
            "id": element.get("qid") or element.get("questionid") or "",
            "subject": said(holder, "SUBJECT"), "message": said(holder, "MESSAGE"),
            "summary": said(element, "NLM-Summary"), "nist_paraphrase": said(element, "NIST-PARAPHRASE", "Paraphrase"),
            "focus": texts_of(below(element, "FOCUS", "Q-Focus")), "types": texts_of(below(element, "TYPE", "Q-Type")),
            "reference_answers": _references(element),
        }  # fmt: skip
        yield Entry(member, element.sourceline, (), values).placed(LiveQuestion)


def _references(element: Any) -> list[dict[str, str]]:
    """The reference answers of the test files, then those of the training files."""
    of_test = [
        {"answer": said(e, "ANSWER"), "url": said(e, "AnswerURL"), "comment": said(e, "COMMENT")}
        for e in below(element, "RefAnswer", "ReferenceAnswer")
    ]
    answers = [a for group in below(element, "ANSWERS") for a in below(group, "ANSWER", deep=False)]
    return [*of_test, *({"answer": "".join(a.itertext()).strip()} for a in answers)]


def _judgements(member: Member) -> Found:
    for number, line in enumerate(member.text().split("\n"), start=1):
        match = JUDGED.match(line.strip())
        if match:
            values = {"question": f"TQ{match[1]}", "grade": match[2], "answer_id": match[3]}
            yield Entry(member, number, (), values).placed(Judgement, id=f"TQ{match[1]} {match[3]}")
        elif line.strip():
            yield Problem(member.name, number, "The line is no question, judgement and answer.")


def _answer(entry: Entry) -> Placed | Problem:
    match = PARTS.match(entry.value["Answer"])
    if match is None:
        return entry.problem("The answer is not of the form Question, URL, Answer.")
    parts = {name: (text or "").strip() for name, text in match.groupdict().items()}
    return entry._replace(value=parts).placed(JudgedAnswer, answer_id=entry.value["AnswerID"].strip())


ORIGINAL = Original("liveqa", "the test or training files, and MedQuAD's archive of judged answers", read, convert)
