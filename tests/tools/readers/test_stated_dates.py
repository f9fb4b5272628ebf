"""The date that a document states of itself."""

from __future__ import annotations

import pytest

from tools.readers.normal import stated_date

LONG = "This protocol of the ward tells what is to be done when somebody comes with a cough, and whom to call for it. "


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("Local protocol\n\n12 March 2024\n\nText.", "2024-03-12"),
        ("Local protocol, March 12th, 2024", "2024-03-12"),
        ("Guide. September 2023", "2023-09"),
        (LONG + "Approved on 2024-03-12 by the board.", "2024-03-12"),
        (LONG + "Version: 12.03.2024.", "2024-03-12"),
        ("发布日期：2024年3月12日", "2024-03-12"),
        ("Next review: March 2020. Published 1 Feb 2019.", "2019-02-01"),
        ("Date of birth: 12 March 1950\nSeen on 3 May 2024 in the clinic.", ""),
        (LONG + "In 12 March 2024 samples were taken.", ""),
        ("Valid from 1 January 2150", ""),
        ("3/4/2024", ""),
        ("A dose of 12.13.2024 units on 45 March 2024", "2024-03"),
        ("No date.\n" * 200 + "12 March 2024", ""),
        ("", ""),
    ],
)
def test_it_is_what_the_beginning_says_and_of_the_document_alone(text: str, date: str) -> None:
    assert stated_date(text) == date
