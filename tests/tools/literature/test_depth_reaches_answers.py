"""Full texts in the search tool: passages to the point, abstracts when anything fails, and a strategy that tells."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts.errors import DataError, InputError, ServiceError
from prompts.tool_arguments import RetrievePassages as Passages
from prompts.tool_arguments import SearchLiterature as Arguments
from support.efetch import parse_articles
from tools.contract import Outcome, ToolArtifact, ToolContext
from tools.encoders import Encoder
from tools.library.collection import Library
from tools.library.document import Document
from tools.literature.article import Article
from tools.literature.depth import TextSpan, grown
from tools.literature.full_text import (
    FullText,
    FullTextState,
    JoinedTexts,
    LibraryTexts,
    full_text_sources,
    read_full_text,
)
from tools.literature.tool import SearchLiterature
from tools.passages.pool import PassagePool
from tools.passages.tool import RetrievePassages

QUESTION = "Do statins cause muscle pain?"
RIVER = "The river was measured every morning, and its colour was noted by two observers. "
ANSWER = "Muscle pain was no more frequent with statins than with placebo in blinded trials."


def jats(pmid: str, pmc: str, answer: str = ANSWER, kind: str = "review-article") -> str:
    return (
        f'<article article-type="{kind}"><front><article-meta><article-id pub-id-type="pmid">{pmid}</article-id>'
        f'<article-id pub-id-type="pmc">{pmc}</article-id><title-group><article-title>Text</article-title>'
        f"</title-group></article-meta></front><body><sec><title>Methods</title><p>{RIVER * 9}</p></sec>"
        f"<sec><title>Harms</title><p>{answer}</p></sec><sec><title>Funding</title><p>{RIVER * 9}</p></sec></body>"
        "</article>"
    )


@pytest.fixture
def found(ncbi: Any, xml: Any) -> Any:
    """A review with a full text, a trial with one, and a review without."""
    ncbi.found = {"statins": ["1", "2", "3"]}
    ncbi.records = {
        "1": xml.record("1", "Statins and muscles.", "We searched four databases.", types=("Review",)),
        "2": xml.record("2", "Statins.", "We enrolled many adults.", types=("Randomized Controlled Trial",)),
        "3": xml.record("3", "Statins again.", "Muscle pain on statins.", types=("Meta-Analysis",)),
    }
    ncbi.links = {"1": "91", "2": "92"}
    ncbi.texts = {"91": jats("1", "91"), "92": jats("2", "92")}
    return ncbi


@pytest.fixture
def search(library: Library, encoder: Encoder) -> Any:
    def call(settings: Any, limit: int = 9, **options: Any) -> ToolArtifact:
        tool = SearchLiterature(library, encoder, settings, **options)
        return asyncio.run(
            tool.run(Arguments(query=QUESTION, limit=limit), ToolContext(question=QUESTION, kind="evidence"))
        )

    return call


def records(artifact: ToolArtifact) -> dict[str, Any]:
    return next(s for s in artifact.strategy if s["step"] == "records")


def read(artifact: ToolArtifact) -> dict[str, tuple[int, str, str]]:
    return {d["id"]: (d["depth"], d["text"], d["full_text"]) for d in records(artifact)["documents"]}


def published(artifact: ToolArtifact) -> list[Any]:
    return [e for e in artifact.evidence if not e.document_id.startswith("library:")]


def test_the_passage_of_a_review_that_answers_is_evidence_and_the_strategy_says_how_deep(
    found: Any, search: Any, settings_for: Any
) -> None:
    artifact = search(settings_for(found))
    assert read(artifact) == {
        "pubmed:1": (2, "pmc:PMC91", "read"),
        "pubmed:2": (1, "pubmed:2", "not_asked"),
        "pubmed:3": (1, "pubmed:3", "no_copy"),
    }
    (passage, *_) = [e for e in published(artifact) if e.document_id == "pmc:PMC91"]
    assert passage.text == ANSWER
    assert (passage.section, passage.kind, passage.level) == ("Harms", "full_text", "review")
    assert {f.stream for f in passage.found} == {"pubmed", "dense", "full_text"}
    share = records(artifact)["type_share"]
    assert (share["n"], round(share["reviews"], 2), round(share["depths"]["2"], 2)) == (3, 0.67, 0.33)
    assert artifact.notices == []


def test_a_full_text_is_handed_on_whole_where_passages_are_cut_from_it_later(
    found: Any, search: Any, settings_for: Any
) -> None:
    artifact = search(settings_for(found, reading="whole"))
    (whole,) = [e for e in published(artifact) if e.document_id == "pmc:PMC91"]
    assert (whole.id, whole.kind, ANSWER in whole.text) == (f"pmc:PMC91@0-{len(whole.text)}", "full_text", True)
    assert {e.document_id for e in published(artifact)} >= {"pubmed:2", "pubmed:3"}
    assert read(artifact)["pubmed:1"] == (2, "pmc:PMC91", "read")


def test_a_folder_of_full_texts_is_read_before_pubmed_central_is_asked(
    found: Any, search: Any, settings_for: Any, tmp_path: Path
) -> None:
    (tmp_path / "one.nxml").write_text(jats("1", "91"), encoding="utf-8")
    artifact = search(settings_for(found, full_text_folder=tmp_path))
    assert read(artifact)["pubmed:1"] == (2, "pmc:PMC91", "read")
    asked = [r.parameters for r in found.requests if r.parameters.get("db") == "pmc" and r.utility == "efetch"]
    assert not any("91" in str(p.get("id")) for p in asked)


def test_full_texts_crowd_no_other_article_out(found: Any, search: Any, settings_for: Any) -> None:
    artifact = search(settings_for(found, depth=3), limit=4)
    documents = [e.document_id for e in artifact.evidence]
    assert len(set(documents)) == len(documents) == 4
    whole = [e.document_id for e in search(settings_for(found, depth=3), limit=20).evidence]
    first_of_all = whole[: len(set(whole) - {"pubmed:1", "pubmed:2"})]
    assert len(set(first_of_all)) == len(first_of_all), "every document stands before the second piece of any"


def test_at_depth_one_no_full_text_is_asked_for(found: Any, search: Any, settings_for: Any) -> None:
    artifact = search(settings_for(found, depth=1))
    assert not [r for r in found.requests if r.utility == "elink" or r.parameters.get("db") == "pmc"]
    assert {depth for depth, _, _ in read(artifact).values()} == {1}


class Failing:
    """A source of full texts that is away."""

    async def read(self, articles: Sequence[Article]) -> Mapping[str, FullText]:
        raise ServiceError("PubMed Central is away.", "Wait.")


class Late:
    """A source of full texts that never answers."""

    async def read(self, articles: Sequence[Article]) -> Mapping[str, FullText]:
        await asyncio.sleep(60)
        return {}


@pytest.mark.parametrize(("source", "why"), [(Failing(), "PubMed Central is away."), (Late(), "within 0.05 seconds")])
def test_a_source_that_fails_or_is_late_leaves_the_abstracts_and_a_notice(
    source: Any, why: str, found: Any, search: Any, settings_for: Any
) -> None:
    artifact = search(settings_for(found, full_text_seconds=0.05), texts=source)
    assert read(artifact)["pubmed:1"] == (1, "pubmed:1", "failed")
    assert {e.document_id for e in published(artifact)} == {"pubmed:1", "pubmed:2", "pubmed:3"}
    (notice,) = artifact.notices
    assert (notice.code, why in notice.text) == ("full_texts_failed", True)
    assert "Full texts that were not read: 2; the abstracts stand for them" in notice.text


def test_a_full_text_beside_the_question_leaves_the_abstract(found: Any, search: Any, settings_for: Any) -> None:
    found.texts = {"91": jats("1", "91", answer=RIVER)}
    artifact = search(settings_for(found))
    assert read(artifact)["pubmed:1"] == (1, "pubmed:1", "read")
    (document,) = [d for d in records(artifact)["documents"] if d["id"] == "pubmed:1"]
    assert "none of its passages" in document["why"]


def test_what_only_the_full_text_calls_retracted_is_left_out(found: Any, search: Any, settings_for: Any) -> None:
    found.texts = {"91": jats("1", "91", kind="retracted-article").replace(">Text<", ">RETRACTED: Text<")}
    artifact = search(settings_for(found))
    assert "pubmed:1" not in read(artifact)
    assert [e["id"] for e in records(artifact)["excluded"]] == ["pubmed:1"]
    assert "retracted_excluded" in [n.code for n in artifact.notices]


@pytest.fixture
def read_closely(found: Any, library: Library, encoder: Encoder, settings_for: Any) -> Any:
    """A search, then a closer reading of what is named, in the same turn."""

    def call(*documents: str, query: str = QUESTION, texts: Any = None, **fields: Any) -> ToolArtifact:
        async def turn() -> ToolArtifact:
            context = ToolContext(question=QUESTION, kind="evidence")
            first = await SearchLiterature(library, encoder, settings_for(found)).run(
                Arguments(query=QUESTION), context
            )
            found.requests.clear()
            tool = SearchLiterature(library, encoder, settings_for(found, **fields), texts=texts)
            closely = RetrievePassages(Held(), PassagePool(encoder), texts=tool.full_texts)
            named = Passages(query=query, documents=list(documents))
            return await closely.run(named, replace(context, evidence=first.evidence))

        return asyncio.run(turn())

    return call


class Held:
    """A source of documents that holds none."""

    def get_document(self, id: str) -> None:
        return None

    def find_documents(self, query: str, limit: int) -> list[str]:
        return []

    def every_document(self, most: int) -> list[str] | None:
        return []


def test_what_is_named_is_read_in_full_whatever_its_type(read_closely: Any) -> None:
    artifact = read_closely("pubmed:2", "pubmed:1", "pmc:PMC91")
    assert {e.document_id for e in artifact.evidence} == {"pmc:PMC91", "pmc:PMC92"}
    trial = next(e for e in artifact.evidence if e.document_id == "pmc:PMC92")
    assert (trial.text, trial.section, trial.level, trial.title) == (ANSWER, "Harms", "randomised trial", "Statins.")
    assert artifact.remarks == []
    river = read_closely("pmc:PMC91", query="How often was the river measured?")
    assert {(e.document_id, e.section) for e in river.evidence} <= {("pmc:PMC91", "Methods"), ("pmc:PMC91", "Funding")}
    assert river.evidence, "the search handed on another passage of it"


def test_a_full_text_that_failed_is_told_and_never_nothing_found(read_closely: Any) -> None:
    artifact = read_closely("pubmed:3", texts=Failing())
    assert [e.document_id for e in artifact.evidence] == ["pubmed:3"]
    assert artifact.remarks == ["The full text of pubmed:3 could not be read: PubMed Central is away."]
    assert artifact.outcome is Outcome.OK
    late = read_closely("pubmed:2", query="Who wrote Hamlet?", texts=Late(), full_text_seconds=0.05)
    assert (late.outcome, late.evidence) == (Outcome.UNAVAILABLE, [])
    assert "within 0.05 seconds" in late.remarks[0]


@pytest.mark.parametrize("fields", [{"depth": 1}, {"live": "off"}])
def test_no_full_text_is_asked_for_where_the_settings_allow_none(found: Any, read_closely: Any, fields: Any) -> None:
    artifact = read_closely("pubmed:2", query="Were adults enrolled?", **fields)
    assert {e.document_id for e in artifact.evidence} == {"pubmed:2"}
    assert (artifact.remarks, found.requests) == ([], [])


class Shelf:
    """A library with one copy of PubMed Central."""

    def document(self, id: str) -> Document:
        if id == "pmc:PMC91":
            return Document(id=id, title="T", text=ANSWER, kind="article", language="en", date="", review_by="")
        raise InputError("none")


@pytest.fixture
def two(xml: Any) -> list[Article]:
    found = parse_articles(xml.fetch([xml.record("1", types=("Review",)), xml.record("2")]).encode()).articles
    return [a.model_copy(update={"pmcid": f"PMC9{a.pmid}"}) for a in found]


def test_the_librarys_own_copy_is_read_and_only_the_rest_is_fetched(two: list[Article]) -> None:
    class Live:
        def __init__(self) -> None:
            self.asked: list[str] = []

        async def read(self, articles: Sequence[Article]) -> Mapping[str, FullText]:
            self.asked += [a.pmid for a in articles]
            return {a.pmid: read_full_text(jats(a.pmid, f"9{a.pmid}").encode(), a) for a in articles}

    own = LibraryTexts(Shelf())  # type: ignore[arg-type]
    live = Live()
    texts = asyncio.run(JoinedTexts(own, live).read(two))
    assert live.asked == ["2"]
    assert texts["1"].record is not None
    assert (texts["1"].record.id, texts["1"].record.text) == ("pmc:PMC91", ANSWER)
    assert texts["2"].record is not None
    kept = asyncio.run(JoinedTexts(own, Failing()).read(two))
    assert (kept["1"].state, kept["2"].state, kept["2"].why) == (
        FullTextState.READ,
        FullTextState.FAILED,
        "PubMed Central is away.",
    )
    with pytest.raises((ServiceError, DataError)):
        asyncio.run(JoinedTexts(Failing()).read(two))


def test_beside_a_mirror_no_full_text_is_fetched_from_the_network() -> None:
    assert isinstance(full_text_sources(Shelf(), object()), LibraryTexts)  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 900)), min_size=1, max_size=9), st.data())
def test_a_window_grows_within_its_section_and_the_bound(sizes: list[tuple[str, int]], data: Any) -> None:
    windows: list[TextSpan] = []
    at = 0
    for title, size in sizes:
        windows.append(TextSpan(title, at, at + size))
        at += size + 1
    place = data.draw(st.integers(0, len(windows) - 1))
    span = grown(windows, place, 1500)
    own = windows[place]
    assert span.start <= own.start < own.end <= span.end
    assert span.end - span.start <= 1500
    inside = [w for w in windows if w.start < span.end and span.start < w.end]
    assert {w.title for w in inside} == {span.title}
    assert (inside[0].start, inside[-1].end) == (span.start, span.end)
