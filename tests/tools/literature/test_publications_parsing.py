"""PubMed records: text, level of evidence, editorial status."""

from __future__ import annotations

from typing import Any

import pytest

from tools.evidence import Status
from tools.literature.publications import level_of, parse_articles


def one(xml: Any, **fields: Any) -> Any:
    articles = parse_articles(xml.fetch([xml.record("12345678", **fields)]).encode())
    assert len(articles) == 1
    return articles[0]


def test_a_structured_abstract_keeps_its_labels_and_mark_up_does_not_break_words(xml: Any) -> None:
    parts = (
        '<AbstractText Label="BACKGROUND">H<sub>2</sub>  blockers\n are old.</AbstractText>'
        '<AbstractText Label="UNLABELLED">Plain &amp; <i>simple</i>.</AbstractText><AbstractText Label="EMPTY"/>'
        '<AbstractText Label="RESULTS:">p &lt; 0.05.</AbstractText>'
    )
    article = one(xml, abstract_xml=parts, title="A <trial>")
    assert article.abstract == "BACKGROUND: H2 blockers are old.\nPlain & simple.\nRESULTS: p < 0.05."
    assert article.title == "A <trial>"
    evidence = article.evidence()
    assert evidence.id == f"pubmed:12345678@0-{len(article.abstract)}"
    assert evidence.text == article.abstract
    assert (evidence.kind, evidence.language, evidence.date) == ("abstract", "en", "2020-03-07")
    assert article.journal == "The Journal"
    assert article.year == 2020


@pytest.mark.parametrize(
    ("xml_date", "date"),
    [
        ("<Year>2019</Year>", "2019"),
        ("<Year>2019</Year><Month>Dec</Month>", "2019-12"),
        ("<Year>2019</Year><Month>2</Month><Day>5</Day>", "2019-02-05"),
        ("<Year>2019</Year><Season>Winter</Season>", "2019"),
        ("<MedlineDate>2007 Dec-2008 Jan</MedlineDate>", "2007"),
        ("", ""),
    ],
)
def test_dates_are_as_precise_as_they_are_known(xml: Any, xml_date: str, date: str) -> None:
    assert one(xml, pub_date=xml_date).date == date


@pytest.mark.parametrize(
    ("types", "level"),
    [
        (("Review", "Practice Guideline"), "guideline"),
        (("Meta-Analysis", "Systematic Review"), "systematic review"),
        (("Meta-Analysis", "Review"), "meta-analysis"),
        (("Journal Article", "Randomized Controlled Trial"), "randomised trial"),
        (("Review",), "review"),
        (("Observational Study",), "observational study"),
        (("Case Reports", "Journal Article"), "case report"),
        (("Letter",), "other"),
        ((), "other"),
    ],
)
def test_the_level_is_that_of_the_strongest_type(types: tuple[str, ...], level: str) -> None:
    assert level_of(types) == level


@pytest.mark.parametrize(
    ("types", "references", "status"),
    [
        (("Retracted Publication",), (), Status.RETRACTED),
        (("Journal Article",), ("ErratumIn", "RetractionIn"), Status.RETRACTED),
        (("Journal Article",), ("ErratumIn", "ExpressionOfConcernIn"), Status.CONCERN),
        (("Journal Article",), ("ErratumIn",), Status.CORRECTED),
        (("Preprint",), (), Status.PREPRINT),
        (("Retraction of Publication",), ("RetractionOf",), Status.OK),
        (("Journal Article",), ("CommentIn", "Cites"), Status.OK),
    ],
)
def test_the_status_comes_from_types_and_corrections(
    xml: Any, types: tuple[str, ...], references: tuple[str, ...], status: Status
) -> None:
    assert one(xml, types=types, references=references).status is status


def test_a_book_chapter_is_read_and_a_record_without_pmid_is_not(xml: Any) -> None:
    book = (
        "<PubmedBookArticle><BookDocument><PMID>555</PMID><Book><BookTitle>Gene Book</BookTitle><PubDate><Year>1999"
        "</Year></PubDate></Book><ArticleTitle>A gene</ArticleTitle><Abstract><AbstractText>Text.</AbstractText>"
        '</Abstract><Language>eng</Language><PublicationType UI="D016454">Review</PublicationType></BookDocument>'
        "</PubmedBookArticle>"
    )
    articles = parse_articles(xml.fetch([xml.record(""), book]).encode())
    assert [(a.pmid, a.title, a.journal, a.level, a.date) for a in articles] == [
        ("555", "A gene", "Gene Book", "review", "1999")
    ]


def test_a_record_without_abstract_is_read_and_has_an_empty_one(xml: Any) -> None:
    assert one(xml, abstract=None).abstract == ""
