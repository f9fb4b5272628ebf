"""Files made to stall a reader: packed bombs, and texts without the spaces and ends that texts have.

Times are of the processor: what is refused or read here takes a tenth of them on a quiet machine, and what it took
before was a hundred times as long.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from prompts.errors import DataError
from tools.readers import files
from tools.readers.contract import Problem, Record
from tools.readers.files import open_bytes, unpacked_together
from tools.readers.normal import normalise
from tools.readers.plain import unwrap
from tools.readers.reading import read

MEGABYTE = 1_000_000
PIECE = 4 * MEGABYTE
BOMBS = {
    "white space before the root": ("a.xml.gz", b"", b" ", b"<PubmedArticleSet/>"),
    "a comment before the root": ("a.xml.gz", b"<!--", b"a", b"--><PubmedArticleSet/>"),
    "an attribute of the root": ("a.xml.gz", b"<article a='", b"a", b"'/>"),
    "white space in the root": ("a.xml.gz", b"<PubmedArticleSet>", b" ", b"</PubmedArticleSet>"),
    "a comment in the root": ("a.xml.gz", b"<PubmedArticleSet><!--", b"a", b"--></PubmedArticleSet>"),
    "a comment of an article": ("a.nxml.gz", b"<article><!--", b"a", b"--></article>"),
    "one line": ("a.jsonl.gz", b'{"text": "', b"a", b'"}'),
    "white space in one line": ("a.jsonl.gz", b"", b" ", b"{}"),
    "empty lines": ("a.jsonl.gz", b"", b"\n", b"{}"),
}
TEXTS = {
    "letters": "a",
    "hyphens": "-",
    "letters and hyphens": "a-",
    "digits": "1",
    "stops": ".",
    "stops and letters": "a.",
    "short lines": "a\n",
    "short lines with hyphens": "a-\n",
    "short paragraphs": "a\n\n",
    "blank lines": " \n",
    "Chinese": "痛",
    "underscores": "_",
    "marks": "\u0301\u0323",
}


def sample(names: Iterable[str], few: int) -> list[Any]:
    """The first ones at every run of the tests, the others in `make test-slow`."""
    listed = list(names)
    return listed[:few] + [pytest.param(name, marks=pytest.mark.slow) for name in listed[few:]]


def processor(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def bomb(path: Path, head: bytes, unit: bytes, tail: bytes, pieces: int = 500) -> Path:
    """A file of some 2 MB that unpacks to 2 GB: members of gzip after one another are one file."""
    piece = gzip.compress(unit * (PIECE // len(unit)))
    path.write_bytes(gzip.compress(head) + piece * pieces + gzip.compress(tail))
    return path


@pytest.mark.parametrize("name", sample(BOMBS, 2))
def test_a_packed_bomb_is_refused_at_once_and_told(name: str, tmp_path: Path) -> None:
    file, head, unit, tail = BOMBS[name]
    path = bomb(tmp_path / file, head, unit, tail)
    assert path.stat().st_size < 4 * MEGABYTE
    found: list[Record | Problem] = []
    assert processor(lambda: found.extend(read(path))) < 3
    last = found[-1]
    assert isinstance(last, Problem)
    assert "MB" in last.what or "times its size" in last.what
    assert last.advice


def test_many_small_bombs_are_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "FREE_TOGETHER", 10 * MEGABYTE)
    paths = [bomb(tmp_path / f"{n}.jsonl.gz", b"", b" ", b"", pieces=1) for n in range(5)]

    def unpacked(path: Path) -> int:
        with open_bytes(path) as file:
            return len(file.read())

    assert [unpacked(path) for path in paths] == [PIECE] * 5
    with unpacked_together():
        assert [unpacked(path) for path in paths[:2]] == [PIECE] * 2
        with pytest.raises(DataError, match="packed files before it"):
            unpacked(paths[2])
    assert unpacked(paths[2]) == PIECE


def test_what_is_packed_as_texts_are_is_read_however_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "FREE", 1000)
    lines = "".join(f'{{"text": "Record {n * n} says {n**3}."}}\n' for n in range(20_000)).encode()
    packed = tmp_path / "a.jsonl.gz"
    packed.write_bytes(gzip.compress(lines))
    assert sum(isinstance(item, Record) for item in read(packed)) == 20_000


@pytest.mark.parametrize("name", sample(TEXTS, 3))
def test_a_text_of_one_thing_over_and_over_is_read_in_linear_time(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(TEXTS[name] * (MEGABYTE // len(TEXTS[name])), encoding="utf-8")
    assert processor(lambda: list(read(path))) < 6


def test_lines_are_counted_past_blank_ones_and_past_one_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.readers.jsonl.LONGEST", 100)
    monkeypatch.setattr("tools.readers.jsonl.BLOCK", 64)
    good = '{"text": "A."}'
    lines = ["", "  " * 90, good, "x" * 500, " " * 99 + good, "", '{"text": "B' + "b" * 60 + '"}', "x" * 99 + "\t" * 9]
    path = tmp_path / "a.jsonl"
    path.write_text("\ufeff" + "\n".join(lines), encoding="utf-8")
    found = [(item.text[:1] if isinstance(item, Record) else f"{item.where}: {item.what}") for item in read(path)]
    assert found == ["A", "line 4: The line is longer than 0 MB.", "A", "B", "line 8: The line is longer than 0 MB."]


def test_words_parted_at_a_lines_end_are_joined_as_before() -> None:
    text = "the well-known treat-\nment of well-\nknown dis\u2010\nease, pH-\nValue and 4-\nfold"
    assert unwrap(text) == ["the well-known treatment of well-known disease, pH-Value and 4- fold"]


@pytest.mark.parametrize("text", ["a" + "\u0301" * 99, "\u0344" * 99, "é\u0323", "a" + "\u0323\u0301" * 40 + "b"])
def test_marks_beyond_what_a_letter_can_have_are_left_out(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert len(once) <= 64
