"""What a reader of an original format gives: records with their places, and problems; and what a conversion writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

MESSAGES = 3  # ours: faults of one row that are told; the first ones tell what is wrong


class Row(BaseModel):
    """A record of a data set. Keys that no evaluation needs are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")

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
        place = f"{self.file}, line {self.line}" if self.line else self.file
        return f"{place}: {self.what}"


class Placed(NamedTuple):
    """A record, and the line of the file where it begins."""

    file: str
    line: int
    row: Row


Found = Iterator[Placed | Problem]
Model = TypeVar("Model", bound=Row)


@dataclass
class Conversion:
    """A conversion under way: what is converted, and counts of what it leaves out, by the reason."""

    source: Path
    left_out: Counter[str] = field(default_factory=Counter)

    def leave_out(self, reason: str) -> None:
        """One more for this reason."""
        self.left_out[reason] += 1


Converted = Iterator[tuple[str, dict[str, Any]]]  # a file below the data folder, and a row of it


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
    convert: Callable[[Iterator[Row], Conversion], Converted]
    copied: tuple[tuple[str, str], ...] = ()


def placed(model: type[Model], values: object, file: str, line: int, context: object = None) -> Placed | Problem:
    """The values as a record, or what is wrong with them; ``context`` is what the model checks them against."""
    try:
        return Placed(file, line, model.model_validate(values, context=context))
    except ValidationError as error:
        told = error.errors(include_input=False, include_url=False)[:MESSAGES]
        said = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'row'}: {e['msg']}" for e in told)
        return Problem(file, line, f"{said}.")


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
