"""Sentences: exact offsets, abbreviations, both languages, several threads at once."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.text.sentences import sentences
from tools.text.tokens import stem


def split(text: str) -> list[str]:
    return [s.of(text) for s in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Dr. Smith gave 0.5 mg of adrenaline (e.g. a pen). It helped within 3.5 min.",
            ["Dr. Smith gave 0.5 mg of adrenaline (e.g. a pen).", "It helped within 3.5 min."],
        ),
        ("First line\nSecond line. Third.", ["First line", "Second line.", "Third."]),
        ("胸痛三天。伴发热！有咳嗽吗？", ["胸痛三天。", "伴发热！", "有咳嗽吗？"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert split(text) == expected


# Each row is a text cut into its sentences, where a general splitter errs or might.
HARD = [
    "Blood enters the wall. | High pressure causes it. | Aim at 110 mmHg. | Type A needs surgery.",
    "Jones et al. (2014) found a benefit. | It was small.",
    "See Fig. 2 for details. | Figs. 3 and 4 show more. | Eq. 4 is in Suppl. Table 2 (cf. Ref. 12).",
    "Aspirin vs. placebo was tested. | Grade 3 vs. Grade 4 toxicity was rare.",
    "Give 1 g i.v. every 6 h. | Then stop. | Give 5 mg t.i.d. | Others need none.",
    "The dose was 2.5 mg/kg b.i.d. for 3 days. | Dose: 5 mg/d. | Route: p.o. daily.",
    "Case no. 5 died. | Any allergies? | No. | He takes 5 mg. | Once daily.",
    "J. R. Smith wrote it. | M.D. Anderson treats cancer. | Mr. A. B. was 40. | We thank Prof. Dr. Müller.",
    "The effect was significant (p < .05). | P = .03 at week 4. | The mean was 9.7 (P = 0. 028). | It fell.",
    "E. coli and S. aureus grew. | It was Staph. aureus in blood. | H. pylori was not found.",
    "The U.S. FDA approved it. | It is sold in the U.S. | The price is high.",
    "He weighed 70 kg. | It rose to 38.5 °C. | It was 3.4 cm. | Hb was 9.5 g/dl. | At 5 p.m. on Monday he left.",
    "Approx. 30 patients were seen. | Temp. was 37. | Resp. rate was 20. | Pts. with CKD stayed.",
    "Use it, e.g. Amoxicillin, for 5 days (i.e. daily). | They used gloves, masks, etc. | The ward was clean.",
    "This was shown before.[1] | Others disagree [2,3]. | This was shown before.1 | Others disagree.2,3 | We do not.",
    "eGFR fell below 30. | eGFR then rose. | It stopped. | pH was 7.2. | mRNA rose.",
    "It is hepatitis B. | It spreads. | This is stage II. | Stage III follows. | We saw group B. | The rest left.",
    "I'm 45 yo M. | My chest hurts. | Denies CP. | PMH: HTN, DM2. | i have pain. | it hurts when i breathe.",
    "1. Give oxygen. | 2. Give fluids. | Treat with (a) oxygen, (b) fluids.",
    "In Jan. 2010 it began. | St. John's wort interacts. | SPSS Inc. software was used. | See www.nice.org.uk for it.",
    "体温38.5℃。 | 给予阿司匹林100 mg q.d.口服！ | 血压120/80 mmHg； | 医生说：“胸痛三天。” | 真的？！ | 是（见上。）",
]


@pytest.mark.parametrize("row", HARD)
def test_hard_cases(row: str) -> None:
    wanted = row.split(" | ")
    assert split(" ".join(wanted)) == wanted


def test_no_space_after_a_full_stop_and_two_languages_in_a_text() -> None:
    assert split("He had chest pain.He was pale.") == ["He had chest pain.", "He was pale."]
    assert split("Read www.nhs.uk/A.html first.") == ["Read www.nhs.uk/A.html first."]
    assert split("胸痛。发热。\nDr. Li saw him. He left.") == ["胸痛。", "发热。", "Dr. Li saw him.", "He left."]
    assert split("It is a red flag. 常有呼吸困难。") == ["It is a red flag.", "常有呼吸困难。"]
    assert split("忽略以上。 Croup is viral. It passes.") == ["忽略以上。", "Croup is viral.", "It passes."]


def test_the_splitter_is_our_own_and_quick() -> None:
    import nupunkt

    assert split("Staph. aureus grew.") == ["Staph. aureus grew."]
    assert "staph" not in nupunkt.load_default_model().abbreviations
    text = "The dose was 2.5 mg (see Fig. 2) in 30% of cases. It was given at 5 p.m. by Dr. Lee. " * 400
    started = time.process_time()
    assert len(split(text)) == 800
    assert time.process_time() - started < 1.0  # a splitter of many passes takes several seconds


@given(st.text(alphabet=st.sampled_from("aB c.?!\n1,;:()\"'胸痛。！ "), max_size=120))
def test_offsets_are_exact_and_nothing_is_lost(text: str) -> None:
    found = sentences(text)
    assert all(s.of(text) == s.of(text).strip() != "" for s in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    kept = "".join(s.of(text) for s in found)
    assert "".join(kept.split()) == "".join(text.split())


def test_threads_do_not_mix_their_texts() -> None:
    texts = [f"Text {n} has one sentence. It has {n} more. Dr. X. wrote {n}.5 of them. " * 6 for n in range(60)]
    alone = [split(t + " ") for t in texts]
    sentences.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda t: split(t + " "), texts)) == alone


def test_threads_do_not_mix_their_words() -> None:
    words = [f"{a}{b}" for a in ("relation", "hope", "adjust", "electric", "vietnam") for b in ("s", "ing", "ization")]
    alone = [stem(w) for w in words]
    for _ in range(20):
        stem.cache_clear()
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(stem, words)) == alone
