"""A collection as the agent searches it: beside the library and a user's documents, retracted work never."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from prompts.errors import DataError, InputError
from support.corpus_files import MemoryBackend, write_xml
from tools.corpus.building import Wanted, build
from tools.corpus.collection import Corpus
from tools.corpus.contract import Recipe
from tools.corpus.local_engine import LocalEngine
from tools.encoders import Encoder
from tools.evidence import Status
from tools.indexes.contract import Filter, Hit
from tools.library.adding import add
from tools.library.collection import Library
from tools.library.joined import JoinedLibrary
from tools.library.search import make_query
from tools.library.shelf import Shelf
from tools.mirror.article_xml import record_xml
from tools.mirror.records import MirrorRecord

TEXTS = {
    "101": ("Zelnorine against kelvar fever", "Zelnorine 40 mg once a day prevented attacks of kelvar fever.", "2019"),
    "102": ("Zelnorine in children", "Children with kelvar fever took zelnorine 10 mg and had fewer attacks.", "2023"),
    "103": ("Zelnorine, withdrawn", "Zelnorine cured kelvar fever in every patient of this trial.", "2021"),
    "104": ("Reflux at night", "Raising the head of the bed eased heartburn and acid regurgitation.", "2020"),
}
QUERY = "Does zelnorine prevent attacks of kelvar fever?"


def source(folder: Path, texts: dict[str, tuple[str, str, str]], retracted: str = "103") -> Path:
    def record(pmid: str) -> bytes:
        title, abstract, year = texts[pmid]
        types = ("Randomized Controlled Trial", *(("Retracted Publication",) if pmid == retracted else ()))
        record = MirrorRecord(pmid=pmid, title=title, abstract=abstract, date=year, publication_types=types)
        return record_xml(record)

    return write_xml(folder / "pubmed99n0001.xml", map(record, texts))


def built(home: Path, file: Path, encoder: Encoder, backend: MemoryBackend) -> Corpus:
    recipe = Recipe(encoder=encoder.name, dimension=encoder.dimension)
    build(home, Wanted("papers", [file], recipe, afresh=True), LocalEngine(), lambda: encoder, backend)
    return Corpus(home, "papers", encoder, backend)


@pytest.fixture
def corpus(tmp_path: Path, encoder: Encoder) -> Corpus:
    return built(tmp_path / "corpora", source(tmp_path, TEXTS), encoder, MemoryBackend())


def test_hits_are_exact_slices_with_all_that_a_reader_needs(corpus: Corpus) -> None:
    hits = corpus.search(QUERY, 5)
    assert {hit.document.id for hit in hits} == {"pubmed:101", "pubmed:102"}
    for hit in hits:
        evidence = hit.evidence()
        start, end = map(int, evidence.id.partition("@")[2].split("-"))
        assert corpus.document(evidence.document_id).text[start:end] == evidence.text
        assert evidence.level == "randomised trial"
        assert {way.stream for way in evidence.found} == {"bm25", "dense"}
    assert [h.document.id for h in corpus.search(QUERY, 5, Filter(since="2022"))] == ["pubmed:102"]
    assert [h.document.id for h in corpus.search(QUERY, 5, Filter(ids=("pubmed:101",)))] == ["pubmed:101"]
    assert not corpus.search("Who won the football World Cup?", 5)


def test_retracted_work_is_held_and_never_found(corpus: Corpus) -> None:
    assert len(corpus) == 3
    assert corpus.document("pubmed:103@0-10").status is Status.RETRACTED
    assert "pubmed:103" not in [h.document.id for h in corpus.search("every patient of this trial was cured", 10)]
    with pytest.raises(InputError, match="no document"):
        corpus.document("pubmed:999")


def test_a_new_build_is_seen_by_the_next_search(tmp_path: Path, encoder: Encoder) -> None:
    backend = MemoryBackend()
    corpus = built(tmp_path / "corpora", source(tmp_path, TEXTS), encoder, backend)
    fewer = {pmid: text for pmid, text in TEXTS.items() if pmid != "101"}
    built(tmp_path / "corpora", source(tmp_path, fewer), encoder, backend)
    assert [h.document.id for h in corpus.search(QUERY, 5)] == ["pubmed:102"]


def test_what_a_search_found_is_located_after_the_collection_was_replaced(tmp_path: Path, encoder: Encoder) -> None:
    backend = MemoryBackend()
    corpus = built(tmp_path / "corpora", source(tmp_path, TEXTS), encoder, backend)
    streams = corpus.streams(make_query(QUERY, (), encoder), 40, None)
    fewer = {pmid: text for pmid, text in TEXTS.items() if pmid != "101"}
    built(tmp_path / "corpora", source(tmp_path, fewer), encoder, backend)
    assert corpus.get("pubmed:101") is None
    found = {key: corpus.window(hit)[0].title for key, hit in streams.dense.items()}
    assert found["pubmed:101"] == TEXTS["101"][0]


def test_a_collection_replaced_in_the_middle_of_a_search_is_searched_again(tmp_path: Path, encoder: Encoder) -> None:
    backend = MemoryBackend()
    corpus = built(tmp_path / "corpora", source(tmp_path, TEXTS), encoder, backend)
    fewer = {pmid: text for pmid, text in TEXTS.items() if pmid != "101"}

    def replaced(*_: object) -> list[Hit]:
        built(tmp_path / "corpora", source(tmp_path, fewer), encoder, backend)
        raise DataError("There is no index of that name.", "Build it.")

    (old,) = backend.built.values()
    old.search_text = replaced  # type: ignore[method-assign]
    assert [h.document.id for h in corpus.search(QUERY, 5)] == ["pubmed:102"]

    def broken(*_: object) -> list[Hit]:
        raise DataError("The index is damaged.", "Build it.")

    backend.only.search_text = broken  # type: ignore[method-assign]
    with pytest.raises(DataError, match="damaged"):
        corpus.search(QUERY, 5)
    shutil.rmtree(tmp_path / "corpora" / "papers")
    with pytest.raises(DataError, match="no finished collection papers"):
        corpus.search(QUERY, 5)


def test_what_cannot_be_searched_is_told(tmp_path: Path, encoder: Encoder, corpus: Corpus) -> None:
    with pytest.raises(DataError, match="no finished collection none"):
        Corpus(tmp_path / "corpora", "none", encoder, MemoryBackend())

    class Other:
        name, dimension, limit = "another", 384, 256

    with pytest.raises(InputError, match="was built with all-MiniLM-L6-v2, not another"):
        Corpus(tmp_path / "corpora", "papers", Other(), MemoryBackend())  # type: ignore[arg-type]


def test_a_retraction_that_one_knows_of_holds_for_all(
    tmp_path: Path, encoder: Encoder, library: Library, corpus: Corpus
) -> None:
    (tmp_path / "before").mkdir()
    file = source(tmp_path / "before", TEXTS, retracted="")
    before = built(tmp_path / "older", file, encoder, MemoryBackend())
    nobody = tmp_path / "no shelf"
    line = '{"pmid": "103", "title": "Zelnorine, withdrawn", "abstract": "Zelnorine cured kelvar fever in a trial.", '
    (tmp_path / "now.jsonl").write_text(f'{line}"publication_types": ["Retracted Publication"]}}\n')
    add(Shelf(tmp_path / "shelf", encoder), [tmp_path / "now.jsonl"])
    assert "pubmed:103" in [hit.document.id for hit in before.search(QUERY, 8)]
    for joined in (
        JoinedLibrary(library, nobody, encoder, [before, corpus]),
        JoinedLibrary(library, nobody, encoder, [corpus, before]),
        JoinedLibrary(library, tmp_path / "shelf", encoder, [before]),
    ):
        found = [hit.document.id for hit in joined.search(QUERY, 8)]
        assert "pubmed:101" in found
        assert "pubmed:103" not in found
        assert joined.document("pubmed:103@0-10").status is Status.RETRACTED


def test_collections_library_and_shelf_are_one(
    tmp_path: Path, encoder: Encoder, library: Library, corpus: Corpus
) -> None:
    note = tmp_path / "note.md"
    note.write_text("# Our ward\n\nZelnorine against kelvar fever is given with food on our ward.\n")
    line = '{"pmid": "103", "title": "Zelnorine, withdrawn", "abstract": "Zelnorine cured kelvar fever in a trial."}\n'
    (tmp_path / "old.jsonl").write_text(line)
    shelf = Shelf(tmp_path / "shelf", encoder)
    assert add(shelf, [note, tmp_path / "old.jsonl"]).exit_code == 0
    joined = JoinedLibrary(library, tmp_path / "shelf", encoder, [corpus])
    found = [hit.document.id for hit in joined.search(QUERY, 8)]
    assert {"pubmed:101", "pubmed:102"} < set(found)
    assert any(name.startswith("own:") for name in found)
    assert "pubmed:103" not in found  # the shelf's copy does not know of the retraction
    assert joined.document("pubmed:103").status is Status.RETRACTED
    assert joined.document("pubmed:101").title == TEXTS["101"][0]
    assert joined.document("library:gerd") == library.document("library:gerd")
    reflux = [hit.document.id for hit in joined.search("heartburn and acid regurgitation at night", 4)]
    assert {"pubmed:104", "library:gerd"} <= set(reflux)
    assert len(joined) == len(library) + len(shelf) + 3
    assert joined.public_words == library.public_words
    with pytest.raises(InputError, match="no document"):
        joined.document("pubmed:999")
    alone = JoinedLibrary(library, tmp_path / "no shelf", encoder, [corpus])
    assert {"pubmed:101", "pubmed:102"} <= {h.document.id for h in alone.search(QUERY, 4)}
    assert alone.search(QUERY, 4)[0].found[0].tool == "search_literature"
