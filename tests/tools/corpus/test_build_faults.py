"""Builds that are refused, fail in part, or find damage: each is told, and what is finished stays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from prompts.errors import DataError, InputError, ServiceError
from support.building import RECIPE, Counting, made, standing
from support.corpus_files import MemoryBackend, publication, write_xml
from tools.corpus import reading
from tools.corpus.building import delete
from tools.corpus.contract import Done, MakeEncoder, Task
from tools.corpus.folder import Folder
from tools.corpus.local_engine import LocalEngine
from tools.corpus.parts import VECTORS, part_folder
from tools.indexes.contract import CollectionIndex


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
    surveyed = reading.kept_steps

    def change_meanwhile(surveys: Sequence[reading.Survey]) -> list[object]:
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
    (home / "papers" / "collection.json").write_text("{}")
    assert delete(home, "papers", MemoryBackend())


def cut(whole: bytes) -> bytes:
    return whole[: len(whole) // 2]


def emptied(whole: bytes) -> bytes:
    return whole[:0]


def flipped(whole: bytes) -> bytes:
    return whole[:300] + bytes(byte ^ 255 for byte in whole[300:340]) + whole[340:]


@pytest.mark.parametrize("damage", [cut, emptied, flipped])
def test_a_damaged_survey_is_told_once_and_made_anew(
    tmp_path: Path, source: Path, damage: Callable[[bytes], bytes]
) -> None:
    made(tmp_path / "home", source)
    (survey, *_) = (tmp_path / "home" / "papers" / "surveys").glob("*.npz")
    survey.write_bytes(damage(survey.read_bytes()))
    with pytest.raises(DataError, match=r"survey .* is damaged"):
        made(tmp_path / "home", source)
    assert made(tmp_path / "home", source).made == 0


@pytest.mark.parametrize("damage", [cut, emptied])
def test_a_damaged_catalogue_is_told_and_made_anew(
    tmp_path: Path, source: Path, damage: Callable[[bytes], bytes]
) -> None:
    made(tmp_path / "home", source)
    held, _ = standing(tmp_path / "home")
    file = tmp_path / "home" / "papers" / held.catalogue
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    with pytest.raises(DataError, match=r"catalogue .* is damaged"):
        standing(tmp_path / "home")
    made(tmp_path / "home", source)
    assert file.read_bytes() == whole


def full(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("step", ["tools.corpus.reading.write_atomic", "tools.corpus.building.write_catalogue"])
def test_a_full_disk_is_told_and_the_build_goes_on_afterwards(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(step, full)
    with pytest.raises(DataError, match="cannot be written: No space left"):
        made(tmp_path / "home", source)
    monkeypatch.undo()
    assert made(tmp_path / "home", source).counts.publications == 53


def test_what_cannot_be_deleted_is_not_called_deleted(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path / "home", source)
    monkeypatch.setattr("tools.corpus.folder.shutil.rmtree", full)
    with pytest.raises(DataError, match="cannot be written: No space left"):
        delete(tmp_path / "home", "papers", MemoryBackend())


def test_a_backend_that_does_not_serve_is_told_before_any_part_is_made(tmp_path: Path, source: Path) -> None:
    class Down(MemoryBackend):
        def open(self, name: str, *, encoder: str, dimension: int) -> CollectionIndex:
            raise ServiceError("The Milvus does not answer.", "Start it.")

    engine = Counting()
    with pytest.raises(ServiceError, match="does not answer"):
        made(tmp_path / "home", source, engine=engine, backend=Down())
    assert not engine.made


def test_problem_of_a_name() -> None:
    with pytest.raises(InputError, match="cannot name"):
        Folder(Path(), "../papers")
