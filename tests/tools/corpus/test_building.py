"""Building a collection: what of the source stands in it, what is made again and what never is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from prompts.errors import DataError, InputError
from support.corpus_files import (
    MemoryBackend,
    deletion,
    open_encoder,
    publication,
    revised,
    write_xml,
)
from tools.corpus import surveying
from tools.corpus.building import Report, Wanted, build
from tools.corpus.catalogue import Catalogue
from tools.corpus.contract import Done, MakeEncoder, Recipe, SurveyTask, Task
from tools.corpus.folder import Folder, Standing
from tools.corpus.local_engine import LocalEngine
from tools.corpus.parts import VECTORS, part_folder
from tools.corpus.standing import delete
from tools.evidence import Status
from tools.indexes.contract import CollectionIndex

RECIPE = Recipe(encoder="counting", dimension=32, block=10)


class Counting(LocalEngine):
    """The local engine, which notes the parts that it makes and stops after so many."""

    def __init__(self, most: int = 10**6) -> None:
        super().__init__()
        self.made: list[str] = []
        self._most = most

    def make(self, tasks: Sequence[Task], encoder: MakeEncoder) -> Iterator[Done]:
        for done in super().make(tasks, encoder):
            if len(self.made) == self._most:
                raise KeyboardInterrupt
            self.made.append(done.key)
            yield done


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A baseline of two files, and an update that revises, deletes and retracts."""
    folder = tmp_path / "source"
    folder.mkdir()
    write_xml(folder / "pubmed99n0001.xml.gz", [publication(n) for n in range(1, 31)])
    write_xml(folder / "pubmed99n0002.xml", [*(publication(n) for n in range(31, 56)), publication(56, sentences=0)])
    update = [
        publication(3, "gout"),
        deletion(4, 5),
        publication(6, types=("Retracted Publication",)),
        revised(publication(7, "sepsis"), 2),
        publication(7, "migraine"),
    ]
    write_xml(folder / "pubmed99n0003.xml", update)
    return folder


def made(home: Path, *paths: Path, backend: MemoryBackend | None = None, engine: LocalEngine | None = None,
         **other: object) -> Report:  # fmt: skip
    wanted = Wanted("papers", paths, **{"recipe": RECIPE, **other})  # type: ignore[arg-type]
    return build(home, wanted, engine or LocalEngine(), open_encoder, backend or MemoryBackend())


def standing(home: Path) -> tuple[Standing, Catalogue]:
    folder = Folder(home, "papers")
    found = folder.standing()
    assert found is not None
    return found, Catalogue(folder.root / found.catalogue, folder.parts, found.parts)


def test_what_is_later_replaces_deletes_and_retracts(tmp_path: Path, source: Path) -> None:
    backend = MemoryBackend()
    report = made(tmp_path / "home", source, backend=backend)
    held, documents = standing(tmp_path / "home")
    assert (report.parts, report.made) == (7, 7)
    assert report.counts.steps == 30 + 26 + 6
    assert report.counts.publications == len(documents) == 53  # 55 with an abstract, less two that were deleted
    assert (report.counts.retracted, report.counts.deletions, report.counts.without_text) == (1, 2, 1)
    assert report.counts.replaced == 6  # 3, 4, 5, 6, 7 of the baseline, and version 1 of 7 after version 2
    texts = {n: documents.document(f"pubmed:{n}") for n in (3, 4, 6, 7, 56)}
    assert texts[3] is not None
    assert "gout" in texts[3].text
    assert texts[7] is not None
    assert "sepsis" in texts[7].text
    assert texts[4] is None
    assert texts[56] is None
    assert texts[6] is not None
    assert texts[6].status is Status.RETRACTED
    assert not texts[6].windows
    index = backend.only
    assert len(index) == report.counts.passages == sum(len(d.windows) for d in documents.documents())
    for document in documents.documents():
        for window in document.windows:
            entry = index.get(document.span_id(window.start, window.end))
            assert entry is not None
            assert document.text[window.start : window.end] in entry.text
            assert entry.text.startswith(document.title)
            assert entry.date == document.date
    assert held.pubmed
    assert backend.sources == [held.identity]


