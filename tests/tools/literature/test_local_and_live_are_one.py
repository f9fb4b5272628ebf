"""A publication that the library and PubMed both give is one document, and PubMed's word on retraction counts."""

from __future__ import annotations

from tools.evidence import Evidence, Found, Origin
from tools.library.contract import LibraryHit
from tools.library.document import Document, Window
from tools.literature.live import LiveResult
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


def pool(result: LiveResult) -> list[Evidence]:
    return SearchLiterature._pool(SearchLiterature.__new__(SearchLiterature), [hit(1), hit(2), hit(3)], result, 9)


def test_one_document_with_every_way_in_which_it_was_found() -> None:
    result = LiveResult.model_construct(evidence=(live(1),), retracted=("pubmed:2",))
    found = pool(result)
    assert [e.document_id for e in found] == ["pubmed:1", "pubmed:3"]
    assert found[0].text.startswith("BACKGROUND")
    assert {f.stream for f in found[0].found} == {"pubmed", "dense"}
