"""The report of merges for a person: written as YAML, read back when it is confirmed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import yaml
from pydantic import ValidationError

from prompts.errors import DataError, InputError
from tools.files import write_atomic
from tools.knowledge_graph.building.contract import Merge

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