def test_a_stopped_build_goes_on_and_makes_no_part_twice(tmp_path: Path, source: Path) -> None:
    first, second = Counting(most=3), Counting()
    with pytest.raises(KeyboardInterrupt):
        made(tmp_path / "home", source, engine=first)
    stopped = len(list((tmp_path / "home" / "papers" / "parts").glob("??/*/part.json")))
    report = made(tmp_path / "home", source, engine=second)
    assert len(second.made) == report.made == 7 - stopped
    assert not set(first.made) & set(second.made)
    whole, backend = made(tmp_path / "other", source), MemoryBackend()
    assert whole.counts == report.counts
    assert standing(tmp_path / "home")[0].identity == standing(tmp_path / "other")[0].identity
    again = made(tmp_path / "home", source, backend=backend)
    assert again.made == 0
    assert len(backend.only) == whole.counts.passages


def test_added_files_make_only_what_they_change(tmp_path: Path, source: Path) -> None:
    held = [source / f"pubmed99n000{n}.xml{'.gz' if n == 1 else ''}" for n in (1, 2)]
    made(tmp_path / "home", *held)
    report = made(tmp_path / "home", source)
    assert report.made == 2  # the block of the revised records and the update itself
    assert standing(tmp_path / "home")[0].parts == standing_of(tmp_path / "other", source)


def standing_of(home: Path, source: Path) -> tuple[str, ...]:
    made(home, source)
    return standing(home)[0].parts


def test_an_index_of_another_source_that_was_never_finished_is_removed(tmp_path: Path, source: Path) -> None:
    class Stopping(MemoryBackend):
        def build(self, name: str, parts: object, **other: object) -> CollectionIndex:
            super().build(name, list(parts)[:1], **other)  # type: ignore[call-overload, arg-type]
            raise KeyboardInterrupt

    home, first, backend = tmp_path / "home", source / "pubmed99n0001.xml.gz", Stopping()
    with pytest.raises(KeyboardInterrupt):
        made(home, first, backend=backend)
    assert len(backend.built) == 1
    whole = MemoryBackend()
    whole.built = backend.built
    report = made(home, source, backend=whole)
    assert len(whole.only) == report.counts.passages
    assert delete(home, "papers", whole)
    assert not whole.built
    assert not delete(home, "papers", whole)
    assert not (home / "papers").exists()


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


def test_json_lines_and_names_given_twice(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "notes.jsonl"
    lines = ['{"id": "a", "title": "Ward notes", "text": "Gout was treated with rest and cold packs."}', "no object"]
    file.write_text("\n".join(lines), encoding="utf-8")
    report = made(home, file)
    assert (report.counts.publications, report.counts.unread) == (1, 1)
    assert report.problems[0].where == "line 2"
    held, documents = standing(home)
    (document,) = documents.documents()
    assert not held.pubmed
    assert documents.document(document.id) == document
    with pytest.raises(InputError, match="given twice"):
        made(tmp_path / "twice", file, tmp_path)
    with pytest.raises(InputError, match="no file"):
        made(tmp_path / "none", home / "papers" / "surveys")


def test_the_methods_and_their_passages(tmp_path: Path, source: Path) -> None:
    whole = made(tmp_path / "whole", source, recipe=RECIPE.model_copy(update={"method": "whole"}))
    assert whole.counts.publications == 53
    for _, documents in [standing(tmp_path / "whole")]:
        for d in documents.documents():
            assert "".join(d.text[w.start : w.end].replace(" ", "") for w in d.windows) == (
                d.text.replace(" ", "") if d.windows else ""
            )


def test_problem_of_a_name() -> None:
    with pytest.raises(InputError, match="cannot name"):
        Folder(Path(), "../papers")


def test_survey_runs_alone(tmp_path: Path, source: Path) -> None:
    (file, *_) = surveying.source_files([source])
    target = tmp_path / "survey.npz"
    assert surveying.survey(SurveyTask(key="k", file=file, target=str(target))).what == ""
    found = surveying.read_survey(target)
    assert found is not None
    assert found.numbers.tolist() == list(range(1, 31))
