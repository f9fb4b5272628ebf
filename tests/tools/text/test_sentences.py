"""Sentences: exact offsets, abbreviations, both languages, several threads at once."""

from __future__ import annotations

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
