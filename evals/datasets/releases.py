"""Data sets as their authors release them: files, folders and archives as records with their places, and problems.

Every reader of a release goes through `read_files`, `json_entries`, `csv_entries` and `xml_root`, so that a broken file
or row is told once and alike, with file and line, and ends no reading.
"""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from pydantic import Field, ValidationError

from evals.datasets.rows import Row, faults
from prompts.errors import DataError
from tools.readers.files import check, decode, open_bytes

LARGEST = 500_000_000  # ours: bytes of a file that is read as a whole; the training sets of BioASQ are below 100 MB
SPACE = re.compile(r"[ \t\r\n]*")
DECODER = json.JSONDecoder()


class Record(Row):
    """A record of a data set."""

    id: str = Field(min_length=1)

    @property
    def key(self) -> str:
        """What tells the record from all others of its data set."""
        return self.id


class Problem(NamedTuple):
    """What could not be read: the file below the place that was given, its line (0 for the whole file), and why."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.what}" if self.line else f"{self.file}: {self.what}"


class Placed(NamedTuple):
    """A record, and the line of the file where it begins."""

    file: str
    line: int
    row: Record


Found = Iterator[Placed | Problem]
Converted = Iterator[tuple[str, dict[str, Any]]]  # a file below the data folder, and a row of it


@dataclass
class Conversion:
    """A conversion under way: what is converted, and counts of what it leaves out, by the reason."""

    source: Path
    left_out: Counter[str] = field(default_factory=Counter)

    def leave_out(self, reason: str, count: int = 1) -> None:
        """So many more for this reason."""
        if count:
            self.left_out[reason] += count


@dataclass(frozen=True)
class Original:
    """A data set in the format of its release.

    Attributes:
        name: what `anamnesis eval data convert` calls it; also its entry in the catalogue.
        files: which files it takes, in words.
        read: the records and problems of a file, a folder or an archive, in order; never raises for what they hold.
        convert: rows of the files that the evaluations read, made from records.
        copied: files of the release that the evaluations read as they are, and where below the data folder.
    """

    name: str
    files: str
    read: Callable[[Path], Found]
    convert: Callable[[Iterator[Any], Conversion], Converted]
    copied: tuple[tuple[str, str], ...] = ()


class BrokenFileError(DataError):
    """A file that cannot be read on from a line."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what, "Fetch the file again.")
        self.line = line


class Member(NamedTuple):
    """A file of a release. ``name`` is its path below what was given, ``open`` opens its unpacked bytes."""

    name: str
    open: Callable[[], IO[bytes]]

    @property
    def stem(self) -> str:
        """The name without folders and suffixes."""
        return self.name.rpartition("/")[2].partition(".")[0]

    @property
    def folder(self) -> str:
        """The name of the folder that it lies in; "" for none."""
        return self.name.rpartition("/")[0].rpartition("/")[2]

    def data(self) -> bytes:
        """All bytes; raises DataError when they cannot be read, or are more than `LARGEST`."""
        try:
            with self.open() as file:
                data = file.read(LARGEST + 1)
        except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError) as error:
            raise DataError(f"The file cannot be read ({error}).", "Fetch it again.") from error
        if len(data) > LARGEST:
            raise DataError(f"The file holds more than {LARGEST // 1_000_000} MB.", "Give its parts.")
        return data

    def text(self) -> str:
        """The file as text; raises DataError as `data` does, and for what is no text."""
        return decode(self.data())


class Entry(NamedTuple):
    """A value of a file: the member, the line where it begins, the keys that lead to it, and the value."""

    member: Member
    line: int
    keys: tuple[str, ...]
    value: Any

    def placed(
        self, model: type[Record], form: Callable[[Any], object] | None = None, context: object = None, **more: object
    ) -> Placed | Problem:
        """The value as a record, or what is wrong with it.

        Args:
            form: makes the model's fields of the value. context: for the model's checks. more: fields beside these.
        """
        try:
            values = self.value if form is None else form(self.value)
            values = values | more if isinstance(values, dict) else values
            return Placed(self.member.name, self.line, model.model_validate(values, context=context))
        except ValidationError as error:
            return self.problem(f"{faults(error)}.")
        except (TypeError, AttributeError, LookupError):
            return self.problem("The parts do not have the form of the schema.")

    def problem(self, what: str) -> Problem:
        """What is wrong with the entry."""
        return Problem(self.member.name, self.line, what)


