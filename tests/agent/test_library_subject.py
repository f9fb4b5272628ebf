"""Whether the starter library holds something on a question: medicine in everyday words, and no other field."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.adapters import LibraryDocuments
from tools.encoders import Encoder
from tools.library.collection import Library


@pytest.fixture(scope="module")
def documents(built_home: Path, encoder: Encoder) -> LibraryDocuments:
    return LibraryDocuments(Library.open(built_home / "indexes" / "library", encoder))


@pytest.mark.parametrize(
    "text",
    [
        "Do most folk get over an inflamed pancreas?",
        "Which scan should be requested first if an inflamed gallbladder is suspected?",
        "What manoeuvre stops brief spinning when rolling over in bed?",
        "Does a clear chest film exclude a broken rib?",
    ],
)
def test_everyday_medicine_is_on_a_subject(documents: LibraryDocuments, text: str) -> None:
    assert documents.on_subject(text)


@pytest.mark.parametrize(
    "text",
    [
        "How do I get red wine out of a carpet?",
        "How do I teach my puppy to sit?",
        "What is inflation at the moment?",
        "Will a blocked gutter damage my roof?",
        "Who won the football World Cup in 1998?",
    ],
)
def test_other_fields_are_not(documents: LibraryDocuments, text: str) -> None:
    assert not documents.on_subject(text)


def test_a_whole_document_holds_its_title_and_text(documents: LibraryDocuments) -> None:
    assert documents.whole("library:gout").startswith("Gout. ")
    assert "allopurinol" in documents.whole("library:gout")
    assert documents.whole("pubmed:1") == ""
