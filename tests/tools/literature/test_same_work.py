"""Which records of a result are of one work, and which of a turn's works concern what an answer shows."""

from __future__ import annotations

from typing import Any

from tools.evidence import SameWork, Status
from tools.literature.adapt_e.contract import SearchPlan
from tools.literature.article import Article, Correction
from tools.literature.ladder import Climb
from tools.literature.strategy import FoundDocument, Hit, Source, as_steps, make_strategy, same_works, works_among

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


def steps(*groups: SameWork, **texts: str) -> list[dict[str, Any]]:
    """The steps of a search that found the documents of some groups; ``texts``: the full text read of a PMID, p1."""
    ids = [i for group in groups for i in group.ids]
    hits = (Hit(stream="pubmed", rank=1),)
    found = [
        FoundDocument(id=i, rank=1, hits=hits, text=texts.get(i.replace("pubmed:", "p"), i)) for i in dict.fromkeys(ids)
    ]
    source = Source(kind="pubmed", name="x")
    strategy = make_strategy("q", SearchPlan(), Climb(), source, 20, documents=found)
    return as_steps(strategy.model_copy(update={"same_work": groups}))


def test_of_a_turn_s_works_those_count_of_which_a_document_is_shown() -> None:
    pair = SameWork(ids=("pubmed:1", "pubmed:2"), why="joined by PubMed", preprints=("pubmed:2",))
    others = SameWork(ids=("pubmed:3", "pubmed:4"), why="same DOI")
    searched = [{"step": "library"}, *steps(pair, others)]
    assert works_among({"pubmed:2", "pubmed:5"}, searched) == [pair]
    assert works_among({"pubmed:4", "pubmed:1"}, searched) == [pair, others]
    assert works_among({"pubmed:5"}, searched) == []


def test_an_article_goes_by_the_full_text_that_is_shown_of_it() -> None:
    pair = SameWork(ids=("pubmed:1", "pubmed:2"), why="same DOI", preprints=("pubmed:2",))
    searched = steps(pair, p1="pmc:PMC1", p2="pmc:PMC2")
    (work,) = works_among({"pmc:PMC2", "pubmed:1"}, searched)
    assert (work.ids, work.preprints) == (("pubmed:1", "pmc:PMC2"), ("pmc:PMC2",))


def test_groups_of_several_searches_that_share_a_document_are_one_work() -> None:
    first = SameWork(ids=("pubmed:1", "pubmed:2"), why="same DOI", preprints=("pubmed:2",))
    second = SameWork(ids=("pubmed:3", "pubmed:1"), why="same title, same DOI")
    assert works_among({"pubmed:3"}, [*steps(first), *steps(first), *steps(second)]) == [
        SameWork(ids=("pubmed:1", "pubmed:2", "pubmed:3"), why="same DOI, same title", preprints=("pubmed:2",))
    ]
