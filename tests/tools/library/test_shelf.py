"""A user's own documents: added once, replaced whole, removed, checked, kept through a kill and another encoder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from prompts.errors import DataError, InputError
from tools.encoders import Vectors
from tools.evidence import Status
from tools.indexes.contract import Filter
from tools.library.adding import add
from tools.library.checking import check
from tools.library.removing import rebuild, remove
from tools.library.shelf import FILE, Shelf

ROOT = Path(__file__).resolve().parents[3]


class HashedWords:
    """A quick encoder: a hashed bag of words. It counts what it embeds, and fails when told to."""

    limit = 60

    def __init__(self, name: str = "hashed", dimension: int = 64) -> None:
        self.name, self.dimension, self.embedded, self.fails_after = name, dimension, 0, 10**9

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        rows = np.full((len(texts), self.dimension), 0.01, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().replace(".", " ").split():
                row[crc32(word.encode()) % self.dimension] += 1
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        self.embedded += len(texts)
        if self.embedded > self.fails_after:
            raise KeyboardInterrupt
        return self.encode_queries(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]


@pytest.fixture
def encoder() -> HashedWords:
    return HashedWords()


@pytest.fixture
def shelf(tmp_path: Path, encoder: HashedWords) -> Shelf:
    return Shelf(tmp_path / "shelf", encoder)


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    note(folder / "gout.md", "Gout", "Colchicine settles an acute attack of gout within a day.")
    note(folder / "asthma.md", "Asthma", "Inhaled budesonide prevents attacks of asthma in children.")
    (folder / "broken.pdf").write_bytes(b"\x00 no pdf")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / ".hidden.md").write_text("# Hidden\n\nNobody reads this.")
    return folder


def note(path: Path, title: str, *paragraphs: str) -> None:
    path.write_text(f"# {title}\n\n" + "\n\n".join(paragraphs) + "\n", encoding="utf-8")


def outcomes(shelf: Shelf, *paths: Path) -> dict[str, str]:
    return {Path(row.path).name: row.outcome.value for row in add(shelf, paths).rows}


def found(shelf: Shelf, query: str, where: Filter | None = None) -> list[str]:
    return [hit.document.title for hit in shelf.search(query, 5, where)]


def all_well(shelf: Shelf) -> bool:
    return all(line.ok for line in check(shelf))


def abstracts(path: Path, *rows: dict[str, object]) -> None:
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")


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
    assert report.exit_code == 1
    assert add(shelf, [papers / "broken.pdf"]).exit_code == 2
    assert add(shelf, [papers / "gout.md"]).exit_code == 0
    assert found(shelf, "acute attack of gout colchicine")[0] == "Gout"
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


def test_a_retracted_record_is_kept_listed_and_never_found(shelf: Shelf, tmp_path: Path) -> None:
    record = (
        '<?xml version="1.0"?><PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>11</PMID><Article>'
        "<Journal><Title>J</Title></Journal><ArticleTitle>Crystal water cures gout</ArticleTitle><Abstract>"
        "<AbstractText>Crystal water cured gout in all patients.</AbstractText></Abstract><Language>eng</Language>"
        "<PublicationTypeList><PublicationType>{}</PublicationType></PublicationTypeList></Article></MedlineCitation>"
        "</PubmedArticle></PubmedArticleSet>"
    )
    (tmp_path / "one.xml").write_text(record.format("Randomized Controlled Trial"))
    add(shelf, [tmp_path / "one.xml"])
    evidence = shelf.search("crystal water gout", 1)[0].evidence()
    assert evidence.id.startswith("pubmed:11@")
    assert (evidence.kind, evidence.level) == ("abstract", "randomised trial")
    assert evidence.publication_types == ("Randomized Controlled Trial",)
    (tmp_path / "two.xml").write_text(record.format("Retracted Publication"))
    add(shelf, [tmp_path / "two.xml"])
    assert shelf.search("crystal water gout", 3) == []
    assert [d.status for d in shelf.documents()] == ["retracted"]
    assert shelf.document("pubmed:11").status is Status.RETRACTED
    (tmp_path / "three.xml").write_text(record.format("Journal Article"))
    row = add(shelf, [tmp_path / "three.xml"]).rows[0]
    assert "retracted" in row.reason
    assert shelf.document("pubmed:11").status is Status.RETRACTED
    assert all_well(shelf)


def test_windows_are_whole_paragraphs_that_the_encoder_reads_whole(shelf: Shelf, tmp_path: Path) -> None:
    long = " ".join(f"Sentence number {n} tells one more thing about the kidney." for n in range(30))
    note(tmp_path / "kidney.md", "Kidney", "A short paragraph.", "Another one.", long, "The last one.")
    add(shelf, [tmp_path / "kidney.md"])
    document = shelf.document(shelf.documents()[0].id)
    pieces = [document.text[w.start : w.end] for w in document.windows]
    assert "A short paragraph." in pieces[0]
    assert "Another one." in pieces[0]
    assert pieces[-1].endswith("The last one.")
    assert len(pieces) > 5
    assert all(piece.endswith(".") and len(piece.split()) < HashedWords.limit for piece in pieces)
    words = [word for piece in pieces for word in piece.split()]
    assert words == [word for word in document.text.split() if word in set(words)]


def test_filters_and_ids_restrict_a_search(shelf: Shelf, papers: Path) -> None:
    add(shelf, [papers])
    gout = next(d.id for d in shelf.documents() if d.title == "Gout")
    query = "attack of asthma attack of gout"
    assert set(found(shelf, query)) == {"Gout", "Asthma"}
    assert found(shelf, query, Filter(ids=(gout,))) == ["Gout"]
    assert found(shelf, query, Filter(ids=("own:none",))) == []
    assert found(shelf, query, Filter(languages=("zh",))) == []


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


def test_two_readers_see_what_a_writer_adds(shelf: Shelf, papers: Path, encoder: HashedWords) -> None:
    readers = [Shelf(shelf.folder, encoder) for _ in range(2)]
    assert [found(r, "colchicine gout") for r in readers] == [[], []]
    add(shelf, [papers])
    assert [found(r, "acute attack of gout colchicine")[0] for r in readers] == ["Gout", "Gout"]
    assert readers[0].frequencies["colchicine"] == 1


def test_killed_while_adding_the_shelf_is_whole_and_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for n in range(300):
        note(folder / f"n{n:03}.md", f"Note {n}", *(f"Paragraph {m} of note {n} {'word ' * 45}." for m in range(6)))
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, 'tests/tools/library')\n"
        "from test_shelf import HashedWords; from tools.library.shelf import Shelf\n"
        "from tools.library.adding import add\n"
        "shelf = Shelf(Path(sys.argv[1]), HashedWords())\n"
        "add(shelf, [Path(sys.argv[2])], lambda done, total, stored: print(stored, flush=True))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "shelf"), str(folder)], stdout=subprocess.PIPE, text=True, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"},
    )  # fmt: skip
    assert process.stdout is not None
    stored = 0
    while stored < 80:
        stored = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    process.wait()
    shelf = Shelf(tmp_path / "shelf", HashedWords())
    assert stored <= len(shelf) < 300
    assert all_well(shelf)
    assert add(shelf, [folder]).counts["unchanged"] >= stored - 1
    assert len(shelf) == 300


def test_everything_is_private(shelf: Shelf, papers: Path) -> None:
    add(shelf, [papers])
    assert shelf.folder.stat().st_mode & 0o777 == 0o700
    assert {f.name: f.stat().st_mode & 0o777 for f in shelf.folder.iterdir() if f.stat().st_mode & 0o077} == {}


def test_a_damaged_shelf_is_a_typed_error(shelf: Shelf, papers: Path, encoder: HashedWords) -> None:
    add(shelf, [papers])
    shelf.close()
    for part in shelf.folder.glob(f"{FILE}*"):
        part.write_bytes(b"this is no database " * 400)
    with pytest.raises(DataError, match="damaged"):
        Shelf(shelf.folder, encoder)
