"""What may be used of a publication: level of evidence, editorial status, exclusions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.evidence import Status
from tools.literature.article import Availability, Exclusion, level_of, status_of
from tools.literature.publications import parse_articles


def one(xml: Any, **fields: Any) -> Any:
    records = parse_articles(xml.fetch([xml.record("12345678", **fields)]).encode())
    assert records.problems == ()
    assert len(records.articles) == 1
    return records.articles[0]


@pytest.mark.parametrize(
    ("types", "level"),
    [
        (("Review", "Practice Guideline"), "guideline"),
        (("Meta-Analysis", "Systematic Review"), "systematic review"),
        (("Meta-Analysis", "Review"), "meta-analysis"),
        (("Journal Article", "Randomized Controlled Trial"), "randomised trial"),
        (("Clinical Trial, Phase III", "Journal Article"), "clinical trial"),
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
        (("Retraction of Publication",), (), Status.RETRACTION_NOTICE),
        (("Journal Article",), ("RetractionOf",), Status.RETRACTION_NOTICE),
        (("Retraction of Publication",), ("RetractionIn",), Status.RETRACTED),
        (("Expression of Concern",), (), Status.CONCERN),
        (("Preprint",), ("UpdateIn",), Status.PREPRINT),
        (("Journal Article",), ("CommentIn", "Cites"), Status.OK),
    ],
)
def test_the_status_comes_from_types_and_corrections(
    xml: Any, types: tuple[str, ...], references: tuple[str, ...], status: Status
) -> None:
    assert one(xml, types=types, references=references).status is status


@pytest.mark.parametrize(
    ("title", "abstract", "status", "availability"),
    [
        ("RETRACTED: A trial.", "It worked.", Status.RETRACTED, Availability.AVAILABLE),
        ("WITHDRAWN: Steroids for croup.", "Out of date.", Status.RETRACTED, Availability.AVAILABLE),
        ("A trial.", "This article has been withdrawn at the request of the authors.", Status.RETRACTED, "withdrawn"),
        ("Withdrawal of care in coma.", "It was withdrawn slowly.", Status.OK, Availability.AVAILABLE),
        ("Why are retracted papers cited?", "Retraction is no end." * 60, Status.OK, Availability.AVAILABLE),
    ],
)
def test_what_a_publisher_took_back_is_not_usable(
    xml: Any, title: str, abstract: str, status: Status, availability: str
) -> None:
    article = one(xml, title=title, abstract=abstract)
    assert (article.status, article.availability) == (status, availability)
    assert article.evidence().citable is status.usable


def test_an_excluded_record_names_its_notice(xml: Any) -> None:
    article = one(xml, references=("CommentIn", "RetractionIn"))
    assert article.exclusion == Exclusion(pmid="12345678", title="A trial.", status=Status.RETRACTED, notices=("999",))
    assert one(xml, types=("Retraction of Publication",)).exclusion is not None
    assert one(xml, references=("ErratumIn",)).exclusion is None


@given(
    st.sets(st.sampled_from(["Retracted Publication", "Preprint", "Review", "Retraction of Publication"])), st.text()
)
def test_what_is_marked_retracted_is_never_usable(types: set[str], title: str) -> None:
    if types & {"Retracted Publication", "Retraction of Publication"}:
        assert not status_of(sorted(types), [], title).usable
