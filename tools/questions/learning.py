"""Questions learnt from use: noted when that is switched on, reviewed by a person, then part of the index.

Only questions of evidence are noted. A case never is, nor a question that speaks of a person, a date or a number of a
file: the notes lie on disk in plain text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import yaml
from pydantic import TypeAdapter, ValidationError

from prompts.errors import DataError
from tools.evidence import Frozen
from tools.files import locked, write_atomic
from tools.library.contract import QuestionHit
from tools.questions.contract import Answer, Question, QuotedAnswer
from tools.text.tokens import STOP

# What may speak of a person in a question: a question is only free of it when every word of it is a public one.
WORDS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
GENITIVE = re.compile(r"['’]s$")
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
# ours: what makes a text one about a person
PERSONAL = re.compile(
    r"\b(?:I|I'm|I've|me|my|mine|myself|he|she|his|her|him|hers|we|our|us|you|your)\b|\b(?:mr|mrs|ms|dr|prof)\b\.?"
    r"|\b(?:patient|son|daughter|wife|husband|mother|father|mum|dad|baby|brother|sister|aunt|uncle|friend)(?:'s|s)?\b"
    r"|\b\d{1,3}[- ]?(?:years?|yrs?|months?|weeks?|days?)[- ]old\b|\b\d{1,3} ?(?:[mf]\b|y\.?/?o)"
    r"|\b(?:man|woman|boy|girl|male|female|lady|gentleman) (?:of|aged?)\b"
    r"|\b(?:born|aged?|admitted|presents?|mrn|nhs|room|bed|ward)\b"
    r"|\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}|\d{5,}|@|https?:"
    rf"|\d(?:st|nd|rd|th)?(?: of)?[ -]?{MONTH}\b|\b{MONTH}[. -]{{0,2}}\d"
    r"|[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]",  # no list of public words tells a Chinese name
    re.IGNORECASE,
)
# ours: words that open a question; any other capital at its head may be that of a name (so may Will and May)
OPENING = frozenset(
    "a an are at can could did do does for from has have how if in is of on should than that the these this to was "
    "were what when where which who whom whose why with would".split()
)


def may_name(question: str, known: Callable[[str], bool], like: str) -> list[str]:
    """The words of a question that may name a person: those that are not public, and those with a capital.

    A capital is that of a public eponym or short form when ``like``, the stored question, holds the word and the next
    one too (Baker cyst), or the word as it is in capitals (HIV), or in lower case.

    Args:
        known: whether a word in lower case is a public one.
    """
    words = WORDS.findall(unicodedata.normalize("NFC", question))
    stored = WORDS.findall(like)
    unknown = [word for word in words if not _public(word.lower(), known) and not (len(word) == 1 and word in stored)]
    return unknown or [words[at] for at in _capitals(words) if not _stands(words, at, stored)]


def _public(word: str, known: Callable[[str], bool]) -> bool:
    """Whether a word, without the ending of the genitive, or each of its parts is public; a stop word is."""
    word = GENITIVE.sub("", word)
    return word in STOP or known(word) or ("-" in word and all(_public(part, known) for part in word.split("-")))


def _capitals(words: list[str]) -> Iterator[int]:
    for at, word in enumerate(words):
        if word != word.lower() and not (at == 0 and word.lower() in OPENING):
            yield at


def _stands(words: list[str], at: int, stored: list[str]) -> bool:
    word = GENITIVE.sub("", words[at])
    if word.lower() in stored or (len(word) > 1 and word.isupper() and word in stored):
        return True
    phrases = set(pairwise(GENITIVE.sub("", w.lower()) for w in stored))
    first = min(at, len(words) - 2)  # the last word is looked up with the one before it
    near = tuple(GENITIVE.sub("", w.lower()) for w in words[max(0, first) : first + 2])
    return near in phrases


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
