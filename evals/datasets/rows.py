"""Rows of JSON lines and of YAML lists as checked models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from prompts.errors import DataError

Model = TypeVar("Model", bound=BaseModel)
SHIPPED = Path(__file__).resolve().parents[1] / "data"  # what this project wrote to be measured by
ADVICE = "Restore the file, or give another folder with --data."


def read_jsonl(path: Path, model: type[Model]) -> list[Model]:
    """The rows of a file of JSON lines; blank lines are passed over.

    Raises:
        DataError: when the file is missing, has no row, or a row is damaged (its number is named).
    """
    rows = [_checked(path, number, _json(path, number, line), model) for number, line in _lines(path)]
    return _some(path, rows)


def read_yaml_rows(path: Path, model: type[Model]) -> list[Model]:
    """The entries of a YAML list; raises DataError as `read_jsonl` does."""
    try:
        entries = yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        raise DataError(f"{path.name} is no valid YAML: {' '.join(str(error).split())}.", ADVICE) from error
    if not isinstance(entries, list):
        raise DataError(f"{path.name} is no list.", ADVICE)
    return _some(path, [_checked(path, number, entry, model) for number, entry in enumerate(entries, start=1)])


def read_object(path: Path) -> dict[str, Any]:
    """A file with one JSON object; raises DataError when it is missing or no such file."""
    try:
        read = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise DataError(f"{path.name} is no valid JSON ({error.msg}).", ADVICE) from error
    if not isinstance(read, dict):
        raise DataError(f"{path.name} is no JSON object.", ADVICE)
    return read


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            yield number, line


def read_text(path: Path) -> str:
    """A file's text; raises DataError when it is missing or cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise DataError(f"{path.name} is not in {path.parent}.", "Give the folder of the data with --data.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path.name} cannot be read as text.", ADVICE) from error


def _json(path: Path, number: int, line: str) -> object:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise DataError(f"{path.name}, row {number}: no valid JSON ({error.msg}).", ADVICE) from error


def _checked(path: Path, number: int, entry: object, model: type[Model]) -> Model:
    try:
        return model.model_validate(entry)
    except ValidationError as error:
        said = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'row'}: {e['msg']}" for e in error.errors()[:3])
        raise DataError(f"{path.name}, row {number}: {said}.", ADVICE) from None


def _some(path: Path, rows: list[Model]) -> list[Model]:
    if not rows:
        raise DataError(f"{path.name} has no rows.", ADVICE)
    return rows
