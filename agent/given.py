"""Texts that a user gives with a question: evidence of origin ``case``, which never leaves the machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agent.messages import check_message
from prompts.errors import InputError
from tools.evidence import Evidence, Origin, content_key
from tools.text.language import language_of

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
    if isinstance(texts, str):
        raise InputError("The given texts are one string.", "Give a list of texts.")
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
