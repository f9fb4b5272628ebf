"""The parser: PubMed's rules, and nothing but a QueryError for whatever else is typed."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.mirror.engine import Mirror
from tools.mirror.parser import LONGEST, parse
from tools.mirror.syntax import Combination, Dates, Field, Near, Operator, QueryError, Term, Untagged

PIECES = st.sampled_from(
    [
        *"()[]\"&|:*#/~^%-“”'",
        *(
            "AND",
            "OR",
            "NOT",
            "and",
            "[tiab]",
            "[ti:~3]",
            "[mh:noexp]",
            "[dp]",
            "[zz]",
            "[ad]",
            "[au]",
            "[doi]",
            "[la]",
        ),
        *(
            "2010",
            "2010/13",
            "3000",
            "last 5 years",
            "card*",
            "heart",
            "İ",
            "ﬁ",
            "٣",
            "\x00",
            " ",
            "#1",
            "[pmid]",
            "[sb]",
        ),
    ]
)


@settings(max_examples=150, deadline=None)
@given(
    query=st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=14).map("".join), st.lists(PIECES).map(" ".join))
)
def test_any_text_is_searched_or_refused_with_what_and_where(query: str, mirror: Mirror) -> None:
    refusal: QueryError | None = None
    try:
        mirror.find(query, 5)
    except QueryError as error:
        refusal = error
    assert refusal is None or (refusal.advice and 0 <= refusal.at <= len(query))


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("", "empty"),
        ("(asthma", "not closed"),
        ("asthma)", "closes nothing"),
        ("()", "A term is missing"),
        ('"asthma', "quotation mark"),
        ("asthma[ti", "square bracket is not closed"),
        ("asthma]", "closes nothing"),
        ("[ti]", "no term before it"),
        ("AND asthma", "no term before it"),
        ("asthma AND", "A term is missing"),
        ("asthma AND NOT stroke", "NOT has no term"),
        ("(a OR b)[tiab]", "behind a parenthesis"),
        ("#1 AND asthma", "earlier search"),
        ("Boston[ad]", "not held"),
        ("asthma[ti:noexp]", "nothing to explode"),
        ('"hip pain"[mh:~2]', "Proximity is not possible"),
        ("hip pain[ti:~2]", "needs its words in quotes"),
        ("*itis[ti]", "does not end the term"),
        ("breast* feeding[ti]", "does not end the term"),
        ("2010/13[dp]", "is no date"),
        ("2012:2010[dp]", "ends before it begins"),
        ('"2010"[dp] : "2011"[edat]', "different tags"),
        ('"asthma"[ti] : "stroke"[ti]', "needs the tag of a date"),
        ("-[ti]", "no letter or digit"),
        ("(" * 101 + "a" + ")" * 101, "nested"),
        ("a " * LONGEST, "more than"),
    ],
)
def test_what_is_malformed_or_not_held_is_refused(query: str, what: str) -> None:
    with pytest.raises(QueryError, match=what):
        parse(query)


def test_operators_are_taken_from_left_to_right() -> None:
    tree = parse("a[ti] OR b[ti] AND c[ti] d[ti]").tree
    assert isinstance(tree, Combination)
    assert [operator for operator, _ in tree.rest] == [Operator.OR, Operator.AND, Operator.AND]
    nested = parse("a[ti] OR (b[ti] & c[ti])").tree
    assert isinstance(nested, Combination)
    assert isinstance(nested.rest[0][1], Combination)


def test_a_tag_makes_the_words_before_it_a_phrase_in_that_field() -> None:
    assert parse("kidney allograft [Title/Abstract]").tree == Term(
        ("kidney", "allograft"), Field.TITLE_ABSTRACT, "kidney allograft"
    )
    assert parse("kidney-allograft aspirin").tree == Untagged(
        (("kidney", "allograft"), ("aspirin",)), "kidney-allograft aspirin"
    )
    assert parse('"hip pain hip"[ti:~2]').tree == Near(("hip", "pain"), Field.TITLE, 2, "hip pain hip")
    assert parse("heart attack [all]").tree == Untagged((("heart",), ("attack",)), "heart attack")


def test_dates_cover_the_days_that_they_name() -> None:
    def bounds(query: str) -> tuple[int, int]:
        tree = parse(query, date(2012, 3, 31)).tree
        assert isinstance(tree, Dates)
        return tree.low, tree.high

    assert bounds("2010[dp]") == (20100101, 20101231)
    assert bounds("2010/2:2011/05/03[dp]") == (20100201, 20110503)
    assert bounds('"2010"[dp]:"3000"[dp]') == (20100101, 30001231)
    assert bounds("last month[dp]") == (20120228, 20120331)
    assert bounds('"last 40 days"[edat]') == (20120220, 20120331)


def test_what_is_read_otherwise_than_typed_is_told() -> None:
    assert parse("car*").warnings == ("OutputMessage: 'car*' is too short for truncation; the star was ignored.",)
    assert parse("asthma[tiabs]").warnings == ("FieldNotFound: [tiabs]",)
    assert "distance was ignored" in parse('"hip pai*"[ti:~2]').warnings[0]
