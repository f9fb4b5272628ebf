"""Publications named in prose are seen, and dates, doses and examinations are not taken for them."""

from __future__ import annotations

import pytest

from tools.text.references import references_in


@pytest.mark.parametrize(
    "text",
    [
        "According to Smith et al. (NEJM 2019), 92 % recover.",
        "Smith and Jones (2015) found that half recover.",
        "Half recover (Müller, 2019).",
        "McMurray and colleagues found it.",
        "In the RALES trial mortality fell by 30 %.",
        "PARADIGM-HF (2014) showed it.",
        "A 2019 meta-analysis found no effect.",
        "It was published in The Lancet.",
        "N Engl J Med 2015;372:793",
        "See PMID 123, doi: 10.1000/abc or https://x.org.",
        "王某等（2019）发现有效。",
        "《柳叶刀》2019 年报道。",
    ],
)
def test_a_publication_is_seen(text: str) -> None:
    assert references_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "In May 2020 a vaccine came, and since 2019 it is advised.",
        "Take 2000 mg a day; a randomised trial had 1999 patients.",
        "An MRI study is the next step.",
        "Graves disease, Parkinson disease and COVID-19 2020.",
        "CKD stage 3, HbA1c of 48, ICD-10 code J93.1, BMI 35.",
        "每日最多 2000 毫克。",
    ],
)
def test_dates_doses_and_examinations_name_none(text: str) -> None:
    assert references_in(text) == []
