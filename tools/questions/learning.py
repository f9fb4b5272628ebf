"""Questions learnt from use: noted when that is switched on, reviewed by a person, then part of the index.

Only questions of evidence are noted. A case never is, nor a question that speaks of a person, a date or a number of a
file: the notes lie on disk in plain text.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from pathlib import Path

import yaml
from pydantic import TypeAdapter, ValidationError

from prompts.errors import DataError
from tools.evidence import Frozen
from tools.files import locked, write_atomic
from tools.library.contract import QuestionHit
from tools.questions.contract import Answer, Question, QuotedAnswer
from tools.questions.personal import PERSONAL, WORDS, may_name

FILE = "learnt-questions.yaml"
WRITER = "learnt"
EVIDENCE = "evidence"  # the kind of turn that is no patient's case
LONGEST = 40  # ours: words; a longer question tells a story
HEAD = (
    "# Questions learnt from use. Read each with its answer, then set accept: true, or delete it.\n"
    "# Accepted ones become part of the index with the next `anamnesis questions build`.\n"
)
WAIT = 2.0  # ours: seconds that a turn waits for the notes; they are not worth more of it


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


def refusal(question: str, kind: str, known: Callable[[str], bool], like: str = "") -> str:
    """Why a question is not noted; "" when it may be.

    Args:
        kind: of the turn. known: whether a word in lower case is a public one; any other may be a name.
        like: the stored question that answers it: capitals that stand there name nobody.
    """
    if kind != EVIDENCE:
        return "it is not a question of evidence"
    if len(question.split()) > LONGEST:
        return "it tells a story"
    if PERSONAL.search(question):
        return "it speaks of a person"
    names = may_name(question, known, like)
    return f"it may hold a name: {', '.join(names)}" if names else ""


def note(file: Path, found: Iterable[Noted]) -> int:
    """Add questions to the review file, one that is there already counted once more; returns how many are new.

    Raises:
        DataError: the file cannot be read or written, or another process holds it.
    """
    try:
        with locked(file, WAIT):
            notes = {n.question.casefold(): n for n in read(file)}
            before = len(notes)
            for new in found:
                key = new.question.casefold()
                held = notes.get(key)
                notes[key] = new if held is None else held.model_copy(update={"asked": held.asked + 1})
            _write(file, notes.values())
    except OSError as error:
        told = f"{file} cannot be written: {error.strerror}."
        raise DataError(told, "Make room and let it be written, or switch learning off.") from error
    return len(notes) - before


class Learning:
    """Notes questions of turns that a stored question answered.

    Args:
        file: the review file. public: words of texts that name no patient.
    """

    def __init__(self, file: Path, public: Container[str]) -> None:
        self._file, self._public = file, public

    def note(self, question: str, kind: str, like: QuestionHit) -> str:
        """Note a question that ``like`` answers; returns why it was not noted, "" when it was.

        Raises:
            DataError: the notes cannot be read or written.
        """
        stored = like.question.text
        asked = {word.lower() for word in WORDS.findall(stored)} if like.document.is_starter else set()
        refused = refusal(question, kind, lambda word: word in self._public or word in asked, stored)
        if not refused and question.casefold() != like.question.text.casefold():
            known = like.question
            answer = Answer(document=like.document.id, start=known.start, end=known.end)
            quote = like.document.text[known.start : known.end]
            note(self._file, [Noted(question=question, like=known.text, answer=answer, quote=quote)])
        return refused


def read(file: Path) -> list[Noted]:
    """The notes; none where there is no file. Raises DataError for a file that is damaged."""
    try:
        return NOTES.validate_python(yaml.safe_load(file.read_text(encoding="utf-8")) or [])
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        raise DataError(
            f"{file} cannot be read.", "Mend it, or move it away; new questions are noted afresh."
        ) from error


def accepted(file: Path) -> list[Question]:
    """The questions that a person has accepted, each with the words that answered it."""
    return [
        Question(text=n.question, answers=(QuotedAnswer(**n.answer.model_dump(), quote=n.quote),), writer=WRITER)
        for n in read(file)
        if n.accept
    ]


def _write(file: Path, notes: Iterable[Noted]) -> None:
    rows = [n.model_dump(mode="json") for n in sorted(notes, key=lambda n: (-n.asked, n.question))]
    body = yaml.safe_dump(rows, allow_unicode=True, sort_keys=False, width=110)
    write_atomic(file, (HEAD + body).encode())
