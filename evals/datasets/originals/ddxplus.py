"""DDXPlus's patients: release_train|validate|test_patients as CSV, zipped as released or unpacked, and their codes.

Format: the repository mila-iqia/ddxplus (README.md, "Patient description"; code/convert_DDXPlus_to_texts.py): columns
AGE, DIFFERENTIAL_DIAGNOSIS, SEX, PATHOLOGY, EVIDENCES, INITIAL_EVIDENCE; the two lists are Python literals. The member
of a released archive has no suffix. Every code is looked up in the release's own codebook, which must lie beside.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from evals.datasets.ddxplus import CODES, TEXTS
from evals.datasets.ddxplus_findings import STATEMENTS
from evals.datasets.originals.contract import Conversion, Converted, Found, Original, Problem, Row, placed
from evals.datasets.originals.csv_rows import csv_rows
from evals.datasets.originals.ddxplus_codes import CONDITIONS, EVIDENCES, Codebook
from evals.datasets.originals.ddxplus_texts import Wording
from evals.datasets.originals.members import Member, members
from evals.datasets.rows import read_object
from prompts.errors import DataError

STATEMENTS_FILE = "statements_plain.json"
COLUMNS = frozenset({"AGE", "SEX", "PATHOLOGY", "EVIDENCES", "INITIAL_EVIDENCE", "DIFFERENTIAL_DIAGNOSIS"})
PATIENTS = re.compile(r"(?:^|/)release_(train|validate|test)_patients(?:\.csv|\.zip)?$")
PLAIN = re.compile(
    r"""^\[[^"\\]*\]$"""
)  # ours: no apostrophe in a name, so that it is JSON but for its quotes; ten times faster
LONGEST = 20_000  # ours: characters of a list; the longest of 36 evidences and 49 conditions is below 5,000
TOLERANCE = 0.01  # ours: how far the probabilities of a differential may be from 1 in all


class DdxplusPatient(Row):
    """A synthetic patient. ``id``: split and number of the row; ``differential``: condition and probability."""

    age: int = Field(alias="AGE", ge=0, le=130)
    sex: Literal["F", "M"] = Field(alias="SEX")
    pathology: str = Field(alias="PATHOLOGY", min_length=1)
    evidences: tuple[str, ...] = Field(alias="EVIDENCES", min_length=1)
    initial_evidence: str = Field(alias="INITIAL_EVIDENCE")
    differential: tuple[tuple[str, float], ...] = Field(alias="DIFFERENTIAL_DIAGNOSIS")
    split: Literal["train", "validate", "test"]

    model_config = Row.model_config | {"populate_by_name": True}

    @field_validator("evidences", "differential", mode="before")
    @classmethod
    def _literal(cls, cell: object) -> object:
        if not isinstance(cell, str):
            return cell
        if len(cell) > LONGEST:
            raise ValueError(f"the list has more than {LONGEST} characters")
        try:
            return json.loads(cell.replace("'", '"')) if PLAIN.match(cell) else ast.literal_eval(cell)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise ValueError("no list as Python writes it") from None

    @model_validator(mode="after")
    def _of_the_release(self, info: ValidationInfo) -> Self:
        if self.initial_evidence not in self.evidences:
            raise ValueError("the initial evidence is none of the evidences")
        if self.differential and abs(sum(p for _, p in self.differential) - 1) > TOLERANCE:
            raise ValueError("the probabilities of the differential do not add up to 1")
        book = info.context if isinstance(info.context, Codebook) else None
        if book is not None:
            for code in self.evidences:
                book.decode(code)
            unknown = {self.pathology, *(name for name, _ in self.differential)} - book.conditions
            if unknown:
                raise ValueError(f"no condition of the release: {', '.join(sorted(unknown))}")
        return self


def read(path: Path) -> Found:
    """The patients of a release's folder, or of one of its files with the codebook beside it."""
    try:
        book = Codebook.read(path if path.is_dir() else path.parent)
    except DataError as error:
        yield Problem(path.name, 0, error.what)
        return
    for member in members(path, is_patients):
        if isinstance(member, Problem):
            yield member
        elif member.name.endswith(".zip"):
            yield from _archive(path / member.name, book)
        else:
            yield from _patients(member, _split(member.name, path.name), book)


def convert(records: Iterator[Row], conversion: Conversion) -> Converted:
    """The patients as codes and, where the statements lie beside the release, as texts: what `differential` reads."""
    wording = _wording(conversion.source)
    for row in records:
        if not isinstance(row, DdxplusPatient):
            continue
        made = row.model_dump(mode="json", by_alias=True)
        yield CODES, made | {"source": f"release_{row.split}_patients", "recoded_from_french": False}
        if wording is None:
            conversion.leave_out(f"the text of a patient: {STATEMENTS_FILE} does not lie beside the release")
        else:
            yield TEXTS, _told(row, wording)


def _wording(source: Path) -> Wording | None:
    folder = source if source.is_dir() else source.parent
    if not (folder / STATEMENTS_FILE).is_file():
        return None
    return Wording(read_object(folder / STATEMENTS_FILE), Codebook.read(folder))


def _told(row: DdxplusPatient, wording: Wording) -> dict[str, Any]:
    try:
        return {
            "id": row.id, "text": wording.text(row.age, row.sex, row.evidences, row.initial_evidence),
            "initial_text": wording.initial(row.evidences, row.initial_evidence), "pathology": row.pathology,
            "age": row.age, "sex": row.sex, "names_gold": wording.names_gold(row.evidences, row.pathology),
        }  # fmt: skip
    except KeyError as error:
        raise DataError(
            f"{STATEMENTS_FILE} has no words for {error}.", f"Take the one that fits {EVIDENCES}."
        ) from None


def _patients(member: Member, split: str, book: Codebook) -> Found:
    for number, row in enumerate(csv_rows(member, COLUMNS)):
        if isinstance(row, Problem):
            yield row
        else:
            values = {**row.cells, "id": f"{split}-{number}", "split": split}
            yield placed(DdxplusPatient, values, member.name, row.line, book)


def _archive(path: Path, book: Codebook) -> Found:
    for member in members(path, is_patients):
        if isinstance(member, Problem):
            yield member
        else:
            found = _patients(member, _split(member.name, path.name), book)
            yield from (one._replace(file=f"{path.name}/{one.file}") for one in found)


def is_patients(name: str) -> bool:
    """Whether a name is that of a file of patients."""
    return PATIENTS.search(name) is not None


def _split(*names: str) -> str:
    """The split that the first of the names tells; "" where none does, which is a problem of every row."""
    return next((match[1] for match in map(PATIENTS.search, names) if match), "")


ORIGINAL = Original(
    "ddxplus",
    f"release_*_patients(.zip|.csv), with {EVIDENCES} and {CONDITIONS} beside them",
    read,
    convert,
    ((EVIDENCES, f"ddxplus/{EVIDENCES}"), (CONDITIONS, f"ddxplus/{CONDITIONS}"), (STATEMENTS_FILE, STATEMENTS)),
)
