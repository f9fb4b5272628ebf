"""Files of a building: records in, and the merges that a person goes through."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from prompts.errors import DataError, InputError
from tools.files import write_atomic
from tools.knowledge_graph.building.contract import Merge, Record

# Reads records: JSON lines or CSV with a diagnosis (or pathology) and a text, one row a patient.
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


# The report of merges for a person: written as YAML, read back when it is confirmed.
HEAD = """# Which raw diagnoses became one disease. Set merge to true or false, names and into as they should be, then
# build again with --confirmed and this file. An entry with merge: false keeps its names apart; a name may stand
# in one entry with merge: true only.
"""


def write_merges(merges: Sequence[Merge], path: Path) -> None:
    """Write the report: what was merged, then what is proposed; diseases of one spelling last."""
    ordered = sorted(merges, key=lambda m: (len(m.names) == 1, m.merge))
    rows = [m.model_dump(mode="json", exclude_defaults=False) for m in ordered]
    text = yaml.dump(rows, Dumper=yaml.CSafeDumper, allow_unicode=True, sort_keys=False, width=120)
    write_atomic(path, (HEAD + text).encode())


def read_merges(path: Path, names: Sequence[str]) -> list[Merge]:
    """A person's decisions as merges that name every diagnosis once.

    A diagnosis that the file does not name stands alone.

    Raises:
        InputError: there is no such file.
        DataError: it is no such report, or a name stands in two merges.
    """
    try:
        rows = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"There is no file {path}.", "Give the merges.yaml of a build with --confirmed.") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise DataError(f"{path.name} cannot be read: {' '.join(str(error).split())}.", "Restore the file.") from error
    try:
        told = [Merge.model_validate(row) for row in rows] if isinstance(rows, list) else None
    except ValidationError as error:
        raise DataError(
            f"{path.name}: {error.errors()[0]['msg']}.", "Each entry needs into, names, why, merge."
        ) from None
    if told is None:
        raise DataError(f"{path.name} is no list of merges.", "Give the merges.yaml of a build.")
    return _decided(told, names, path.name)


def _decided(told: Sequence[Merge], names: Sequence[str], file: str) -> list[Merge]:
    known = set(names)
    owner: dict[str, int] = {}
    out: list[Merge] = []
    confirmed = [m for m in told if m.merge and len(m.names) > 1]
    for merge in confirmed:
        kept = tuple(n for n in merge.names if n in known)
        twice = [n for n in kept if n in owner]
        if twice:
            raise DataError(f"{file}: {twice[0]!r} stands in two merges.", "Leave it in one of them.")
        owner.update(dict.fromkeys(kept, len(out)))
        if kept:
            out.append(merge.model_copy(update={"names": kept, "why": "confirmed by a person"}))
    single = {m.names[0]: m for m in told if len(m.names) == 1}
    for name in dict.fromkeys(names):
        if name not in owner:
            alone = Merge(into=name, names=(name,), why="alone")
            out.append(single.get(name, alone))
    return out
