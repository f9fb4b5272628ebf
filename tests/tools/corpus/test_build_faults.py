"""Builds that are refused, fail in part, or find damage: each is told, and what is finished stays."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from prompts.errors import DataError, InputError
from support.building import RECIPE, Counting, made, standing
from support.corpus_files import publication, write_xml
from tools.corpus import surveying
from tools.corpus.contract import Done, MakeEncoder, Task
from tools.corpus.folder import Folder
from tools.corpus.local_engine import LocalEngine
from tools.corpus.parts import VECTORS, part_folder


def test_another_source_or_recipe_is_refused_until_asked_for(tmp_path: Path, source: Path) -> None:
    home = tmp_path / "home"
    made(home, source)
    with pytest.raises(InputError, match="not given"):
        made(home, source / "pubmed99n0002.xml")
    with pytest.raises(InputError, match="method was seos, is now whole"):
        made(home, source, recipe=RECIPE.model_copy(update={"method": "whole"}))
    write_xml(source / "pubmed99n0002.xml", [publication(n, "eczema") for n in range(31, 56)])
    with pytest.raises(InputError, match="another file"):
        made(home, source)
    report = made(home, source, afresh=True)
    assert report.made == 3  # the changed file alone
    assert made(home, source / "pubmed99n0002.xml", afresh=True).counts.publications == 25


def test_a_damaged_file_is_told_and_costs_no_other_its_parts(tmp_path: Path, source: Path) -> None:
    home, update = tmp_path / "home", source / "pubmed99n0002.xml"
    good = update.read_bytes()
    update.write_bytes(good[: len(good) // 2])
    with pytest.raises(DataError, match=r"1 of 3 files failed: pubmed99n0002.xml is damaged or cut off"):
        made(home, source)
    assert Folder(home, "papers").standing() is None
    update.write_bytes(good)
    assert made(home, source).counts.publications == 53


def test_a_block_that_cannot_be_read_fails_by_itself(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, changed = tmp_path / "home", source / "pubmed99n0002.xml"
    surveyed = surveying.kept_steps

    def change_meanwhile(surveys: Sequence[surveying.Survey]) -> list[object]:
        os.utime(changed, ns=(1, 1))
        return surveyed(surveys)  # type: ignore[return-value]

    monkeypatch.setattr("tools.corpus.building.kept_steps", change_meanwhile)
    with pytest.raises(DataError, match=r"3 of 7 blocks failed: pubmed99n0002\.xml has changed"):
        made(home, source)
    monkeypatch.undo()
    engine = Counting()
    made(home, source, engine=engine)
    assert len(engine.made) == 3


class Forgetful(LocalEngine):
    """An engine whose workers are killed at every second block."""

    def make(self, tasks: Sequence[Task], encoder: MakeEncoder) -> Iterator[Done]:
        yield from super().make(tasks[::2], encoder)


def test_a_block_without_an_outcome_is_a_failed_one(tmp_path: Path, source: Path) -> None:
    with pytest.raises(DataError, match="3 of 7 blocks failed: Its process was ended"):
        made(tmp_path / "home", source, engine=Forgetful())
    assert made(tmp_path / "home", source).made == 3


def test_damage_is_found_and_mended(tmp_path: Path, source: Path) -> None:
    home = tmp_path / "home"
    made(home, source)
    key = standing(home)[0].parts[2]
    file = part_folder(home / "papers" / "parts", key) / VECTORS
    whole = file.read_bytes()
    file.write_bytes(whole[:-4] + b"\0\0\0\0")
    with pytest.raises(DataError, match="damaged"):
        made(home, source)
    assert made(home, source, verify=True).made == 1
    assert file.read_bytes() == whole


def test_a_damaged_manifest_is_told_and_built_afresh(tmp_path: Path, source: Path) -> None:
    home = tmp_path / "home"
    made(home, source)
    for name in ("plan.json", "collection.json"):
        (home / "papers" / name).write_text("{}")
        with pytest.raises(DataError, match=f"{name} is damaged"):
            made(home, source)
        assert made(home, source, afresh=True).made == 0


def test_problem_of_a_name() -> None:
    with pytest.raises(InputError, match="cannot name"):
        Folder(Path(), "../papers")
