"""The catalogue of data sets: what each is, where it is to be had, and whether the files of a folder are ours.

Below it every original format by its name, and a release turned into the files that the evaluations read.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Literal, NamedTuple, TypeVar

from pydantic import Field

from evals.datasets import (
    bioasq,
    clinical,
    ddxplus,
    healthsearchqa,
    liveqa,
    medquad,
    mirage,
    phenopackets,
    pubmedqa,
)
from evals.datasets.releases import Conversion, Converted, Found, Original, Placed, Problem, Record, unique
from evals.datasets.rows import read_yaml_rows
from prompts.errors import DataError, InputError
from tools.evidence import Frozen

CATALOGUE = Path(__file__).with_name("catalogue.yaml")
State = Literal["same", "other", "there", "absent"]


class DataFile(Frozen):
    """A file below the data folder. ``sha256`` and ``rows`` are of the file that our figures rest on; "" and None where
    none was measured. ``made``: what ours is, where it is not what `convert` writes of the whole release."""

    path: str = Field(min_length=1)
    sha256: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")
    rows: int | None = None
    made: str = ""

    def told(self) -> str:
        """The file in a line."""
        rows = f", {self.rows:,} rows" if self.rows is not None else ""
        return f"file: {self.path}{rows}, sha256 {self.sha256 or 'not known'}{f' ({self.made})' if self.made else ''}"


class Released(Frozen):
    """A file of a release whose checksum is known. ``known_from``: who says so, where we did not measure it."""

    name: str
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    known_from: str = ""

    def told(self) -> str:
        """The file in a line."""
        known = f" (as {self.known_from} says; not measured by us)" if self.known_from else ""
        return f"released: {self.name}, sha256 {self.sha256}{known}"


class DataSet(Frozen):
    """A data set.

    Attributes:
        access: ``open``, ``registration`` and ``application`` (somebody gives it), ``shipped`` with the project, or
            ``private``.
        addresses: where it is to be had; empty for what is shipped.
        original: the name of its reader, "" where there is none.
        place: how to place it so that ``--data`` finds it.
        tasks: evaluations that read it.
    """

    name: str = Field(pattern=r"^[a-z0-9_]+$")
    what: str
    access: Literal["open", "registration", "application", "shipped", "private"]
    addresses: tuple[str, ...] = ()
    licence: str
    size: str
    original: str = ""
    tasks: tuple[str, ...] = ()
    files: tuple[DataFile, ...] = ()
    released: tuple[Released, ...] = ()
    place: str
    note: str = ""

    def told(self) -> list[str]:
        """All that is known of it, a line each."""
        return [
            f"{self.name}: {self.what}",
            f"  access: {self.access}; licence: {self.licence}; size: {self.size}",
            *(f"  address: {address}" for address in self.addresses),
            f"  read by: {', '.join(self.tasks) or 'no evaluation yet'}",
            f"  place: {self.place}",
            *([f"  note: {self.note}"] if self.note else []),
            *(f"  {file.told()}" for file in self.files),
            *(f"  {release.told()}" for release in self.released),
        ]


class Checked(Frozen):
    """A file of the catalogue beside the one in a data folder. ``sha256``: measured, "" where it is absent."""

    data_set: str
    path: str
    state: State
    sha256: str = ""


def read_catalogue() -> list[DataSet]:
    """Every data set; raises DataError when the catalogue is damaged."""
    return read_yaml_rows(CATALOGUE, DataSet)


def check_files(sets: Iterable[DataSet], folder: Path) -> list[Checked]:
    """The files of the catalogue as they are in a data folder; raises InputError when there is no such folder."""
    if not folder.is_dir():
        raise InputError(f"There is no data folder {folder}.", "Give an existing folder with --check.")
    return [_checked(data_set.name, file, folder) for data_set in sets for file in data_set.files]


def data_json(sets: list[DataSet], checked: list[Checked] | None) -> bytes:
    """The catalogue, and the check where one was made, as JSON."""
    made = {
        "data_sets": [s.model_dump(mode="json") for s in sets],
        **({"checked": [c.model_dump(mode="json") for c in checked]} if checked is not None else {}),
    }
    return f"{json.dumps(made, indent=2, ensure_ascii=False)}\n".encode()


def _checked(name: str, file: DataFile, folder: Path) -> Checked:
    path = folder / file.path
    if not path.exists():
        return Checked(data_set=name, path=file.path, state="absent")
    if path.is_dir():
        return Checked(data_set=name, path=file.path, state="there")
    with path.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    state: State = "there" if not file.sha256 else "same" if digest == file.sha256 else "other"
    return Checked(data_set=name, path=file.path, state=state, sha256=digest)


Item = TypeVar("Item")

ORIGINALS: dict[str, Original] = {
    original.name: original
    for original in (
        mirage.ORIGINAL,
        pubmedqa.ORIGINAL,
        bioasq.ORIGINAL,
        medquad.ORIGINAL,
        liveqa.ORIGINAL,
        ddxplus.ORIGINAL,
        clinical.CMB_CLIN,
        clinical.CMEMR,
        clinical.CLINICALBENCH,
        phenopackets.ORIGINAL,
        healthsearchqa.ORIGINAL,
    )
}


def find_original(name: str) -> Original:
    """The format of this name; raises InputError that names the others."""
    original = ORIGINALS.get(name)
    if original is None:
        raise InputError(f"There is no original format {name!r}.", f"These can be read: {', '.join(ORIGINALS)}.")
    return original


class Report(NamedTuple):
    """What a conversion did.

    Attributes:
        read: records of the release. written: rows by file. copied: files taken as they are.
        left_out: rows that no evaluation can use, by the reason. problems: what could not be read.
    """

    read: int
    written: dict[str, int]
    copied: list[str]
    left_out: dict[str, int]
    problems: list[Problem]


def convert(
    original: Original, source: Path, folder: Path, *, limit: int | None = None, seed: int = 0, replace: bool = False
) -> Report:
    """Write the files below a data folder; each is there whole or not at all.

    Args:
        limit: most records, drawn by the seed from all; None takes all as they stream in.
        replace: write over files that are there.

    Raises:
        InputError: no such release, a file that is there already, or a bad limit.
        DataError: nothing could be read, or what could has no use.
    """
    if not source.exists():
        raise InputError(f"There is no {source}.", "Give the file or folder of the release.")
    if limit is not None and limit < 1:
        raise InputError("--limit must be at least 1.", "Leave it out to take all.")
    problems: list[Problem] = []
    count = Counter[str]()
    conversion = Conversion(source)
    records = _records(unique(original.read(source)), problems, count)
    if limit is not None:
        records = iter(drawn(records, limit, seed))
    written = _write(original.convert(records, conversion), folder, replace=replace)
    if not written:
        first = str(problems[0]) if problems else next(iter(conversion.left_out), "")
        raise DataError(f"Nothing was converted. {first}", f"{original.name} takes {original.files}.")
    copied = list(_copied(original, source, folder, replace=replace))
    return Report(count["read"], written, copied, dict(conversion.left_out), problems)


def drawn(items: Iterator[Item], limit: int, seed: int) -> list[Item]:
    """At most ``limit`` of the items, each as likely as any other, in their order: Vitter's reservoir (algorithm R)."""
    chance = random.Random(seed)  # noqa: S311
    kept: list[tuple[int, Item]] = []
    for number, item in enumerate(items):
        if number < limit:
            kept.append((number, item))
        elif (place := chance.randrange(number + 1)) < limit:
            kept[place] = (number, item)
    return [item for _, item in sorted(kept, key=lambda one: one[0])]


