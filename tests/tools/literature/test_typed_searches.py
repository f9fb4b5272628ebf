"""A search that is typed as a query or as identifiers is run as it stands; a broken one is refused."""

from __future__ import annotations

import pytest

from prompts.errors import InputError
from tools.literature.adapt_e.typed import has_prose, typed, words_of_typed
from tools.literature.vocabulary import published


@pytest.mark.parametrize(
    "query",
    [
        "migraine NOT sumatriptan",
        '(helicobacter[tiab] OR "h. pylori"[tiab]) AND omepraz*[tiab] AND 1995:1999[dp]',
        '"atrial fibrillation"[mh] AND (digoxin[tiab] OR sotalol[tiab]) NOT case reports[pt]',
        "gout[majr:noexp]",
        '"acute gout"[tiab:~3]',
        "boston[ad] AND gout",
        "asthm* children",
        "yeomans[au] AND 1998[dp]",
        "fernshaw aldous q[au] AND gout[tiab]",
        "angiotensin converting enzyme inhibitors[tiab] AND cough",
    ],
)
def test_a_query_is_run_as_it_stands(query: str) -> None:
    plan = typed(query)
    assert plan is not None
    assert [(e.rung, e.query) for e in plan.expressions] == [("typed", query)]
    assert (plan.terms, plan.held) == ((), ())
    assert not has_prose(query, published())


@pytest.mark.parametrize(
    "text",
    [
        '"colchicine AND pericarditis" for Mr Aldous Fernshaw at Quill Lane',
        "(gout[tiab] OR urate) AND febuxostat -- Fernshaw Aldous ward 12",
        "gout[tiab] for Aldous Fernshaw",
        "gout[tiab] AND colchicine[tiab] Mr Fernshaw",
        "Aldous Fernshaw has gout[tiab]",
    ],
)
def test_prose_in_a_query_is_seen(text: str) -> None:
    assert typed(text) is not None
    assert has_prose(text, published())


@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("10674604 11435337, 10674604", "10674604[uid] OR 11435337[uid]"),
        ("PMID: 42", "42[uid]"),
        ("PMID: 10674604, 11435337 11435338", "10674604[uid] OR 11435337[uid] OR 11435338[uid]"),
        ("doi:10.1000/Xyz.12", '"10.1000/Xyz.12"[aid]'),
        ("https://doi.org/10.1000/xyz.", '"10.1000/xyz"[aid]'),
        ("NCT00000042", '"NCT00000042"'),
    ],
)
def test_identifiers_are_searched_as_such(said: str, query: str) -> None:
    plan = typed(said)
    assert plan is not None
    assert [e.query for e in plan.expressions] == [query]
    assert not has_prose(said, published())


@pytest.mark.parametrize(
    "text",
    [
        "Does colchicine prevent recurrence of pericarditis?",
        "CABG vs PCI for left main disease",
        "Is CT OR MRI better for the diagnosis of stroke?",
        "omeprazole not in Helicobacter pylori",
        "MS and optic neuritis",
        "gout 1998-2001",
        "2019",
        "Does a blood test/exp. of 5.ab. at https://example.org/de/exp help?",
        "给痛风患者用秋水仙碱",
        "",
    ],
)
def test_a_question_in_words_is_planned(text: str) -> None:
    assert typed(text) is None


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("(((asthma[tiab] AND", "character 20"),
        ("asthma AND AND copd", "character"),
        ("asthma AND (copd OR gout", "parenthesis"),
        ('asthma[tiab] AND "unclosed', "quotation mark"),
        ("asthma[zzz]", r"no field \[zzz\]"),
        ("asthma AND", "character"),
        ("#1 AND #2", "earlier search"),
        ("exp Asthma/ and budesonide.mp.", "Ovid"),
        ("'asthma'/exp AND budesonide:ti,ab", "Embase"),
        ("hip adj3 pain", "Ovid"),
    ],
)
def test_a_broken_query_is_refused_and_not_mended(query: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        typed(query)


def test_records_are_compared_with_its_words() -> None:
    assert words_of_typed('(gout[mh] OR "acute arthritis"[tiab]) NOT review[pt]') == "gout acute arthritis review"
