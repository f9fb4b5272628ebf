"""Automatic term mapping as the translation shows it, and eSearch's warnings."""

from __future__ import annotations

import pytest

from tools.mirror.engine import Mirror
from tools.mirror.syntax import QueryError

MAPPED = (
    '"risk"[All Fields] AND ("myocardial infarction"[MeSH Terms] OR ("myocardial"[All Fields] AND '
    '"infarction"[All Fields]) OR "myocardial infarction"[All Fields] OR ("heart"[All Fields] AND '
    '"attack"[All Fields]) OR "heart attack"[All Fields])'
)


@pytest.mark.parametrize(
    ("query", "translation"),
    [
        ("asthma", '"asthma"[MeSH Terms] OR "asthma"[All Fields]'),
        ("neoplasm", '"neoplasms"[MeSH Terms] OR "neoplasms"[All Fields] OR "neoplasm"[All Fields]'),
        (
            "risk of heart attack",
            MAPPED,
        ),
        ("covid-19", '"covid-19"[MeSH Terms] OR "covid 19"[All Fields]'),
        ("heart-attack*", '"heart-attack*"[All Fields]'),
        ("aspirin OR death AND trial", '("aspirin"[All Fields] OR "death"[All Fields]) AND "trial"[All Fields]'),
        ("aspirin OR (death trial)", '"aspirin"[All Fields] OR ("death"[All Fields] AND "trial"[All Fields])'),
        ('"heart attack"[tiab:~3]', '"heart attack"[Title/Abstract:~3]'),
        ("Smith J[au] 2006:2008[dp]", "smith j[Author] AND 2006:2008[Date - Publication]"),
        ("asthma[mh:noexp]", '"asthma"[MeSH Terms:noexp]'),
        ("10001 10002", "10001[UID] OR 10002[UID]"),
    ],
)
def test_the_translation_is_pubmeds(query: str, translation: str, mirror_with_descriptors: Mirror) -> None:
    assert mirror_with_descriptors.find(query, 5).translation == translation


@pytest.mark.parametrize(
    ("query", "warning"),
    [
        ("unheard aspirin", "PhraseNotFound: unheard"),
        ('"aspirin unheard"', 'QuotedPhraseNotFound: "aspirin unheard"'),
        ('"aspirin unheard"[tiab]', 'QuotedPhraseNotFound: "aspirin unheard"[Title/Abstract]'),
        ("aspirin unheard[ti]", "PhraseNotFound: aspirin unheard[Title]"),
        ('"unheard"[mh]', 'PhraseNotFound: "unheard"[MeSH Terms]'),
        ("aspirin in asthma", "PhraseIgnored: in"),
        ("asthma[xy]", "FieldNotFound: [xy]"),
        ("asthma or stroke", "OutputMessage: 'or' was searched as a word; operators are written in capitals."),
        ("unheard[ti]", "OutputMessage: No items found."),
    ],
)
def test_what_was_not_found_or_ignored_is_told_as_esearch_does(query: str, warning: str, mirror: Mirror) -> None:
    assert warning in mirror.find(query, 5).warnings


def test_an_exact_request_is_never_widened_but_words_without_quotes_are(mirror: Mirror) -> None:
    both = mirror.find("trial[ti] AND aspirin[ti]", 5)
    assert both.count
    phrase = '"trial aspirin trial aspirin"'
    assert mirror.find(f"{phrase}[ti]", 5).count == 0
    assert mirror.find("trial aspirin trial aspirin[ti]", 5).ids == both.ids
    assert mirror.find(phrase, 5).ids == mirror.find("trial aspirin", 5).ids


@pytest.mark.parametrize(
    ("filtered", "tagged"),
    [
        ("english[Filter]", "english[la]"),
        ("review[sb]", "review[pt]"),
        ("randomizedcontrolledtrial[Filter]", "randomized controlled trial[pt]"),
        ("humans[Filter]", "humans[mh]"),
    ],
)
def test_a_filter_that_is_a_field_by_another_name_is_searched_as_that(
    filtered: str, tagged: str, mirror_with_descriptors: Mirror
) -> None:
    found, meant = (mirror_with_descriptors.find(q, 500) for q in (filtered, tagged))
    assert (found.ids, found.translation.lower()) == (meant.ids, meant.translation.lower())


def test_without_descriptors_a_heading_stands_alone_and_says_so(
    mirror: Mirror, mirror_with_descriptors: Mirror
) -> None:
    alone, exploded = mirror.find("neoplasms[mh]", 500), mirror_with_descriptors.find("neoplasms[mh]", 500)
    assert any("Narrower headings" in w for w in alone.warnings)
    assert not any("Narrower headings" in w for w in exploded.warnings)
    assert set(exploded.ids) == set(alone.ids) | set(mirror.find("stroke[mh:noexp]", 500).ids) > set(alone.ids)


@pytest.mark.parametrize(
    "query", ["the of", "the NOT asthma", "loprovpmc[sb]", "systematic[sb]", "asthma/dt[mh]", "one[pmid]"]
)
def test_what_cannot_be_answered_rightly_is_refused(query: str, mirror: Mirror) -> None:
    with pytest.raises(QueryError):
        mirror.find(query, 5)
