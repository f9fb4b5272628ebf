"""Evidence, citation and statement: what the types refuse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from prompts.errors import InputError
from tools.evidence import Citation, Evidence, EvidenceId, Found, Origin, Statement, Status, cite, merge_evidence
from tools.evidence import verify_citation as verify

TEXT = "Adrenaline is given first. It goes into the thigh."


def evidence(**changes: object) -> Evidence:
    fields = {
        "id": f"library:anaphylaxis@10-{10 + len(TEXT)}",
        "text": TEXT,
        "kind": "monograph",
        "origin": Origin.RETRIEVED,
    }
    return Evidence.model_validate({**fields, **changes})


@pytest.mark.parametrize(
    "text", ["library:copd@120-348", "pubmed:12345678", "pmc:PMC123@0-9", "graph:starter/copd", "generated:ab12"]
)
def test_an_id_is_read_and_written_the_same(text: str) -> None:
    assert str(EvidenceId.parse(text)) == text


@pytest.mark.parametrize("text", ["", "library", "library:", "Library:x", "library:a b", "library:x@9"])
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        EvidenceId.parse(text)


def test_a_span_of_another_length_is_refused() -> None:
    with pytest.raises(ValidationError, match="differ in length"):
        evidence(id="library:anaphylaxis@10-11")


@pytest.mark.parametrize(("id", "origin"), [("library:x", Origin.GENERATED), ("generated:ab", Origin.RETRIEVED)])
def test_only_generated_text_has_a_generated_id(id: str, origin: Origin) -> None:
    with pytest.raises(ValidationError, match="generated"):
        evidence(id=id, origin=origin)


@given(st.integers(0, len(TEXT) - 1), st.integers(1, len(TEXT)))
def test_a_citation_made_by_cite_is_verified(start: int, length: int) -> None:
    item = evidence()
    end = min(len(TEXT), start + length)
    assert verify(cite(item, start, end), item)


def test_a_changed_quote_a_shifted_span_and_another_source_are_not_verified() -> None:
    item = evidence()
    good = cite(item, 0, 26)
    assert verify(good, item)
    assert not verify(good.model_copy(update={"quote": "Adrenaline is given second."}), item)
    assert not verify(good.model_copy(update={"start": 1, "end": 27}), item)
    assert not verify(good, evidence(id=f"library:other@10-{10 + len(TEXT)}"))


@pytest.mark.parametrize(
    "changes",
    [{"status": Status.RETRACTED}, {"id": "generated:ab", "origin": Origin.GENERATED}],
)
def test_retracted_and_generated_text_cannot_be_cited(changes: dict[str, object]) -> None:
    item = evidence(**changes)
    assert not item.citable
    assert not verify(Citation(evidence_id=item.id, quote=TEXT[:10], start=0, end=10), item)


def test_a_statement_is_either_cited_or_parametric() -> None:
    citation = cite(evidence(), 0, 26)
    Statement(text="Adrenaline first.", origin=Origin.RETRIEVED, citations=(citation,))
    Statement(text="Known by heart.", origin=Origin.PARAMETRIC)
    with pytest.raises(ValidationError):
        Statement(text="No source.", origin=Origin.RETRIEVED)
    with pytest.raises(ValidationError):
        Statement(text="Both.", origin=Origin.PARAMETRIC, citations=(citation,))


def test_merging_keeps_one_record_and_every_way_it_was_found() -> None:
    ways = [Found(tool="search_literature", stream=s, rank=1) for s in ("bm25", "dense")]
    merged = merge_evidence([evidence(found=(ways[0],)), evidence(found=(ways[1],)), evidence(found=(ways[0],))])
    assert [e.found for e in merged] == [tuple(ways)]


def test_the_content_key_changes_with_the_content() -> None:
    assert evidence().content_key == evidence().content_key
    assert evidence().content_key != evidence(title="Another").content_key
