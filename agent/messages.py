"""What may be a message."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prompts.errors import InputError
from tools.evidence import Evidence, Origin, content_key
from tools.text.language import language_of
from tools.text.sentences import without_gaps

if TYPE_CHECKING:
    from agent.conversation import Asked

MOST_STATEMENTS = 2_000  # ours: of so many, short as they are, reading takes two seconds of a processor
MOST_DIFFERENT = 700  # ours: the same of statements that differ, each of which is read for itself
STATEMENT = re.compile(r"\d+(?:\.\d+)?|[^\s\d,;:.!?、，；：。！？][^\d,;:.!?\n、，；：。！？]*")  # or a value
NOT_TEXT = re.compile("[\x00-\x08\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # control characters, broken UTF-8


def check_kinds(asked: Asked) -> None:
    """Raise InputError for what is not of its kind, as types say it; who calls from Python may not check them."""
    if asked.options is not None and not isinstance(asked.options, Mapping):
        raise InputError("The options have no letters.", 'Give each its letter: options={"A": "...", "B": "..."}.')
    if isinstance(asked.documents, str) or not isinstance(asked.documents, Sequence):
        raise InputError("The documents are no list.", "Give a list of their ids.")
    if asked.replying is not None and not callable(asked.replying):
        raise InputError("replying cannot be called.", "Give a coroutine function: async def replying(question): ...")
    for name, text in (("owner", asked.owner), ("turn_key", asked.turn_key)):
        if not isinstance(text, str):
            raise InputError(f"{name} is not text.", "Give a string.")


def check_message(text: str, limit: int, name: str = "The message", *, stated: bool = True, raised: bool = True) -> str:
    """The message, stripped, its runs of white space made short; raises InputError when empty, too long or not text.

    The limit holds for what came, so that white space is no way around it. Of a message that is read statement by
    statement (``stated``) `check_statements` bounds the processor time. ``raised``: a setting can raise the limit.
    """
    if not isinstance(text, str) or NOT_TEXT.search(text):
        raise InputError(f"{name} is not text.", "Send plain text.")
    stripped = text.strip()
    if not stripped:
        what = "Describe a case, ask a question, or give" if raised else "Give"
        raise InputError(f"{name} is empty.", f"{what} a text that says something.")
    if len(stripped) > limit:
        raise InputError(
            f"{name} has {len(stripped):,} characters; at most {limit:,} are taken.",
            "Shorten it, or raise ANAMNESIS_MAX_CHARACTERS." if raised else "Shorten it.",
        )
    if stated:
        check_statements(stripped, name)
    return without_gaps(stripped)


def check_statements(text: str, name: str = "The message", case: str = "") -> None:
    """Raise InputError where reading a text, with the case that was told before it, would take too long.

    A turn's processor time goes by its statements and values, and by how many of them differ.
    """
    said = [match[0].strip().lower() for match in STATEMENT.finditer(f"{case}\n{text}")]
    for count, most, what in (
        (len(said), MOST_STATEMENTS, "statements and values"),
        (len(set(said)), MOST_DIFFERENT, "different statements and values"),
    ):
        if count > most:
            raise InputError(
                f"{name} makes {count:,} {what}; at most {most:,} are read in a turn.",
                "Start a new session with what matters of it."
                if case
                else "Send what matters first, the rest in a later message, or hand it in as a document.",
            )


def check_options(options: Mapping[str, str] | None, limit: int) -> None:
    """Raise InputError for an option, or its letter, that cannot be taken."""
    for letter, option in (options or {}).items():
        check_message(letter, limit, "An option's letter")
        check_message(option, limit, "An option")


# Texts that a user gives with a question: evidence of origin `case`, which never leaves the machine.

COLLECTION = "given"
MOST = 20  # ours: texts with one question; more belong into the library
HASH = 16  # ours: characters of the sha256 in an id, enough to tell texts apart


def given_evidence(texts: Sequence[str], limit: int) -> list[Evidence]:
    """Each text as a piece of evidence ``given:<hash>``, each once, in order.

    Args:
        texts: plain texts.
        limit: most characters of each.

    Raises:
        InputError: when one is empty, too long or not text, or there are too many.
    """
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        raise InputError("The given texts are no list.", "Give a list of texts.")
    if len(texts) > MOST:
        raise InputError(f"{len(texts)} texts are given; at most {MOST} are taken.", "Add them to the library instead.")
    checked = [
        check_message(text, limit, f"Given text {number}", stated=False) for number, text in enumerate(texts, start=1)
    ]
    return [_evidence(text) for text in dict.fromkeys(checked)]


def read_given(paths: Sequence[Path]) -> list[str]:
    """The texts of UTF-8 files; raises InputError for one that cannot be read as text."""
    return [_read(path) for path in paths]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text.", "Give a plain text file.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", "Check the name of the file.") from None


def _evidence(text: str) -> Evidence:
    return Evidence(
        id=f"{COLLECTION}:{content_key(text)[:HASH]}",
        text=text,
        kind="given",
        origin=Origin.CASE,
        language=language_of(text),
    )
