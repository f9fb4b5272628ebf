"""What follows ``with`` is told too, and where a pain spreads to has no pain of its own."""

from __future__ import annotations

import pytest

from tools.text.body_sites import origin_and_destination
from tools.text.clauses import clauses


def told(text: str) -> list[tuple[str, bool | None]]:
    return [(c.text, c.present) for c in clauses(text)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("chest pain for 2 hours with sweating", ["chest pain for 2 hours", "sweating"]),
        ("severe headache with vomiting, fever and rash", ["severe headache", "vomiting", "fever", "rash"]),
        ("chest tightness associated with SOB", ["chest tightness", "SOB"]),
        ("a cough accompanied by fever", ["a cough", "fever"]),
        ("a man with headache with vomiting", ["a man with headache", "vomiting"]),
    ],
)
def test_with_opens_a_list_of_findings(text: str, parts: list[str]) -> None:
    assert told(text) == [(p, True) for p in parts]


@pytest.mark.parametrize(
    "text",
    [
        "a 60 year old man with chest pain",
        "the pain is worse with vomiting",
        "chest pain with exertion",
        "a cough with green phlegm",
        "heavy periods with clots",
        "it began with a headache",
    ],
)
def test_with_that_opens_no_list_stays_in_its_clause(text: str) -> None:
    assert told(text) == [(text, True)]


def test_what_follows_with_is_denied_with_its_complaint() -> None:
    assert all(present is False for _, present in told("No fever, headache with vomiting"))
    assert told("no headache with vomiting") == [("no headache with vomiting", False)]


@pytest.mark.parametrize(
    ("text", "origin", "destination"),
    [
        ("chest pain radiating to left arm for 2 hours", {"chest"}, {"arm"}),
        ("chest pain spreads through to my back", {"chest"}, {"back"}),
        ("it radiates to my jaw", set(), {"face"}),
        ("胸痛放射至左臂2小时", {"chest"}, {"arm"}),
        ("胸痛，向左肩放射", {"chest"}, {"arm"}),
        ("non-radiating chest pain", {"chest"}, set()),
        ("pain in my left arm", {"arm"}, set()),
    ],
)
def test_where_a_pain_is_and_where_it_spreads_to(text: str, origin: set[str], destination: set[str]) -> None:
    assert origin_and_destination(text) == (frozenset(origin), frozenset(destination))
