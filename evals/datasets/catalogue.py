"""The catalogue of data sets: what each is, where it is to be had, and whether the files of a folder are ours."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import Field

from evals.datasets.rows import read_yaml_rows
from prompts.errors import InputError
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
