"""Depth: which full texts are read, what stands for them where there is none, and that spans are exact."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from prompts.errors import ServiceError
from support.efetch import parse_articles
from tools.evidence import Found, Status, cite, verify_citation
from tools.literature.article import Article
from tools.literature.client import EUtilities
from tools.literature.depth import LONGEST, BestDocument, deepen, passage, spans, type_share
from tools.literature.full_text import FullText, FullTextState, PmcFolder, PmcLive, read_full_text

BODY = "<body><sec><title>Methods</title><p>{0}</p><p>{1}</p></sec><sec><title>Results</title><p>{2}</p></sec></body>"
PARAGRAPHS = ("We asked many children.", "They were given dexamethasone.", "Croup scores fell within hours.")


def jats(pmid: str, pmc: str, body: str = BODY.format(*PARAGRAPHS), kind: str = "research-article") -> str:
    return (
        f'<article article-type="{kind}"><front><article-meta><article-id pub-id-type="pmid">{pmid}</article-id>'
        f'<article-id pub-id-type="pmc">{pmc}</article-id><title-group><article-title>Text {pmid}</article-title>'
        f"</title-group></article-meta></front>{body}</article>"
    )


@pytest.fixture
def article(xml: Any) -> Callable[..., Article]:
    def make(pmid: str, *types: str, pmcid: str = "", **fields: Any) -> Article:
        record = xml.record(pmid, types=types or ("Journal Article",), **fields)
        (found,) = parse_articles(xml.fetch([record]).encode()).articles
        return found.model_copy(update={"pmcid": pmcid})

    return make


class Source:
    """Has a full text of everything it is asked for, and notes what that was."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def read(self, articles: Sequence[Article]) -> Mapping[str, FullText]:
        self.asked += [a.pmid for a in articles]
        return {a.pmid: read_full_text(jats(a.pmid, f"9{a.pmid}").encode(), a) for a in articles}


def passages(document: BestDocument, found: Sequence[Found] = (), longest: int = LONGEST) -> list[Any]:
    if document.record is None:
        return [document.article.evidence(found)]
    return [passage(document, document.record, span, found) for span in spans(document.record, longest)]


def deep(articles: Sequence[Article], source: Any, **options: Any) -> Any:
    return asyncio.run(deepen(articles, source, **options))


@pytest.mark.parametrize(
    ("depth", "asked", "depths"),
    [(1, [], [1, 1, 1, 1]), (2, ["2", "4"], [1, 2, 1, 2]), (3, ["1", "2", "3", "4"], [3, 2, 3, 2])],
)
def test_the_depth_decides_whose_full_text_is_read(
    depth: int, asked: list[str], depths: list[int], article: Callable[..., Article]
) -> None:
    articles = [
        article("1"),
        article("2", "Review"),
        article("3", "Randomized Controlled Trial"),
        article("4", "Practice Guideline"),
    ]
    source = Source()
    deepened = deep(articles, source, depth=depth)
    assert source.asked == asked
    assert [d.depth for d in deepened.documents] == depths
    assert [d.article.pmid for d in deepened.documents] == ["1", "2", "3", "4"]


def test_no_more_full_texts_are_read_than_the_bound_and_the_rest_says_so(article: Callable[..., Article]) -> None:
    source = Source()
    deepened = deep([article(str(n), "Review") for n in range(1, 6)], source, full_texts=2)
    assert source.asked == ["1", "2"]
    assert [d.state for d in deepened.documents[1:3]] == [FullTextState.READ, FullTextState.NOT_ASKED]


def test_every_passage_is_an_exact_slice_that_can_be_cited(article: Callable[..., Article]) -> None:
    found = (Found(tool="t", stream="pubmed", rank=1),)
    (document,) = deep([article("2", "Review", references=("ErratumIn",))], Source()).documents
    for longest, texts in ((2000, 2), (31, 3)):
        evidence = passages(document, found, longest)
        assert len(evidence) == texts
        assert "\n".join(e.text for e in evidence) == "\n".join(PARAGRAPHS)
        for item in evidence:
            start, _, end = item.id.partition("@")[2].partition("-")
            assert document.record.text[int(start) : int(end)] == item.text
            assert item.id.startswith("pmc:PMC92@")
            assert (item.status, item.level, item.found) == (Status.CORRECTED, "review", found)
            assert verify_citation(cite(item, 0, 5), item)
    assert [e.section for e in evidence] == ["Methods", "Methods", "Results"]


@pytest.mark.parametrize("words", ["Scores fell. " * 40, "croup " * 90, "x" * 500])
def test_a_long_paragraph_is_cut_and_loses_nothing(words: str, article: Callable[..., Article]) -> None:
    text = read_full_text(jats("2", "92", body=f"<body><p>{words}</p><p>End.</p></body>").encode(), article("2"))
    document = BestDocument(article=article("2"), record=text.record, depth=3, state=text.state)
    evidence = passages(document, longest=100)
    assert max(len(e.text) for e in evidence) <= 100
    assert "".join("".join(e.text.split()) for e in evidence) == "".join(f"{words}End.".split())


