"""Adding to a shelf: every file a row, nothing twice, a change replaced whole, an interrupted run gone on with."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support import processes
from support.own_documents import HashedWords, abstracts, all_well, found, note, outcomes
from tools.evidence import Status
from tools.library.adding import add
from tools.library.shelf import Shelf
from tools.readers.contract import Problem, Record

ROOT = Path(__file__).resolve().parents[4]


def test_every_file_is_a_row_and_a_bad_one_ends_nothing(shelf: Shelf, papers: Path) -> None:
    report = add(shelf, [papers, papers / "nowhere.txt"])
    assert {Path(r.path).name: r.outcome.value for r in report.rows} == {
        "asthma.md": "added",
        "broken.pdf": "failed",
        "gout.md": "added",
        "picture.png": "skipped",
        "nowhere.txt": "failed",
    }
    assert all(row.reason and row.advice for row in report.wrong)
    assert report.skipped == {"Files of the kind .png cannot be read.": [str(papers / "picture.png")]}
    assert report.exit_code == 1
    assert add(shelf, [papers / "broken.pdf"]).exit_code == 2
    assert add(shelf, [papers / "gout.md"]).exit_code == 0
    assert found(shelf, "acute attack of gout colchicine")[0] == "Gout"
    assert all_well(shelf)


def test_a_file_of_a_reference_manager_gives_a_document_a_record_that_is_cited_as_published(
    shelf: Shelf, tmp_path: Path
) -> None:
    pytest.importorskip("rispy")
    (folder := tmp_path / "exported").mkdir()
    steam = "TY  - JOUR\nTI  - Invented steam\nAU  - Doe, J.\nT2  - Inventions\nPY  - 2020\nAB  - It helped.\nER  - \n"
    (folder / "a.ris").write_text(f"{steam}\nTY  - JOUR\nTI  - Alone\nER  - \n")
    (folder / "a.nbib").write_text("PMID- 99999991\nTI  - Invented snow\nAB  - It did not help.\n")
    (nbib, ris) = add(shelf, [folder]).rows
    assert (nbib.outcome, nbib.documents) == ("added", 1)
    assert (ris.outcome, ris.documents, ris.reason) == ("partly", 1, "record 2 (Alone): no abstract")
    document = next(d for d in map(shelf.document, shelf.ids()) if d.title == "Invented steam")
    assert document.evidence(0, 10).reference == "Doe J. Invented steam. Inventions. 2020"
    assert found(shelf, "snow did not help")[0] == "Invented snow"
    assert all_well(shelf)


def test_nothing_is_read_or_embedded_twice(
    shelf: Shelf, papers: Path, encoder: HashedWords, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(shelf, [papers])
    embedded = encoder.embedded
    assert embedded > 0
    (papers / "gout.md").rename(papers / "gout again.md")
    note(papers / "gout.md", "Gout", "Colchicine settles an acute attack of gout within a day.")
    with monkeypatch.context() as patch:
        patch.setattr("tools.library.adding.read", lambda path: pytest.fail(f"{path} was read"))
        assert outcomes(shelf, papers / "asthma.md", papers / "gout.md", papers / "gout again.md") == {
            "asthma.md": "unchanged",
            "gout.md": "unchanged",
            "gout again.md": "duplicate",
        }
    assert encoder.embedded == embedded
    assert len(shelf) == 2


def test_a_changed_file_replaces_what_it_gave(shelf: Shelf, papers: Path) -> None:
    add(shelf, [papers])
    old = shelf.documents()
    note(papers / "gout.md", "Gout", "Allopurinol lowers the urate and prevents tophi.")
    assert outcomes(shelf, papers / "gout.md") == {"gout.md": "replaced"}
    assert len(shelf) == len(old) == 2
    assert "Colchicine" not in "".join(shelf.document(d.id).text for d in shelf.documents())
    assert "colchicine" not in shelf.frequencies
    assert shelf.frequencies["allopurinol"] == 1
    assert shelf.frequencies["attacks"] == 1
    assert all_well(shelf)


def test_a_replacement_that_is_interrupted_or_unreadable_leaves_what_was_there(
    shelf: Shelf, tmp_path: Path, encoder: HashedWords
) -> None:
    file = tmp_path / "rows.jsonl"
    abstracts(file, *({"title": f"Study {n}", "text": f"The trial of drug number{n} ended early."} for n in range(3)))
    add(shelf, [file])
    before = shelf.documents()
    abstracts(file, *({"title": f"Report {n}", "text": f"Another {'word ' * 50} {n}."} for n in range(600)))
    encoder.fails_after = encoder.embedded + 300
    with pytest.raises(KeyboardInterrupt):
        add(shelf, [file])
    assert shelf.documents() == before
    assert all_well(shelf)
    encoder.fails_after = 10**9
    file.write_bytes(b"\x00\x01\x02" * 50)
    row = add(shelf, [file]).rows[0]
    assert row.outcome == "failed"
    assert "kept" in row.reason
    assert shelf.documents() == before


def test_an_interrupted_run_goes_on_where_it_was(shelf: Shelf, tmp_path: Path, encoder: HashedWords) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for n in range(40):
        note(folder / f"n{n:02}.md", f"Note {n}", *(f"Paragraph {m} of note {n} {'word ' * 45}." for m in range(20)))
    encoder.fails_after = 500
    with pytest.raises(KeyboardInterrupt):
        add(shelf, [folder])
    finished = len(shelf)
    assert 0 < finished < 40
    assert all_well(shelf)
    encoder.fails_after, encoder.embedded = 10**9, 0
    counts = add(shelf, [folder]).counts
    assert counts["unchanged"] >= finished - 1
    assert len(shelf) == 40
    assert encoder.embedded <= (40 - finished) * 20


def test_killed_while_adding_the_shelf_is_whole_and_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for n in range(300):
        note(folder / f"n{n:03}.md", f"Note {n}", *(f"Paragraph {m} of note {n} {'word ' * 45}." for m in range(6)))
    code = (
        "from pathlib import Path\n"
        "from support.own_documents import HashedWords; from tools.library.shelf import Shelf\n"
        "from tools.library.adding import add\n"
        f"shelf = Shelf(Path({str(tmp_path / 'shelf')!r}), HashedWords())\n"
        f"add(shelf, [Path({str(folder)!r})], lambda done, total, stored: print(stored, flush=True))\n"
    )
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}
    process = processes.snippet(code, environment=environment, cwd=ROOT)
    stored = 0
    while stored < 80:
        assert process.wait(0.01) is None, process.written()
        stored = int((process.written().rpartition("\n")[0] or "0").splitlines()[-1])
    process.kill()
    shelf = Shelf(tmp_path / "shelf", HashedWords())
    assert stored <= len(shelf) < 300
    assert all_well(shelf)
    assert add(shelf, [folder]).counts["unchanged"] >= stored - 1
    assert len(shelf) == 300


def test_pipes_loops_and_links_are_told_and_never_waited_for(shelf: Shelf, tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    (folder / "inner").mkdir(parents=True)
    os.mkfifo(folder / "pipe.txt")
    (folder / "round").symlink_to(".")
    (folder / "loop.txt").symlink_to("loop.txt")
    note(folder / "inner" / "gout.md", "Gout", "Colchicine settles an attack.")
    report = add(shelf, [folder, folder / "loop.txt" / "x.md", Path("~nobody-has-this-name/x.md")])
    said = {Path(r.path).relative_to(folder).as_posix(): r for r in report.rows if Path(r.path).is_relative_to(folder)}
    assert {name: row.outcome.value for name, row in said.items()} == {
        "inner/gout.md": "added",
        "loop.txt": "failed",
        "loop.txt/x.md": "failed",
        "pipe.txt": "failed",
        "round": "skipped",
    }
    assert "ordinary" in said["pipe.txt"].reason
    assert report.skipped == {"A link to a folder is not followed.": [str(folder / "round")]}
    assert all(row.reason and row.advice for row in report.wrong)


def test_two_files_of_one_content_give_one_document_in_one_run_too(shelf: Shelf, tmp_path: Path) -> None:
    for name in ("first.txt", "second.txt"):
        (tmp_path / name).write_text("Gout and its crises\n\nColchicine settles an acute attack of gout.\n")
    assert outcomes(shelf, tmp_path / "first.txt", tmp_path / "second.txt") == {
        "first.txt": "added",
        "second.txt": "duplicate",
    }
    assert [len(d.files) for d in shelf.documents()] == [2]


def test_a_file_that_changes_while_it_is_read_is_told_and_read_again(
    shelf: Shelf, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tools.readers.reading import read

    def changing(path: Path) -> list[Record | Problem]:
        items = list(read(path))
        note(path, "Gout", "Allopurinol lowers the urate and prevents tophi.")
        return items

    with monkeypatch.context() as patch:
        patch.setattr("tools.library.adding.read", changing)
        row = add(shelf, [papers / "gout.md"]).rows[0]
    assert row.outcome == "partly"
    assert "changed" in row.reason
    assert outcomes(shelf, papers / "gout.md") == {"gout.md": "replaced"}
    assert "Allopurinol" in shelf.document(shelf.documents()[0].id).text


def test_a_retraction_holds_against_a_later_line_of_the_same_file(shelf: Shelf, tmp_path: Path) -> None:
    row = {"pmid": "11", "title": "Crystal water", "abstract": "Crystal water cured gout."}
    abstracts(tmp_path / "a.jsonl", {**row, "publication_types": ["Retracted Publication"]}, row)
    told = add(shelf, [tmp_path / "a.jsonl"]).rows[0]
    assert (told.outcome, shelf.document("pubmed:11").status) == ("partly", Status.RETRACTED)
