"""Building a collection: what of the source stands in it, what is made again and what never is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prompts.errors import InputError
from support.building import RECIPE, Counting, made, standing
from support.corpus_files import MemoryBackend
from tools.corpus import reading
from tools.corpus.building import delete
from tools.corpus.contract import SurveyTask
from tools.evidence import Status
from tools.indexes.contract import CollectionIndex


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


def test_an_index_that_is_whole_is_not_made_again_unless_asked_for(tmp_path: Path, source: Path) -> None:
    home, backend = tmp_path / "home", MemoryBackend()
    for _ in range(2):
        report = made(home, source, backend=backend)
    assert len(backend.sources) == 1
    assert len(backend.only) == report.counts.passages
    made(home, source, backend=backend, verify=True)
    assert len(backend.sources) == 2


def test_what_a_kill_left_of_the_collection_before_is_removed(tmp_path: Path, source: Path) -> None:
    class Killed(MemoryBackend):
        def delete(self, name: str) -> bool:
            raise KeyboardInterrupt

    home, killed = tmp_path / "home", Killed()
    made(home, source / "pubmed99n0001.xml.gz", backend=killed)
    with pytest.raises(KeyboardInterrupt):
        made(home, source, backend=killed)
    assert len(killed.built) == len(list((home / "papers").glob("catalogue-*"))) == 2
    backend = MemoryBackend()
    backend.built = killed.built
    made(home, source, backend=backend)
    assert list(backend.built) == [standing(home)[0].index]
    assert [file.name for file in (home / "papers").glob("catalogue-*")] == [standing(home)[0].catalogue]


def test_json_lines_and_names_given_twice(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "notes.jsonl"
    lines = ['{"id": "a", "title": "Ward notes", "text": "Gout was treated with rest and cold packs."}', "no object"]
    file.write_text("\n".join(lines), encoding="utf-8")
    report = made(home, file)
    assert (report.counts.publications, report.counts.unread) == (1, 1)
    assert report.problems[0].where == "line 2"
    _held, documents = standing(home)
    (document,) = documents.documents()

    assert documents.document(document.id) == document
    with pytest.raises(InputError, match="given twice"):
        made(tmp_path / "twice", file, tmp_path)
    with pytest.raises(InputError, match="no file"):
        made(tmp_path / "none", home / "papers" / "surveys")


def test_blocks_of_json_lines_take_each_line_once(tmp_path: Path) -> None:
    lines = [json.dumps({"id": f"n{n}", "title": f"Note {n}", "text": f"Gout of patient {n}."}) for n in range(25)]
    lines[3:3] = ["", "no object", ""]
    lines[20:20] = ["", "no object"]
    file = tmp_path / "notes.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    report = made(tmp_path / "home", file)
    assert (report.parts, report.counts.steps, report.counts.unread) == (3, 27, 2)
    assert [problem.where for problem in report.problems] == ["line 5", "line 22"]
    assert sorted(d.title for d in standing(tmp_path / "home")[1].documents()) == sorted(f"Note {n}" for n in range(25))


def test_the_methods_and_their_passages(tmp_path: Path, source: Path) -> None:
    whole = made(tmp_path / "whole", source, recipe=RECIPE.model_copy(update={"method": "whole"}))
    assert whole.counts.publications == 53
    for _, documents in [standing(tmp_path / "whole")]:
        for d in documents.documents():
            assert "".join(d.text[w.start : w.end].replace(" ", "") for w in d.windows) == (
                d.text.replace(" ", "") if d.windows else ""
            )


def test_survey_runs_alone(tmp_path: Path, source: Path) -> None:
    (file, *_) = reading.source_files([source])
    target = tmp_path / "survey.npz"
    assert reading.survey(SurveyTask(key="k", file=file, target=str(target))).what == ""
    found = reading.read_survey(target)
    assert found is not None
    assert found.numbers.tolist() == list(range(1, 31))