def named(*suffixes: str) -> Callable[[str], bool]:
    """A test of names: whether one ends so, capitals aside."""
    return lambda name: name.lower().endswith(suffixes)


def read_files(path: Path, fits: Callable[[str], bool], read: Callable[[Member], Found]) -> Found:
    """What ``read`` gives of each file; one that cannot be read, or not to its end, is a problem."""
    for member in _members(path, fits):
        if isinstance(member, Problem):
            yield member
            continue
        try:
            yield from read(member)
        except BrokenFileError as error:
            yield Problem(member.name, error.line, error.what)
        except DataError as error:
            yield Problem(member.name, 0, f"{error.what} {error.advice}")


def unique(found: Found) -> Found:
    """The same; a record whose key stood before is a problem that names the first place."""
    places: dict[str, str] = {}
    for one in found:
        if isinstance(one, Placed):
            first = places.setdefault(one.row.key, f"{one.file}, line {one.line}")
            if first != f"{one.file}, line {one.line}":
                yield Problem(one.file, one.line, f"{one.row.key} stands in {first} already.")
                continue
        yield one


def _members(path: Path, fits: Callable[[str], bool]) -> Iterator[Member | Problem]:
    """The files whose names fit, in the order of their names; a single file is taken whatever its name.

    Hidden files are passed over. A place without any is a problem.
    """
    if path.is_dir():
        names = sorted(p.relative_to(path).as_posix() for p in path.rglob("*") if p.is_file())
        chosen = [n for n in names if fits(n) and not _hidden(n)]
        yield from (Member(name, partial(open_bytes, path / name)) for name in chosen)
        if not chosen:
            yield Problem(path.name, 0, "The folder holds no file of this format.")
        return
    try:
        check(path)
    except DataError as error:
        yield Problem(path.name, 0, f"{error.what} {error.advice}")
        return
    if path.suffix.lower() != ".zip":
        yield Member(path.name, partial(open_bytes, path))
        return
    try:
        with zipfile.ZipFile(path) as archive:
            names = sorted(i.filename for i in archive.infolist() if not i.is_dir() and not _hidden(i.filename))
            chosen = [name for name in names if fits(name)] or names[: len(names) == 1]
            if not chosen:
                yield Problem(path.name, 0, "The archive holds no file of this format.")
            for name in chosen:
                yield Member(name, partial(archive.open, name))
    except (zipfile.BadZipFile, OSError) as error:
        yield Problem(path.name, 0, f"The archive cannot be read ({error}).")


def _hidden(name: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in name.split("/"))


# JSON, entry by entry: `json.loads` forgets the lines, and of a key that stands twice it keeps the last.


def json_entries(member: Member, depth: int = 1, under: str = "") -> Iterator[Entry]:
    """The entries of a file, an object or a list; with a depth of 2 the entries of its entries.

    Args:
        depth: 0 gives the file as one value. under: with 2, the only key whose entries are taken.

    Raises:
        BrokenFileError: it is no JSON, not so deep, or goes on after its end; what stood before was given.
    """
    text = _Json(member.text())
    yield from text.entries(member, (), depth, under)
    if text.next():
        raise text.broken("more after the end")


def json_first(member: Member) -> str:
    """The character that a file begins with; raises DataError when it cannot be read."""
    return _Json(member.text()).next()


