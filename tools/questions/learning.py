"""Questions learnt from use: noted when that is switched on, reviewed by a person, then part of the index.

Only questions of evidence are noted. A case never is, nor a question that speaks of a person, a date or a number of a
file: the notes lie on disk in plain text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable
from pathlib import Path

import yaml
from pydantic import TypeAdapter, ValidationError

from prompts.errors import DataError
from tools.evidence import Frozen
from tools.files import locked, write_atomic
from tools.library.contract import QuestionHit
from tools.questions.contract import Answer, Question

FILE = "learnt-questions.yaml"
WRITER = "learnt"
EVIDENCE = "evidence"  # the kind of turn that is no patient's case
LONGEST = 40  # ours: words; a longer question tells a story
HEAD = (
    "# Questions learnt from use. Read each with its answer, then set accept: true, or delete it.\n"
    "# Accepted ones become part of the index with the next `anamnesis questions build`.\n"
)
# ours: what makes a text one about a person
PERSONAL = re.compile(
    r"\b(?:I|I'm|I've|me|my|mine|myself|he|she|his|her|him|hers|we|our|us|you|your)\b|\b(?:mr|mrs|ms|dr|prof)\b\.?"
    r"|\b(?:patient|son|daughter|wife|husband|mother|father|mum|dad|baby|brother|sister|aunt|uncle|friend)(?:'s|s)?\b"
    r"|\b\d{1,3}[- ]?(?:years?|yrs?|months?|weeks?|days?)[- ]old\b|\b\d{1,3} ?(?:yo|y/o)\b"
    r"|\b(?:born|aged?|admitted|presents?)\b"
    r"|\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}|\d{5,}|@|https?:|[我他她你您]|患者|病人|岁",
    re.IGNORECASE,
)
CAPITALISED = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")


class Noted(Frozen):
    """A question that was asked and answered from a stored one: its words, the stored question, and the answer."""

    question: str
    like: str
    answer: Answer
    quote: str
    asked: int = 1
    accept: bool = False


NOTES = TypeAdapter(list[Noted])


def review_file(home: Path) -> Path:
    """The file that a person goes through."""
    return home / "questions" / FILE


def refusal(question: str, kind: str, known: Callable[[str], bool]) -> str:
    """Why a question is not noted; "" when it may be.

    Args:
        kind: of the turn. known: whether a word in lower case is a public one; others may be names.
    """
    if kind != EVIDENCE:
        return "it is not a question of evidence"
    if len(question.split()) > LONGEST:
        return "it tells a story"
    if PERSONAL.search(question):
        return "it speaks of a person"
    names = [word for word in CAPITALISED.findall(question) if not known(word.lower())]
    return f"it may hold a name: {', '.join(names)}" if names else ""


def note(file: Path, found: Iterable[Noted]) -> int:
    """Add questions to the review file, one that is there already counted once more; returns how many are new.

    Raises:
        DataError: the file cannot be read.
    """
    with locked(file):
        notes = {n.question.casefold(): n for n in read(file)}
        before = len(notes)
        for new in found:
            key = new.question.casefold()
            held = notes.get(key)
            notes[key] = new if held is None else held.model_copy(update={"asked": held.asked + 1})
        _write(file, notes.values())
    return len(notes) - before


class Learning:
    """Notes questions of turns that a stored question answered.

    Args:
        file: the review file. public: words of texts that name no patient.
    """

    def __init__(self, file: Path, public: Container[str]) -> None:
        self._file, self._public = file, public

    def note(self, question: str, kind: str, like: QuestionHit) -> str:
        """Note a question that ``like`` answers; returns why it was not noted, "" when it was."""
        refused = refusal(question, kind, lambda word: word in self._public)
        if not refused and question.casefold() != like.question.text.casefold():
            known = like.question
            answer = Answer(document=like.document.id, start=known.start, end=known.end)
            quote = like.document.text[known.start : known.end]
            note(self._file, [Noted(question=question, like=known.text, answer=answer, quote=quote)])
        return refused


def read(file: Path) -> list[Noted]:
    """The notes; none where there is no file. Raises DataError for a file that is damaged."""
    try:
        raw = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    try:
        return NOTES.validate_python(yaml.safe_load(raw) or [])
    except (yaml.YAMLError, ValidationError) as error:
        raise DataError(
            f"{file} cannot be read.", "Mend it, or move it away; new questions are noted afresh."
        ) from error


def accepted(file: Path) -> list[Question]:
    """The questions that a person has accepted."""
    return [Question(text=n.question, answers=(n.answer,), writer=WRITER) for n in read(file) if n.accept]


def _write(file: Path, notes: Iterable[Noted]) -> None:
    rows = [n.model_dump(mode="json") for n in sorted(notes, key=lambda n: (-n.asked, n.question))]
    body = yaml.safe_dump(rows, allow_unicode=True, sort_keys=False, width=110)
    write_atomic(file, (HEAD + body).encode())
