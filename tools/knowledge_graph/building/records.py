"""Reads records: JSON lines or CSV with a diagnosis (or pathology) and a text, one row a patient."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
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
    times = Counter(r.id for r in records)
    problems += [f"the id {i!r} stands {n} times" for i, n in sorted(times.items()) if n > 1]
    if problems:
        more = f"\n... and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        raise DataError(f"{path.name} has bad rows:\n" + "\n".join(problems[:SHOWN]) + more + "\n", ADVICE)
    if not records:
        raise DataError(f"{path.name} has no rows.", ADVICE)
    return records


def _record(number: int, row: Any) -> Record:
    told = row if isinstance(row, dict) else {}
    bare = {k: v.strip() if isinstance(v, str) else v for k, v in told.items() if k in FIELDS}
    fields = {k: v for k, v in bare.items() if v not in (None, "")}
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
        raise DataError(f"{path} cannot be read as UTF-8 text.", "Give a file, saved as UTF-8.") from error
    if path.suffix.lower() == ".csv":
        yield from enumerate(_csv_rows(text, path.name), start=2)
        return
    if path.suffix.lower() not in (".jsonl", ".ndjson"):
        raise InputError(f"{path.name} has no known format.", "Give a .jsonl or .csv file.")
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise DataError(f"{path.name}, row {number}: no valid JSON ({error}).", ADVICE) from None


def _csv_rows(text: str, name: str) -> list[dict[str, Any]]:
    try:
        return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise DataError(f"{name} is no sound CSV ({error}).", ADVICE) from None