def test_without_a_full_text_the_abstract_stands_and_the_reason_is_said(article: Callable[..., Article]) -> None:
    class Failing:
        async def read(self, articles: Sequence[Article]) -> Mapping[str, FullText]:
            raise ServiceError("PubMed Central is away.", "Wait.")

    deepened = deep([article("2", "Review"), article("3", abstract=None)], Failing())
    assert deepened.failure == "PubMed Central is away. Wait."
    first, _ = deepened.documents
    assert (first.state, first.why, first.depth) == (FullTextState.FAILED, "PubMed Central is away.", 1)
    assert [e.id for e in passages(first)] == ["pubmed:2@0-10"]


@pytest.mark.parametrize(
    ("body", "state"),
    [
        (jats("2", "92"), FullTextState.READ),
        (jats("2", "92", body=""), FullTextState.RESTRICTED),
        (jats("8", "92"), FullTextState.UNREADABLE),
        (jats("2", "92")[:-30], FullTextState.UNREADABLE),
        (jats("2", "92", body="<body/>"), FullTextState.UNREADABLE),
        ("<html/>", FullTextState.UNREADABLE),
    ],
)
def test_a_full_text_is_taken_only_if_it_is_whole_and_belongs_to_the_record(
    body: str, state: FullTextState, article: Callable[..., Article]
) -> None:
    text = read_full_text(body.encode(), article("2", pmcid="PMC92"))
    assert text.state is state
    assert (text.record is not None) is (state is FullTextState.READ)
    assert bool(text.why) is (state is not FullTextState.READ)


def test_retracted_articles_are_excluded_by_either_word(article: Callable[..., Article]) -> None:
    class Retracting(Source):
        async def read(self, articles: Sequence[Article]) -> Mapping[str, FullText]:
            texts = await super().read(articles)
            retracted = {"status": Status.RETRACTED}
            return {p: t._replace(record=t.record and t.record.model_copy(update=retracted)) for p, t in texts.items()}

    deepened = deep([article("1", references=("RetractionIn",)), article("2", "Review"), article("3")], Retracting())
    assert [d.article.pmid for d in deepened.documents] == ["3"]
    assert [(e.pmid, e.notices) for e in deepened.excluded] == [("1", ("999",)), ("2", ())]


def test_live_full_texts_come_in_one_batch_and_unknown_pmcids_are_looked_up(
    ncbi: Any, settings_for: Callable[..., Any], article: Callable[..., Article]
) -> None:
    ncbi.links = {"2": "92"}
    ncbi.texts = {"91": jats("1", "91"), "92": jats("2", "92"), "93": jats("3", "93", body="")}
    source = PmcLive(EUtilities(settings_for(ncbi)))
    articles = [article("1", pmcid="PMC91"), article("2"), article("3", pmcid="PMC93"), article("4")]
    states = [d.state.value for d in deep(articles, source, depth=3).documents]
    assert states == ["read", "read", "restricted", "no_copy"]
    assert [(r.utility, r.parameters["id"]) for r in ncbi.requests] == [("elink", "2"), ("efetch", "91,93,92")]
    deep(articles, source, depth=3)
    assert len(ncbi.requests) == 2  # kept, links and texts


def test_a_folder_of_full_texts_is_joined_by_pmid(tmp_path: Path, article: Callable[..., Article]) -> None:
    (tmp_path / "a.nxml").write_text(jats("1", "91"))
    (tmp_path / "PMC92.xml").write_text(jats("2", "92")[:-40])
    (tmp_path / "notes.txt").write_text("no JATS")
    articles = [article("1"), article("2", pmcid="PMC92"), article("3")]
    documents = deep(articles, PmcFolder(tmp_path), depth=3).documents
    assert [d.state.value for d in documents] == ["read", "unreadable", "no_copy"]
    assert "well-formed" in documents[1].why
    deepened = deep(articles, PmcFolder(tmp_path / "none"), depth=3)
    assert "cannot be read" in deepened.failure


def test_the_share_of_types_counts_the_first_five(article: Callable[..., Article]) -> None:
    review, trial = deep([article("1", "Review"), article("2")], Source()).documents
    abstract = BestDocument(article=article("3", "Meta-Analysis"), record=None, depth=1, state=FullTextState.NOT_ASKED)
    evidence = [*passages(review), *passages(trial), *passages(abstract), *passages(trial)]
    share = type_share(evidence)
    assert (share.n, share.reviews, share.others) == (5, 0.6, 0.4)
    assert share.depths == {1: 0.6, 2: 0.4, 3: 0.0}
    assert type_share([]).n == 0
