"""Rows of JSON lines, of JSON and of YAML as checked models, with one form of every fault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from prompts.errors import DataError

SHIPPED = Path(__file__).resolve().parents[1] / "data"  # what this project wrote to be measured by
RESOURCES = Path(__file__).resolve().parents[1] / "resources"
ADVICE = "Restore the file, or give another folder with --data."
MESSAGES = 3  # ours: faults of one row that are told; the first ones tell what is wrong


class Row(BaseModel):
    """Base of rows that others wrote: keys that no evaluation needs are passed over. Ours are `Frozen`."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


Model = TypeVar("Model", bound=BaseModel)


def read_jsonl(path: Path, model: type[Model]) -> list[Model]:
    """The rows of a file of JSON lines; blank lines are passed over.

    Raises:
        DataError: when the file is missing, has no row, or a row is damaged (its number is named).
    """
    lines = enumerate(read_text(path).split("\n"), start=1)
    rows = ((number, _json(f"{path.name}, row {number}:", line)) for number, line in lines if line.strip())
    return _some(path, [checked(f"{path.name}, row {number}", entry, model) for number, entry in rows])


def read_yaml_rows(path: Path, model: type[Model]) -> list[Model]:
    """The entries of a YAML list; raises DataError as `read_jsonl` does."""
    entries = _list(path, read_yaml(path))
    return _some(path, [checked(f"{path.name}, row {n}", entry, model) for n, entry in enumerate(entries, start=1)])


def read_json_rows(path: Path, model: type[Model]) -> list[Model]:
    """The entries of a JSON list, or the values of an object in the order of its keys; DataError as `read_jsonl`."""
    read = _json(f"{path.name} is", read_text(path))
    entries = [value for _, value in sorted(read.items())] if isinstance(read, dict) else _list(path, read)
    return [checked(path.name, entry, model) for entry in entries]


def read_object(path: Path) -> dict[str, Any]:
    """A file with one JSON object; raises DataError when it is missing or no such file."""
    read = _json(f"{path.name} is", read_text(path))
    if not isinstance(read, dict):
        raise DataError(f"{path.name} is no JSON object.", ADVICE)
    return read


def read_yaml(path: Path) -> Any:
    """What a YAML file holds; raises DataError when it is missing or no such file."""
    try:
        return yaml.load(read_text(path), yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise DataError(f"{path.name} is no valid YAML: {' '.join(str(error).split())}.", ADVICE) from error


def read_text(path: Path) -> str:
    """A file's text; raises DataError when it is missing or cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise DataError(f"{path.name} is not in {path.parent}.", "Give the folder of the data with --data.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path.name} cannot be read as text.", ADVICE) from error


def checked(where: str, entry: object, model: type[Model]) -> Model:
    """An entry as its model; raises DataError that says where it stands and what is wrong."""
    try:
        return model.model_validate(entry)
    except ValidationError as error:
        raise DataError(f"{where}: {faults(error)}.", ADVICE) from None


def faults(error: ValidationError) -> str:
    """The first faults of a row in words, each with the field."""
    told = error.errors(include_input=False, include_url=False)[:MESSAGES]
    return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'row'}: {e['msg']}" for e in told)


def _json(where: str, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"{where} no valid JSON ({error.msg}).", ADVICE) from error


def _list(path: Path, read: object) -> list[Any]:
    if not isinstance(read, list):
        raise DataError(f"{path.name} is no list.", ADVICE)
    return read


def _some(path: Path, rows: list[Model]) -> list[Model]:
    if not rows:
        raise DataError(f"{path.name} has no rows.", ADVICE)
    return rows
