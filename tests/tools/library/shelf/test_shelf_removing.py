"""Removing from a shelf, checking it, and another encoder."""

from __future__ import annotations

from pathlib import Path

import pytest

from prompts.errors import DataError, InputError
from support.own_documents import HashedWords, abstracts, all_well, found, note, outcomes
from tools.library.adding import add
from tools.library.shelf import FILE, Shelf
from tools.library.upkeep import check, rebuild, remove


def test_a_document_of_two_files_stays_until_both_are_removed(shelf: Shelf, tmp_path: Path) -> None:
    row = {"id": "pubmed:7", "title": "Statins and muscle", "text": "Muscle pain under statins is mostly nocebo."}
    abstracts(tmp_path / "a.jsonl", row)
    abstracts(tmp_path / "b.jsonl", row, {"title": "Fibrates", "text": "Fibrates lower the triglycerides by half."})
    assert outcomes(shelf, tmp_path / "a.jsonl", tmp_path / "b.jsonl") == {"a.jsonl": "added", "b.jsonl": "added"}
    shared = next(d for d in shelf.documents() if len(d.files) == 2)
    assert remove(shelf, [str(tmp_path / "a.jsonl")]) == []
    assert shelf.document(shared.id).title == "Statins and muscle"
    assert shared.id in remove(shelf, [str(tmp_path)])
    assert (len(shelf), len(shelf.frequencies), shelf.search("statins", 3)) == (0, 0, [])
    assert all_well(shelf)


def test_a_document_that_was_removed_by_id_comes_back_with_its_file(shelf: Shelf, papers: Path) -> None:
    add(shelf, [papers])
    gout = next(d.id for d in shelf.documents() if d.title == "Gout")
    assert remove(shelf, [gout]) == [gout]
    assert found(shelf, "acute attack of gout colchicine") != ["Gout"]
    with pytest.raises(InputError):
        shelf.document(gout)
    assert outcomes(shelf, papers / "gout.md") == {"gout.md": "added"}
    assert shelf.document(gout).title == "Gout"


def test_an_unknown_name_is_refused_with_the_near_ones_and_nothing_is_removed(shelf: Shelf, papers: Path) -> None:
    add(shelf, [papers])
    with pytest.raises(InputError) as caught:
        remove(shelf, [str(papers / "gout.md"), str(papers / "astma.md")])
    assert "asthma.md" in caught.value.advice
    assert len(shelf) == 2


def test_check_tells_damage_and_changed_files(shelf: Shelf, papers: Path) -> None:
    add(shelf, [papers])
    note(papers / "gout.md", "Gout", "Changed.")
    (papers / "asthma.md").unlink()
    line = next(line for line in check(shelf) if line.name == "files")
    assert line.ok
    assert "1 gone" in line.found
    assert "1 changed" in line.found
    with shelf.store.write() as db:
        db.execute("update documents set body = replace(body, 'Colchicine', 'Colchicina')")
        shelf.windows.delete(
            [h.id for h in shelf.windows.search_vectors(shelf.encoder.encode_queries(["asthma"]), 1)[0]]
        )
    wrong = {line.name: line for line in check(shelf) if not line.ok}
    assert set(wrong) == {"documents", "counts"}
    assert "its text has changed" in wrong["documents"].found
    assert wrong["counts"].advice


def test_another_encoder_is_refused_until_the_texts_are_embedded_again(shelf: Shelf, papers: Path) -> None:
    add(shelf, [papers])
    other = HashedWords("another", 96)
    with pytest.raises(DataError, match="hashed") as caught:
        Shelf(shelf.folder, other)
    assert "--rebuild" in caught.value.advice
    again = Shelf(shelf.folder, other, check_encoder=False)
    assert rebuild(again) == 2
    assert found(again, "acute attack of gout colchicine")[0] == "Gout"
    assert all_well(again)
    with pytest.raises(DataError, match="another"):
        shelf.search("gout", 1)
    assert found(Shelf(shelf.folder, other), "acute attack of gout colchicine")[0] == "Gout"


def test_a_damaged_shelf_is_a_typed_error(shelf: Shelf, papers: Path, encoder: HashedWords) -> None:
    add(shelf, [papers])
    shelf.close()
    for part in shelf.folder.glob(f"{FILE}*"):
        part.write_bytes(b"this is no database " * 400)
    with pytest.raises(DataError, match="damaged"):
        Shelf(shelf.folder, encoder)


def test_a_file_whose_reading_was_interrupted_is_removed_by_its_path(
    shelf: Shelf, tmp_path: Path, encoder: HashedWords
) -> None:
    file = tmp_path / "rows.jsonl"
    abstracts(file, *({"title": f"Report {n}", "text": f"Another {'word ' * 50} {n}."} for n in range(600)))
    encoder.fails_after = 300
    with pytest.raises(KeyboardInterrupt):
        add(shelf, [file])
    finished = len(shelf)
    assert finished > 0
    assert len(remove(shelf, [str(file)])) == finished
    assert shelf.documents() == []
