"""The tool `retrieve_passages`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from prompts.errors import DataError, ServiceError, ToolError
from prompts.tool_arguments import RetrievePassages as Arguments
from tools.contract import Outcome, ToolArtifact, ToolContext
from tools.embedding_cache import CachedEncoder
from tools.encoders import Encoder
from tools.evidence import Evidence, Origin, Status
from tools.passages.continuity import leans_back, leans_on_next
from tools.passages.contract import StoredDocument
from tools.passages.pool import PassagePool
from tools.passages.seos import SeosSettings
from tools.passages.tool import RetrievePassages

ASTHMA = StoredDocument(
    id="library:asthma",
    title="Asthma",
    text="## Treatment\nInhaled steroids prevent asthma attacks. Relievers open the airways in an attack.\n"
    "## Diagnosis\nSpirometry shows airflow obstruction that reverses after a bronchodilator.",
    date="2026-01-01",
    review_by="2028-01-01",
    level="monograph",
)
FRACTURE = StoredDocument(
    id="library:hip", title="Hip fracture", text="## Treatment\nMost hip fractures need surgery within two days."
)
RETRACTED = StoredDocument(
    id="pubmed:1", title="Steroids", text="Inhaled steroids cure asthma.", status=Status.RETRACTED
)


class Source:
    """Documents in memory; finds the ids that it is told."""

    def __init__(self, *documents: StoredDocument, finds: list[str] | None = None) -> None:
        self._documents = {d.id: d for d in documents}
        self._finds = list(self._documents) if finds is None else finds

    def get_document(self, id: str) -> StoredDocument | None:
        return self._documents.get(id)

    def every_document(self, most: int) -> list[str] | None:
        return self._finds if len(self._finds) <= most else None

    def find_documents(self, query: str, limit: int) -> list[str]:
        return self._finds[:limit]


class Broken(Source):
    def find_documents(self, query: str, limit: int) -> list[str]:
        raise ServiceError("The index did not answer.")


def read(
    encoder: Encoder,
    source: Source,
    settings: SeosSettings | None = None,
    found: Sequence[Evidence] = (),
    **arguments: object,
) -> ToolArtifact:
    tool = RetrievePassages(source, PassagePool(encoder, settings))
    return asyncio.run(tool.run(Arguments.model_validate(arguments), ToolContext(evidence=list(found))))


def test_passages_are_exact_slices_with_everything_a_reader_needs(encoder: Encoder) -> None:
    artifact = read(encoder, Source(ASTHMA, FRACTURE), query="How is asthma diagnosed with spirometry?")
    best = artifact.evidence[0]
    start, end = (int(n) for n in best.id.partition("@")[2].split("-"))
    assert best.document_id == "library:asthma"
    assert best.text == ASTHMA.text[start:end] == ASTHMA.text.rpartition("\n")[2]
    assert (best.kind, best.origin, best.section, best.level) == (
        "passage",
        Origin.RETRIEVED,
        "Diagnosis",
        "monograph",
    )
    assert (best.title, best.date, best.review_by) == ("Asthma", "2026-01-01", "2028-01-01")
    assert [(f.stream, f.rank) for f in best.found] == [("dense", 1), ("bm25", 1)]
    assert all(n.startswith("library:asthma@") for n in best.neighbours)


def test_named_documents_are_read_and_a_span_names_its_document(encoder: Encoder) -> None:
    artifact = read(
        encoder, Source(ASTHMA, FRACTURE), query="treatment of hip fracture", documents=["library:hip@0-5"], limit=1
    )
    assert [e.document_id for e in artifact.evidence] == ["library:hip"]


def test_unknown_documents_are_told_beside_the_others_and_refused_alone(encoder: Encoder) -> None:
    artifact = read(encoder, Source(ASTHMA), query="asthma attacks", documents=["library:gout", "library:asthma"])
    assert {e.document_id for e in artifact.evidence} == {"library:asthma"}
    assert ["library:gout" in r for r in artifact.remarks] == [True]
    assert artifact.notices == []
    with pytest.raises(ToolError, match="library:gout") as error:
        read(encoder, Source(ASTHMA), query="gout", documents=["library:gout"])
    assert "ids of documents that a tool returned" in error.value.advice


ABSTRACT = (
    "BACKGROUND: Croup is common in small children. METHODS: We gave 720 children one dose of dexamethasone or a "
    "placebo. RESULTS: Dexamethasone halved the number of children who came back for care within a week. CONCLUSIONS: "
    "Children with mild croup should have dexamethasone."
)


def piece(document: str, text: str, start: int = 0, origin: Origin = Origin.RETRIEVED, **more: Any) -> Evidence:
    span = f"{document}@{start}-{start + len(text)}"
    return Evidence(id=span, text=text, title="Croup", kind="abstract", origin=origin, **more)


def test_an_abstract_of_pubmed_is_read_from_the_turn_with_spans_of_the_whole(encoder: Encoder) -> None:
    whole = piece("pubmed:15385657", ABSTRACT, level="randomised trial", date="2004-09-23")
    part = piece("pubmed:15385657", ABSTRACT[:47])
    named = ["pubmed:15385657@0-47"]
    query = "Does dexamethasone help children with mild croup?"
    artifact = read(encoder, Source(), SeosSettings(budget=24), [part, whole], query=query, documents=named, limit=2)
    assert artifact.evidence
    for item in artifact.evidence:
        start, end = (int(n) for n in item.id.partition("@")[2].split("-"))
        assert item.text == ABSTRACT[start:end]
        assert len(item.text) < len(ABSTRACT)
        assert (item.level, item.date, item.origin) == ("randomised trial", "2004-09-23", Origin.RETRIEVED)
    assert any("halved" in item.text for item in artifact.evidence)


def test_parts_of_a_full_text_and_an_entry_of_the_graph_are_read_as_they_were_found(encoder: Encoder) -> None:
    first = piece("pmc:PMC1", "Dexamethasone was given to children with croup by mouth.", 900, section="Methods")
    second = piece("pmc:PMC1", "Dexamethasone halved returns of children with croup.", 4000, section="Results")
    entry = piece("graph:starter/croup", "Croup usually has a barking cough.", origin=Origin.KNOWLEDGE_GRAPH)
    written = piece("generated:1", "Croup is treated.", origin=Origin.GENERATED)
    named = ["pmc:PMC1", "graph:starter/croup", "generated:1"]
    found = [first, second, entry, written]
    artifact = read(encoder, Source(), found=found, query="dexamethasone for children with croup", documents=named)
    assert {e.id: (e.text, e.origin) for e in artifact.evidence} == {e.id: (e.text, e.origin) for e in found[:3]}
    assert {e.section for e in artifact.evidence} == {"Methods", "Results", None}
    assert "generated:1" in artifact.remarks[0]


def test_a_source_that_finds_what_it_does_not_hold_is_an_error(encoder: Encoder) -> None:
    with pytest.raises(DataError):
        read(encoder, Source(ASTHMA, finds=["library:lost"]), query="asthma")


def test_nothing_relevant_is_nothing_found_and_a_failure_is_not(encoder: Encoder) -> None:
    artifact = read(encoder, Source(ASTHMA, FRACTURE), query="Who won the football World Cup in 1998?")
    assert (artifact.outcome, artifact.evidence) == (Outcome.NOTHING_FOUND, [])
    assert [n.code for n in artifact.notices] == ["no_relevant_passage"]
    with pytest.raises(ServiceError):
        read(encoder, Broken(ASTHMA), query="asthma")


def test_retracted_documents_are_left_out_and_said_so(encoder: Encoder) -> None:
    artifact = read(encoder, Source(RETRACTED, ASTHMA), query="do inhaled steroids help asthma")
    assert {e.document_id for e in artifact.evidence} == {"library:asthma"}
    assert "pubmed:1" in artifact.notices[0].text


def test_a_passage_brings_the_neighbour_that_it_leans_on(encoder: Encoder) -> None:
    first = "Colchicine is taken for three months by adults with pericarditis after a first attack."
    second = "This halves the risk that the illness comes back within the following eighteen months."
    document = StoredDocument(id="library:p", title="", text=f"{first} {second}")
    settings = SeosSettings(budget=18, max_overlap=0, reach=0)
    query = "risk that the illness comes back within eighteen months"
    artifact = read(encoder, Source(document), settings, query=query, limit=2)
    assert [e.text for e in artifact.evidence] == [second, first]
    assert "neighbour" in [f.stream for f in artifact.evidence[1].found]
    assert [e.text for e in read(encoder, Source(document), settings, query=query, limit=1).evidence] == [second]


@pytest.mark.parametrize(
    ("text", "leans"),
    [
        ("However, it does not.", True),
        ("These drugs help.", True),
        ("2. Second item", True),
        ("- item", True),
        ("and so on", True),
        ("In these patients it is stopped.", True),
        ("In patients with gout it is stopped.", False),
        ("因此需要检查。", True),
        ("对这类患者应停药。", True),
        ("1. First item", False),
        ("Italy has many.", False),
        ("Asthma is common.", False),
        ("哮喘很常见。", False),
    ],
)
def test_what_leans_back(text: str, leans: bool) -> None:
    assert leans_back(text) is leans


def test_what_leans_on_the_next() -> None:
    assert leans_on_next("Call an ambulance for:")
    assert not leans_on_next("Call an ambulance.")


def test_the_end_of_a_long_case_counts(encoder: Encoder) -> None:
    story = "She likes gardening and lives with her sister. " * 80
    artifact = read(
        encoder, Source(FRACTURE, ASTHMA), query=story + "She fell and fractured her hip; surgery?", limit=1
    )
    assert [e.document_id for e in artifact.evidence] == ["library:hip"]


def test_documents_are_cut_once_and_the_least_recent_is_forgotten(encoder: Encoder, tmp_path: Path) -> None:
    cached = CachedEncoder(encoder, tmp_path)
    pool = PassagePool(cached, size=1)
    first = pool.cut([ASTHMA])[0]
    assert pool.cut([ASTHMA])[0] is first
    pool.cut([FRACTURE])
    assert len(pool) == 1
    assert pool.cut([ASTHMA, FRACTURE, ASTHMA])[2].passages == first.passages
    changed = ASTHMA.model_copy(update={"text": ASTHMA.text + " New words."})
    assert pool.cut([changed])[0].passages != first.passages
    cached.close()
