"""Every feature of the query language against a brute-force evaluator: the same records, exactly."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.mirror_oracle import Oracle
from support.mirror_records import AUTHORS, ENTRY_TERMS, HEADINGS, JOURNALS, NARROWER, SUBHEADINGS, TYPES, WORDS
from tools.mirror.engine import Mirror
from tools.mirror.parser import parse
from tools.mirror.records import MirrorRecord
from tools.mirror.syntax import QueryError

TODAY = date(2012, 6, 30)
EVERY = 1000  # more than there are records
WORD_TAGS = ("[tiab]", "[ti]", "[ab]", "[tw]", "[all]", "[ot]", "[Title/Abstract]", " [Text Word]", "[TI]")


def some(*values: str) -> st.SearchStrategy[str]:
    return st.sampled_from(values)


def words(least: int, most: int) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from((*WORDS, "unheard", "Heart")), min_size=least, max_size=most).map(" ".join)


def day(first: int, last: int) -> st.SearchStrategy[str]:
    whole = st.builds("{}/{:02d}/{:02d}".format, st.integers(first, last), st.integers(1, 12), st.integers(1, 31))
    month = st.builds("{}/{}".format, st.integers(first, last), st.integers(1, 12))
    return st.one_of(st.integers(first, last).map(str), month, whole)


def leaves() -> st.SearchStrategy[str]:
    """One term of every kind."""
    tag = st.sampled_from(WORD_TAGS)
    heading = st.builds(
        "{}{}".format, some(*HEADINGS, "heart attack", "unheard"), some("", "/drug therapy", f"/{SUBHEADINGS[1]}")
    )
    heading_tag = some("[mh]", "[MeSH Terms]", "[majr]", "[mh:noexp]", "[majr:noexp]")
    near = st.builds('"{}"[{}:~{}]'.format, words(2, 3), some("ti", "tiab", "Title/Abstract"), st.integers(0, 4))
    ends = st.tuples(day(2005, 2008), day(2009, 2012))
    return st.one_of(
        words(1, 4),
        st.builds('"{}"'.format, words(1, 3)),
        st.builds('"{}"{}'.format, words(1, 3), tag),
        st.builds("{}{}".format, words(1, 2), tag),
        st.builds("{}*{}".format, some("card", "cardio", "child", "heart att", "neop"), st.one_of(some(""), tag)),
        st.builds('"{} {}*"{}'.format, words(1, 1), some("card", "asth", "chil"), st.one_of(some(""), tag)),
        near,
        st.builds("{}{}".format, day(2005, 2012), some("[dp]", "[pdat]", "[Date - Publication]")),
        ends.map("{0[0]}:{0[1]}[dp]".format),
        ends.map('"{0[0]}"[dp] : "{0[1]}"[dp]'.format),
        some('"last 3 years"[dp]', "last 18 months[dp]", "2013/02:2013/08[edat]", '"2013/05/01"[edat] : "3000"[edat]'),
        st.builds('"{}"{}'.format, heading, heading_tag),
        st.builds("{}{}".format, heading, heading_tag),
        some("diabet*[mh]", "neop*[mh]", "rand*[pt]"),
        st.builds('"{}"{}'.format, some(*TYPES, "unheard"), some("[pt]", "[Publication Type]", "[pt:noexp]")),
        st.builds("{}[la]".format, some("eng", "english", "chi", "japanese", "jpn")),
        st.builds("{}[au]".format, some(*AUTHORS, "smith", "O'Brien", "unheard j")),
        st.builds('"{}"[au]'.format, some(*AUTHORS, "smith")),
        st.builds('"{}"[ta]'.format, some(*(name for journal in JOURNALS for name in journal))),
        st.builds("{}{}".format, st.integers(10_001, 10_310), some("[pmid]", "[uid]", "")),
        some("10001,10007 10444[uid]", "10002 10003 99999", '"10.1000/made.10005"[doi]', "PMC10001", "hasabstract"),
        st.builds(
            "{}[sb]".format, some("medline", "inprocess", "publisher", "pubmednotmedline", "all", '"pubmed pmc"')
        ),
    )


def queries() -> st.SearchStrategy[str]:
    """Chains with and without parentheses, operators written, implied and as signs."""
    operator = some(" AND ", " OR ", " NOT ", " & ", "|")
    return st.recursive(
        leaves(),
        lambda inner: st.one_of(
            st.builds("{}{}{}".format, inner, operator, inner),
            st.builds("({})".format, inner),
            st.builds("({}) {}".format, inner, inner),
        ),
        max_leaves=6,
    )


@pytest.fixture(scope="session")
def oracles(records: list[MirrorRecord]) -> tuple[Oracle, Oracle]:
    return Oracle(records), Oracle(records, ENTRY_TERMS, NARROWER)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(query=queries(), with_descriptors=st.booleans())
def test_the_engine_finds_what_brute_force_finds(
    query: str, with_descriptors: bool, oracles: tuple[Oracle, Oracle], mirror: Mirror, mirror_with_descriptors: Mirror
) -> None:
    engine = mirror_with_descriptors if with_descriptors else mirror
    try:
        expected = oracles[with_descriptors].find(parse(query, TODAY).tree)
    except ValueError:
        expected = None
    if expected is None:
        with pytest.raises(QueryError):
            engine.find(query, EVERY)
        return
    found = engine.find(query, EVERY)
    assert set(found.ids) == expected
    assert found.count == len(found.ids) == len(expected)
    assert found.ids[3:8] == engine.find(query, 5, offset=3).ids
    assert set(engine.find(query, EVERY, sort="date").ids) == expected
    assert set(engine.find(found.translation, EVERY).ids) == expected, found.translation


def test_generated_queries_find_something_and_not_everything(mirror: Mirror, records: list[MirrorRecord]) -> None:
    shares: list[int] = []

    @settings(max_examples=60, deadline=None, derandomize=True, database=None)
    @given(query=leaves())
    def count(query: str) -> None:
        try:
            shares.append(mirror.find(query, 0).count)
        except QueryError:
            shares.append(0)

    count()
    assert sum(0 < n < len(records) for n in shares) > len(shares) / 2
