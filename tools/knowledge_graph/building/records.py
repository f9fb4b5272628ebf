"""Reads records: JSON lines or CSV with a diagnosis (or pathology) and a text, one row a patient."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from prompts.errors import DataError, InputError
from tools.knowledge_graph.building.contract import Record

SHOWN = 10  # ours: bad rows named in one message
ADVICE = "Each row needs diagnosis (or pathology) and text; id, age and sex (F, M) may be given."
FIELDS = {"id", "diagnosis", "pathology", "text", "age", "sex"}


def read_records(path: Path) -> list[Record]:
    """The records of a ``.jsonl`` or ``.csv`` file.

    Other fields are passed over. A row without an id is named by its number.

    Raises:
        InputError: no such file, or no known ending.
        DataError: with every bad row's number (the first ten), or for a file without rows.
    """
    rows = list(_rows(path))
    records: list[Record] = []
    problems: list[str] = []
    for number, row in rows:
        try:
            records.append(_record(number, row))
        except ValidationError as error:
            said = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'row'}: {e['msg']}" for e in error.errors()[:2])
            problems.append(f"row {number}: {said}")
    ids = [r.id for r in records]
    problems += (
        [f"the id {i!r} stands twice" for i in sorted({i for i in ids if ids.count(i) > 1})] if _twice(ids) else []
    )
    if problems:
        more = f"\n... and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        raise DataError(f"{path.name} has bad rows:\n" + "\n".join(problems[:SHOWN]) + more, ADVICE)
    if not records:
        raise DataError(f"{path.name} has no rows.", ADVICE)
    return records


def _twice(ids: list[str]) -> bool:
    return len(set(ids)) < len(ids)


def _record(number: int, row: Any) -> Record:
    told = row if isinstance(row, dict) else {}
    fields = {k: v for k, v in told.items() if k in FIELDS and v not in (None, "")}
    fields.setdefault("id", str(number))
    if "pathology" in fields:
        pathology = fields.pop("pathology")
        fields.setdefault("diagnosis", pathology)
    fields["id"] = str(fields["id"])
    return Record.model_validate(fields)


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise InputError(f"There is no file {path}.", "Give a .jsonl or .csv file with --records.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path.name} cannot be read as UTF-8 text.", "Save it as UTF-8.") from error
    if path.suffix.lower() == ".csv":
        yield from enumerate(csv.DictReader(io.StringIO(text, newline="")), start=2)
        return
    if path.suffix.lower() not in (".jsonl", ".ndjson"):
        raise InputError(f"{path.name} has no known format.", "Give a .jsonl or .csv file.")
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except ValueError as error:
                raise DataError(f"{path.name}, row {number}: no valid JSON ({error}).", ADVICE) from None
