"""A publication that the library and PubMed both give is one document, and PubMed's word on retraction counts."""

from __future__ import annotations

from tools.evidence import Evidence, Found, Origin
from tools.library.contract import LibraryHit
from tools.library.document import Document, Window
from tools.literature.live import LiveDocument, LiveResult
from tools.literature.tool import SearchLiterature


def hit(number: int) -> LibraryHit:
    text = "Statins lower the risk of stroke."
    document = Document(
        id=f"pubmed:{number}", title="Statins", text=text, kind="abstract", language="en", date="", review_by=""
    )
    found = (Found(tool="search_literature", stream="dense", rank=1, score=0.9),)
    return LibraryHit(document=document, window=Window(start=0, end=7, section=""), score=1.0, found=found)


def live(number: int) -> Evidence:
    text = "BACKGROUND: Statins lower the risk of stroke."
    found = (Found(tool="search_literature", stream="pubmed", rank=1),)
    return Evidence(
        id=f"pubmed:{number}@0-{len(text)}", text=text, kind="abstract", origin=Origin.RETRIEVED, found=found
    )


def pool(result: LiveResult, limit: int = 9) -> list[Evidence]:
    return SearchLiterature._pool(SearchLiterature.__new__(SearchLiterature), [hit(1), hit(2), hit(3)], result, limit)


def document(number: int, *pieces: str, names: tuple[str, ...] = ()) -> LiveDocument:
    evidence = tuple(
        Evidence(
            id=f"pmc:PMC{number}@{9 * n}-{9 * n + len(text)}", text=text, kind="full_text", origin=Origin.RETRIEVED
        )
        for n, text in enumerate(pieces)
    )
    return LiveDocument(names=(f"pubmed:{number}", *names), evidence=evidence or (live(number),))


def test_one_document_with_every_way_in_which_it_was_found() -> None:
    result = LiveResult.model_construct(documents=(document(1),), retracted=("pubmed:2",))
    found = pool(result)
    assert [e.document_id for e in found] == ["pubmed:1", "pubmed:3"]
    assert found[0].text.startswith("BACKGROUND")
    assert {f.stream for f in found[0].found} == {"pubmed", "dense"}


def test_the_librarys_copy_under_another_name_is_the_same_document_and_as_retracted() -> None:
    result = LiveResult.model_construct(documents=(document(8, names=("pubmed:1",)),), retracted=("pubmed:2",))
    assert [e.document_id for e in pool(result)] == ["pubmed:8", "pubmed:3"]


def test_further_passages_take_only_the_room_that_no_document_wants() -> None:
    deep = document(7, "one", "two", "three")
    result = LiveResult.model_construct(documents=(deep, document(8, "four", "five"), document(9)), retracted=())
    assert [e.text for e in pool(result, 6)][::2] == ["one", "four", "BACKGROUND: Statins lower the risk of stroke."]
    assert len({e.document_id for e in pool(result, 6)}) == 6
    assert [e.text for e in pool(result, 9)][6:] == ["two", "five", "three"]
