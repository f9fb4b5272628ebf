"""Which records of a result are of one work, and that a strategy and its account tell it."""

from __future__ import annotations

from tools.evidence import Status
from tools.literature.article import Article, Correction
from tools.literature.strategy import SameWork, same_works

LONG = "Dexamethasone for croup in children: a randomised trial"


def article(pmid: str, title: str = "", doi: str = "", status: Status = Status.OK, **joined: str) -> Article:
    return Article(
        pmid=pmid, title=title or f"A title that only record {pmid} has, and no other record", abstract="",
        publication_types=(), status=status, level="other", date="2020", year=2020, journal="J", language="en", doi=doi,
        corrections=tuple(Correction(type=kind, pmid=other, source="") for kind, other in joined.items()),
    )  # fmt: skip


def test_a_preprint_and_its_article_are_one_work_by_pubmed_s_own_word() -> None:
    found = same_works([article("1", UpdateOf="2"), article("3"), article("2", status=Status.PREPRINT, UpdateIn="1")])
    assert found == (SameWork(ids=("pubmed:1", "pubmed:2"), why="joined by PubMed", preprints=("pubmed:2",)),)


def test_titles_are_compared_without_case_and_punctuation_and_dois_without_case() -> None:
    found = same_works([article("1", LONG), article("2", LONG.upper() + ".", doi="10.1/A"), article("3", doi="10.1/a")])
    assert found == (SameWork(ids=("pubmed:1", "pubmed:2", "pubmed:3"), why="same title, same DOI"),)


def test_a_short_title_a_comment_and_an_erratum_join_nothing() -> None:
    assert same_works([article("1", "Editorial"), article("2", "Editorial.")]) == ()
    assert same_works([article("1", CommentOn="2"), article("2", ErratumIn="1", Cites="1")]) == ()
    assert same_works([]) == ()


def test_groups_that_meet_late_are_one() -> None:
    first, second = article("1", doi="10.1/a"), article("2", doi="10.1/b")
    bridge = article("3", doi="10.1/a", RepublishedFrom="2")
    (group,) = same_works([first, second, bridge, article("2", RepublishedIn="3")])
    assert group.ids == ("pubmed:1", "pubmed:2", "pubmed:3")
