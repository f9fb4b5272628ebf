"""The starter collection and a user's documents as one library."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.adapters import DocumentQuestions, LibraryDocuments
from tools.encoders import Encoder
from tools.library.adding import add
from tools.library.collection import Library
from tools.library.joined import JoinedLibrary
from tools.library.shelf import Shelf
from tools.library.upkeep import remove

QUERIES = (
    "Do statins help people who never had a heart attack?",
    "burning behind the breastbone after meals",
    "one dose of dexamethasone for a barking cough",
    "Who won the football World Cup?",
)
OWN = {
    "zelnorine": "Zelnorine 40 mg once daily prevents attacks of hereditary kelvar fever.",
    "reflux": "Heartburn after meals with acid regurgitation settles when the head of the bed is raised.",
    "parking": "The car park of the clinic closes at eight in the evening.",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Path:
    """A shelf with three notes."""
    folder = tmp_path_factory.mktemp("own")
    for name, text in OWN.items():
        (folder / f"{name}.md").write_text(f"# {name.title()}\n\n{text}\n")
    shelf = Shelf(folder / "shelf", encoder)
    assert add(shelf, [folder / f"{name}.md" for name in OWN]).exit_code == 0
    shelf.close()
    return folder / "shelf"


@pytest.fixture(scope="module")
def joined(library: Library, folder: Path, encoder: Encoder) -> JoinedLibrary:
    return JoinedLibrary(library, folder, encoder)


def titles(library: JoinedLibrary, query: str) -> list[str]:
    return [hit.document.title for hit in library.search(query, 4)]


def test_without_documents_every_answer_is_the_starter_s(library: Library, encoder: Encoder, tmp_path: Path) -> None:
    never = JoinedLibrary(library, tmp_path / "never", encoder)
    emptied_folder = tmp_path / "emptied"
    shelf = Shelf(emptied_folder, encoder)
    (tmp_path / "note.md").write_text("# Statins\n\nStatins help people who never had a heart attack.\n")
    add(shelf, [tmp_path / "note.md"])
    emptied = JoinedLibrary(library, emptied_folder, encoder)
    assert "Statins" in titles(emptied, QUERIES[0])
    remove(shelf, [str(tmp_path / "note.md")])
    for other in (never, emptied):
        assert not (tmp_path / "never").exists()
        assert len(other) == len(library)
        assert other.question_titles == library.question_titles
        assert dict(other.frequencies) == dict(library.frequencies)
        for query in QUERIES:
            assert other.search(query, 5, also=["croup"]) == library.search(query, 5, also=["croup"])
            assert other.search_questions(query, 5) == library.search_questions(query, 5)


def test_a_user_s_document_is_found_and_the_starter_s_stay(joined: JoinedLibrary) -> None:
    assert titles(joined, "Does zelnorine prevent attacks of kelvar fever?")[0] == "Zelnorine"
    assert titles(joined, "one dose of dexamethasone for a barking cough")[0] == "Corticosteroids for croup"
    found = titles(joined, "heartburn after meals with acid regurgitation")
    assert set(found[:2]) == {"Reflux", "Gastro-oesophageal reflux disease"}


def test_each_order_is_one_ranking_and_evidence_an_exact_slice(joined: JoinedLibrary) -> None:
    hits = joined.search("heartburn after meals with acid regurgitation", 6)
    for stream in ("dense", "bm25"):
        ranks = [f.rank for h in hits for f in h.found if f.stream == stream]
        assert len(set(ranks)) == len(ranks)
    dense = sorted((f.rank or 0, -(f.score or 0)) for h in hits for f in h.found if f.stream == "dense")
    assert [score for _, score in dense] == sorted(score for _, score in dense)
    for hit in hits:
        assert hit.evidence().text == joined.document(hit.document.id).text[hit.window.start : hit.window.end]
    own = next(h for h in hits if h.document.title == "Reflux").evidence()
    assert (own.kind, own.level, own.date) == ("document", None, None)


def test_of_equally_near_documents_the_user_s_stands_first(library: Library, encoder: Encoder, tmp_path: Path) -> None:
    gerd = library.document("gerd")
    window, text = next((w, t) for w in gerd.windows if "\n" not in (t := gerd.text[w.start : w.end]))
    (tmp_path / "copy.md").write_text(f"# {gerd.title}\n\n## {window.section}\n\n{text}\n")
    shelf = Shelf(tmp_path / "shelf", encoder)
    add(shelf, [tmp_path / "copy.md"])
    hits = JoinedLibrary(library, tmp_path / "shelf", encoder).search(f"{gerd.title}: {text[:80]}", 2)
    assert [h.document.is_starter for h in hits] == [False, True]


def test_a_user_s_document_is_read_by_its_id_and_its_words_are_known(joined: JoinedLibrary) -> None:
    documents = LibraryDocuments(joined)
    hit = joined.search("Does zelnorine prevent attacks of kelvar fever?", 1)[0]
    stored = documents.get_document(hit.evidence().id)
    assert stored is not None
    assert OWN["zelnorine"] in stored.text
    assert documents.holds(hit.document.id)
    assert documents.get_document("own:nothing-0") is None
    assert documents.get_document("library:gerd") is not None
    assert joined.frequencies["zelnorine"] == 1
    assert "zelnorin" not in joined.frequencies
    assert joined.frequencies["heartburn"] == joined.starter.frequencies["heartburn"] + 1


def test_the_words_of_a_user_s_documents_never_tell_what_may_be_sent(joined: JoinedLibrary) -> None:
    assert "zelnorine" not in joined.public_words.frequencies
    assert joined.public_words.documents == len(joined.starter)


def test_an_open_library_sees_what_is_added_and_removed(library: Library, encoder: Encoder, tmp_path: Path) -> None:
    open_before = JoinedLibrary(library, tmp_path / "shelf", encoder)
    query = "Does zelnorine prevent attacks of kelvar fever?"
    assert "Zelnorine" not in titles(open_before, query)
    (tmp_path / "z.md").write_text(f"# Zelnorine\n\n{OWN['zelnorine']}\n")
    writer = Shelf(tmp_path / "shelf", encoder)
    add(writer, [tmp_path / "z.md"])
    assert titles(open_before, query)[0] == "Zelnorine"
    remove(writer, [str(tmp_path / "z.md")])
    assert "Zelnorine" not in titles(open_before, query)


def test_a_user_s_question_answers_beside_the_starter_s(library: Library, encoder: Encoder, tmp_path: Path) -> None:
    (tmp_path / "croup-night.md").write_text(
        "---\nid: croup-night\ntitle: Croup at night\nkind: condition\nwritten: 2026-01-01\nreview_by: 2030-01-01\n"
        "clinically_reviewed: false\nquestions:\n  - q: Does cold night air ease croup?\n"
        "    span: Cold night air eases croup for a while.\n---\n## Overview\n\n"
        "Cold night air eases croup for a while. Nobody knows why.\n"
    )
    shelf = Shelf(tmp_path / "shelf", encoder)
    assert add(shelf, [tmp_path / "croup-night.md"]).exit_code == 0
    joined = JoinedLibrary(library, tmp_path / "shelf", encoder)
    best = joined.search_questions("Does cold night air ease croup?", 3)[0]
    assert best.similarity == pytest.approx(1, abs=1e-4)
    assert best.document.text[best.question.start : best.question.end] == "Cold night air eases croup for a while."
    assert joined.question_titles == (*library.question_titles, "Croup at night")
    (beside,) = DocumentQuestions(joined, encoder).of("What does night air do to croup?", [best.document.id])
    assert beside.question == best.question


def test_the_nearest_documents_are_found_however_far_and_by_meaning_alone(joined: JoinedLibrary) -> None:
    assert joined.search(QUERIES[3], 3) == []
    hits = joined.search(QUERIES[3], 3, nearest=True)
    assert len(hits) == 3
    assert {f.stream for hit in hits for f in hit.found} == {"dense"}
    scores = [hit.found[0].score or 0.0 for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_every_document_is_listed_once_and_no_large_collection_is(joined: JoinedLibrary) -> None:
    listed = LibraryDocuments(joined).every_document(len(joined))
    assert listed is not None
    assert len(listed) == len(set(listed)) == len(joined)
    assert LibraryDocuments(joined).every_document(len(joined) - 1) is None
