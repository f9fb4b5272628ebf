"""JSON files entry by entry: every reader of JSON goes through here, so that a broken file is told once and alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from evals.datasets.originals.contract import Found, Placed, Problem
from evals.datasets.originals.json_rows import BrokenJsonError, JsonText
from evals.datasets.originals.members import Member, text_of
from prompts.errors import DataError

Read = Callable[[JsonText, Member], Found]


def is_json(name: str) -> bool:
    """Whether a name is that of a JSON file."""
    return name.lower().endswith(".json")


def json_entries(found: Iterator[Member | Problem], read: Read) -> Found:
    """What ``read`` gives of each file; a file that is broken, or goes on after its end, is a problem."""
    for member in found:
        if isinstance(member, Problem):
            yield member
        else:
            yield from _entries(member, read)


def one_or_list(text: JsonText) -> Iterator[tuple[int, object]]:
    """A single object, or each element of a list of them, with its line."""
    if text.next() == "[":
        for line, _ in text.entries():
            yield line, text.value()
    else:
        line = text.line
        yield line, text.value()


def _entries(member: Member, read: Read) -> Iterator[Placed | Problem]:
    try:
        text = JsonText(text_of(member))
        yield from read(text, member)
        text.end()
    except BrokenJsonError as error:
        yield Problem(member.name, error.line, error.what)
    except DataError as error:
        yield Problem(member.name, 0, f"{error.what} {error.advice}")