def _records(found: Found, problems: list[Problem], count: Counter[str]) -> Iterator[Record]:
    for one in found:
        if isinstance(one, Placed):
            count["read"] += 1
            yield one.row
        else:
            problems.append(one)


def _write(rows: Converted, folder: Path, *, replace: bool) -> dict[str, int]:
    """Rows to files as they come, in a folder aside; then all files into place."""
    folder.mkdir(parents=True, exist_ok=True)
    written = Counter[str]()
    with tempfile.TemporaryDirectory(dir=folder, prefix=".converting-") as aside, ExitStack() as stack:
        files: dict[str, IO[str]] = {}
        for name, row in rows:
            if name not in files:
                _free(folder / name, replace=replace)
                place = Path(aside) / name
                place.parent.mkdir(parents=True, exist_ok=True)
                files[name] = stack.enter_context(place.open("w", encoding="utf-8"))
            files[name].write(json.dumps(row, ensure_ascii=False) + "\n")
            written[name] += 1
        for name, file in files.items():
            file.close()
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(aside) / name).replace(folder / name)
    return dict(written)


def _copied(original: Original, source: Path, folder: Path, *, replace: bool) -> Iterator[str]:
    beside = source if source.is_dir() else source.parent
    for name, place in original.copied:
        theirs, target = beside / name, folder / place
        if not theirs.is_file() or (target.is_file() and target.read_bytes() == theirs.read_bytes()):
            continue
        _free(target, replace=replace)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(theirs, target)
        yield place


def _free(path: Path, *, replace: bool) -> None:
    if path.exists() and not replace:
        raise InputError(f"{path} is there already.", "Give another folder, or --replace to write over it.")