class _Json:
    """A place in a JSON text."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._counted, self._line = 0, 1

    def entries(self, member: Member, keys: tuple[str, ...], depth: int, under: str) -> Iterator[Entry]:
        """The value that stands here, or its entries at this depth below."""
        self.next()
        if not depth:
            line = self._line_here()
            yield Entry(member, line, keys, self._value())
            return
        found = not under
        for line, key in self._keys():
            if depth == 1:
                yield Entry(member, line, (*keys, key), self._value())
            elif under in ("", key):
                found = True
                yield from self.entries(member, (*keys, key), depth - 1, "")
            else:
                self._value()
        if not found:
            raise BrokenFileError(1, f"The file has no {under}.")

    def next(self) -> str:
        """The character that begins what stands here, white space passed over; "" at the end."""
        match = SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return self._text[self._at : self._at + 1]

    def broken(self, what: str) -> BrokenFileError:
        """The error of this place."""
        return BrokenFileError(self._line_here(), f"No valid JSON ({what}); what follows was not read.")

    def _line_here(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _value(self) -> Any:
        self.next()
        try:
            value, self._at = DECODER.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            self._at = min(error.pos, len(self._text))
            raise self.broken(error.msg) from None
        except (RecursionError, ValueError) as error:  # too deep, or a number of thousands of digits
            raise self.broken(str(error)) from None
        return value

    def _keys(self) -> Iterator[tuple[int, str]]:
        """Line and key ("0", "1", .. in a list) of each entry of what stands here; who asks takes each one's value."""
        close = {"{": "}", "[": "]"}.get(self.next(), "")
        if not close:
            raise self.broken("neither an object nor a list")
        self._at += 1
        number = 0
        while self.next() != close:
            if number:
                self._expect(",")
            self.next()
            line, key = self._line_here(), str(number) if close == "]" else self._value()
            if not isinstance(key, str):
                raise BrokenFileError(line, "No valid JSON (a key that is no text); what follows was not read.")
            if close == "}":
                self._expect(":")
            yield line, key
            number += 1
        self._at += 1

    def _expect(self, character: str) -> None:
        if self.next() != character:
            raise self.broken(f"{character!r} expected")
        self._at += 1


def csv_entries(member: Member, columns: frozenset[str], read: Callable[[Entry], Placed | Problem]) -> Found:
    """What ``read`` makes of each row of a file with a header, its value the cells by column, its key the row's number.

    Rows without any text are passed over, as blank lines are; one of another length than the header is a problem.

    Args:
        columns: those that must be there.

    Raises:
        BrokenFileError: no such header, or the file cannot be read on.
    """
    header: list[str] = []
    line, number = 1, 0
    try:
        with member.open() as file:
            lines = csv.reader(io.TextIOWrapper(file, encoding="utf-8-sig", newline=""), strict=True)
            for cells in lines:
                entry = Entry(member, line, (str(number),), dict(zip(header, cells, strict=False)))
                if not header:
                    header = [cell.strip() for cell in cells]
                    if not columns <= set(header):
                        raise BrokenFileError(1, f"The header lacks {', '.join(sorted(columns - set(header)))}.")
                elif len(cells) != len(header) and any(cells):
                    yield entry.problem(f"{len(cells)} cells where the header has {len(header)}.")
                    number += 1
                elif any(cell.strip() for cell in cells):
                    yield read(entry)
                    number += 1
                line = lines.line_num + 1
    except csv.Error as error:
        raise BrokenFileError(line, f"No valid CSV ({error}); what follows was not read.") from error
    except UnicodeDecodeError as error:
        raise BrokenFileError(0, "The text is not UTF-8; what follows was not read.") from error
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError) as error:
        raise BrokenFileError(0, f"The file cannot be read ({error}).") from error
    if not header:
        raise BrokenFileError(0, "The file has no header.")


def xml_root(member: Member) -> Any:
    """The root element of a file, whose elements know their lines; nothing is fetched.

    Raises:
        BrokenFileError: no well-formed XML, or XML with a DTD of its own, which is refused.
    """
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=False)
    try:
        root = etree.fromstring(member.data(), parser)
    except etree.XMLSyntaxError as error:
        raise BrokenFileError(error.lineno or 0, f"No well-formed XML ({error.msg}).") from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise BrokenFileError(1, "The XML brings a DTD of its own, which is not taken.")
    return root


def below(element: Any, *names: str, deep: bool = True) -> list[Any]:
    """The elements of these names at any depth, or the children alone, capitals aside, in order."""
    wanted = {name.casefold() for name in names}
    return [e for e in (element.iter() if deep else element) if isinstance(e.tag, str) and e.tag.casefold() in wanted]


def texts_of(elements: list[Any]) -> list[str]:
    """The texts of elements, white space at the ends taken off; those without any are left out."""
    return [t for t in ("".join(e.itertext()).strip() for e in elements) if t]


def said(element: Any, *names: str) -> str:
    """The text of the first child of these names; "" for none."""
    return "".join(texts_of(below(element, *names, deep=False)[:1]))
