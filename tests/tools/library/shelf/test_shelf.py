"""A user's own documents as they are stored and searched."""

from __future__ import annotations

from pathlib import Path

from support.own_documents import HashedWords, all_well, found, note
from tools.evidence import Status
from tools.indexes.contract import Filter
from tools.library.adding import add
from tools.library.shelf import Shelf


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


def test_two_readers_see_what_a_writer_adds(shelf: Shelf, papers: Path, encoder: HashedWords) -> None:
    readers = [Shelf(shelf.folder, encoder) for _ in range(2)]
    assert [found(r, "colchicine gout") for r in readers] == [[], []]
    add(shelf, [papers])
    assert [found(r, "acute attack of gout colchicine")[0] for r in readers] == ["Gout", "Gout"]
    assert readers[0].frequencies["colchicine"] == 1


def test_everything_is_private(shelf: Shelf, papers: Path) -> None:
    add(shelf, [papers])
    assert shelf.folder.stat().st_mode & 0o777 == 0o700
    assert {f.name: f.stat().st_mode & 0o777 for f in shelf.folder.iterdir() if f.stat().st_mode & 0o077} == {}
