"""The segmenters beside SEOS: exact offsets, nothing lost, their own sizes, and a given number of parts."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.tasks.segmentation.segmenters import (
    BREAK,
    SEGMENTERS,
    Fixed,
    Recursive,
    Ruler,
    Semantic,
    _tiler,
    by_paragraph,
    by_sentence,
    by_texttiling,
    deepest,
)
from prompts.errors import InputError
from support.word_encoder import WordEncoder
from tools.encoders import Encoder
from tools.text.sentences import Span
from tools.text.tokens import STOP

ENCODER = WordEncoder()
WORDS = st.sampled_from("heart Valve 3.5 mg (the) renal, stent; liver. Kidney! fever? a 肝炎。 -".split())
GAPS = st.sampled_from([" ", "  ", "\n", "\n\n", "\n \n"])
TEXTS = st.lists(st.tuples(WORDS, GAPS), max_size=120).map(lambda pairs: "".join(w + g for w, g in pairs))
TOPICS = ("heart valve aorta murmur", "kidney nephron dialysis urea", "liver bile cirrhosis ascites")


def article(sentences: int = 12, topics: int = 3) -> str:
    """Topics, each in sentences of its own words, a line a sentence."""
    rng = random.Random(1)  # noqa: S311
    words = [topic.split() for topic in TOPICS[:topics] for _ in range(sentences)]
    lines = [f"The {' '.join(rng.choices(own, k=9))} was seen." for own in words]
    return "\n".join(lines)


@pytest.mark.parametrize("name", SEGMENTERS)
@settings(max_examples=25, deadline=None)
@given(text=TEXTS)
def test_spans_are_exact_in_order_and_hold_everything(name: str, text: str) -> None:
    spans = SEGMENTERS[name](text, "subject", ENCODER)
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in spans)
    assert all(a.start < b.start and a.end <= b.end for a, b in pairwise(spans))
    held = {i for start, end in spans for i in range(start, end)}
    assert all(c.isspace() for i, c in enumerate(text) if i not in held)


@pytest.mark.parametrize("name", SEGMENTERS)
@settings(max_examples=10, deadline=None)
@given(text=TEXTS, count=st.integers(1, 6))
def test_parts_do_not_overlap(name: str, text: str, count: int) -> None:
    spans = SEGMENTERS[name](text, "", ENCODER, count)
    assert all(a.end <= b.start for a, b in pairwise(spans))
    assert bool(spans) == bool(text.strip())


@pytest.mark.parametrize("name", [n for n in SEGMENTERS if n != "semantic"])
def test_a_given_number_of_parts_is_met(name: str) -> None:
    text = article() if name != "paragraph" else article().replace("\n", "\n\n")
    assert [len(SEGMENTERS[name](text, "", ENCODER, count)) for count in (1, 2, 3, 5)] == [1, 2, 3, 5]


@pytest.mark.parametrize("name", ["seos", "seos_paper", "semantic", "texttiling"])
def test_what_looks_at_the_text_finds_the_change_of_topic(name: str) -> None:
    text = article(topics=2)
    first, second = SEGMENTERS[name](text, "", ENCODER, 2)
    assert abs(text[: first.end].count("\n") + 1 - 12) <= 2
    assert second.start > first.end


def test_fixed_windows_share_their_overlap() -> None:
    text = "a b c d e f g h i j"
    assert [s.of(text) for s in Fixed(4)(text, "", ENCODER)] == ["a b c d", "e f g h", "i j"]
    assert [s.of(text) for s in Fixed(4, 1)(text, "", ENCODER)] == ["a b c d", "d e f g", "g h i j"]
    assert [s.of(text) for s in Fixed(4)(text, "", ENCODER, 2)] == ["a b c d e", "f g h i j"]
    with pytest.raises(InputError):
        Fixed(4)(text, "", ENCODER, 0)


def test_a_word_beyond_the_size_stands_alone(encoder: Encoder) -> None:
    text = "x pneumonoultramicroscopicsilicovolcanoconiosis y"
    assert [s.of(text) for s in Fixed(3, 2)(text, "", encoder)] == text.split()


def test_words_add_up_to_the_encoders_own_count(encoder: Encoder) -> None:
    ruler = Ruler(encoder)
    for text in (article(2), "β-blockers (e.g. 2.5 mg/day), T₃: naïve—“quoted”\n\n  肝炎 50 %", ""):
        measured = ruler.measure(text)
        assert int(measured.totals[-1]) == ruler.count(text) == encoder.count_tokens([text])[0]
    end, tokens = ruler.measure("one two three four").cut(4, 18, 2)
    assert (end, tokens) == (13, 2)


def test_units_of_the_text() -> None:
    text = "One is here. Two is here.\n \nThree is here.\nFour is here."
    assert [s.of(text)[:3] for s in by_sentence(text, "", ENCODER)] == ["One", "Two", "Thr", "Fou"]
    assert [s.of(text)[:3] for s in by_sentence(text, "", ENCODER, 2)] == ["One", "Thr"]
    assert by_paragraph(text, "", ENCODER) == [Span(0, 25), Span(28, len(text))]


def test_chunks_stay_within_what_the_encoder_reads() -> None:
    small = WordEncoder(limit=20)
    for segmenter in (Recursive(128), Semantic(128)):
        spans = segmenter(article(), "two words", small)
        assert max(small.count_tokens([s.of(article()) for s in spans])) <= 20 - 2 - 2


@pytest.mark.parametrize("words", [90, 400, 1500])
def test_texttiling_scores_gaps_as_nltk_does(words: int) -> None:
    from nltk.tokenize.texttiling import TextTilingTokenizer

    rng = random.Random(words)  # noqa: S311
    vocabulary = [topic.split() for topic in TOPICS]
    lines = [" ".join(rng.choices(vocabulary[i // 20 % 3], k=10)) for i in range(words // 10)]
    text = BREAK.join(lines)
    scores, *_ = TextTilingTokenizer(stopwords=STOP, demo_mode=True).tokenize(text)
    ours = _tiler()
    seen: list[list[float]] = []
    plain = type(ours)._block_comparison
    try:
        type(ours)._block_comparison = lambda self, *given: seen.append(plain(self, *given)) or seen[-1]
        ours.wanted = None
        ours.tokenize(text)
    finally:
        type(ours)._block_comparison = plain
    assert seen[0] == pytest.approx(scores)


def test_texttiling_takes_the_deepest_gaps_apart_and_short_texts_whole() -> None:
    assert deepest([0, 5, 4, 0, 0, 3, 1], 2) == [0, 1, 0, 0, 0, 1, 0]
    assert by_texttiling("Too short. To tile.", "", ENCODER) == [Span(0, 19)]
