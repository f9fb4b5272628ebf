"""SEOS on any text: exact offsets, every character once, nothing over the limit, and the least price."""

from __future__ import annotations

import re
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prompts.errors import InputError
from support.counting_encoder import CountingEncoder
from tools.passages.continuity import exact
from tools.passages.contract import StoredDocument
from tools.passages.seos import SPECIAL, SeosSettings, overlap, segment

WORDS = st.sampled_from(
    "the aspirin dose of 2.5 mg reduced pain in adults e.g. those with gout ; it failed , though (p < .05) 痛 三天 "
    "pneumonoultramicroscopicsilicovolcanoconiosis GATTACAGATTACA 患者出现发热".split()
)
SENTENCE = st.builds(
    lambda words, end: " ".join(words).capitalize() + end,
    st.lists(WORDS, min_size=1, max_size=45),
    st.sampled_from([".", ".", "?", "。", ".[1]", ""]),
)
LINE = st.one_of(SENTENCE, st.sampled_from(["## Methods", "# 结果", "", "- an item", "a | b | c"]))
TEXT = st.builds(lambda lines, gap: gap.join(lines), st.lists(LINE, max_size=14), st.sampled_from(["\n", " ", "\n\n"]))
CHOSEN = st.builds(
    SeosSettings,
    method=st.sampled_from(["seos", "seos_paper"]),
    budget=st.integers(4, 60),
    window=st.sampled_from([None, 1, 3]),
    max_overlap=st.integers(0, 3),
    reach=st.integers(0, 3),
)
HEADING = re.compile(r"^#{1,6}[ \t]+\S.*$", re.MULTILINE)


def dense(text: str) -> str:
    return "".join(text.split())


@settings(max_examples=150, deadline=None)
@given(TEXT, CHOSEN, st.integers(12, 70), st.sampled_from([0, 9]))
def test_any_text_is_cut_exactly_and_within_the_limit(text: str, chosen: SeosSettings, limit: int, joint: int) -> None:
    encoder = CountingEncoder(limit, joint)
    passages = segment(StoredDocument(id="library:any", title="A title", text=text), encoder, chosen)
    assert dense("".join(text[p.core_start : p.core_end] for p in passages)) == dense(HEADING.sub("", text))
    for left, right in pairwise(passages):
        assert left.core_end <= right.core_start
        assert left.core_start <= right.start <= right.core_start
        assert (left.neighbours[-1], right.neighbours[0]) == (right.id("library:any"), left.id("library:any"))
    for p in passages:
        assert text[p.start : p.end] == text[p.start : p.end].strip() != ""
        assert p.end == p.core_end
        assert not any(h.start() < p.end and p.start < h.end() for h in HEADING.finditer(text))
    counts = encoder.count_tokens([p.embedded_text(text) for p in passages])
    assert max(counts, default=0) <= limit - SPECIAL


@settings(max_examples=60, deadline=None)
@given(st.lists(SENTENCE, min_size=6, max_size=20), st.integers(1, 6), st.sampled_from(["seos", "seos_paper"]))
def test_a_number_of_partitions_is_kept_whatever_the_limit(lines: list[str], count: int, method: str) -> None:
    chosen = SeosSettings(method="seos" if method == "seos" else "seos_paper", partitions=count, max_overlap=0, reach=0)
    passages = segment(StoredDocument(id="library:n", text="\n".join(lines)), CountingEncoder(300), chosen)
    assert len(passages) == count


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_the_exact_breakpoints_have_the_least_price(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 8))
    curve = np.array(data.draw(st.lists(st.floats(-1, 1), min_size=n - 1, max_size=n - 1)))
    sizes = np.array(data.draw(st.lists(st.integers(1, 20), min_size=n, max_size=n)))
    count, smallest = data.draw(st.integers(1, n)), data.draw(st.integers(0, 12))
    largest = data.draw(st.integers(20, 80))
    found = exact(curve, sizes, count, smallest, largest)
    totals = np.concatenate(([0], np.cumsum(sizes)))
    for least in (smallest, smallest // 2, 0):  # the smallest size is halved, then given up
        costs: dict[tuple[int, ...], float] = {}
        for k in range(count, n + 1):
            for breaks in combinations(range(1, n), k - 1):
                pieces = np.diff(totals[[0, *breaks, n]])
                if pieces.max() <= largest and pieces.min() >= least:
                    costs[breaks] = float(sum(curve[b - 1] for b in breaks))
            if costs:  # the fewest partitions, N or more, that the sizes allow
                break
        if costs:
            break
    assert costs[tuple(found)] == pytest.approx(min(costs.values()))


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(-1, 1), st.floats(-1, 1), st.integers(0, 6))
def test_overlap_grows_with_continuity(a: float, b: float, low: float, high: float, largest: int) -> None:
    scale = (min(low, high), max(low, high))
    inside = sorted(min(max(x, scale[0]), scale[1]) for x in (a, b))
    shared = [overlap(x, scale, largest) for x in inside]
    assert 0 <= shared[0] <= shared[1] <= largest


@pytest.mark.parametrize("wrong", [{"budget": 0}, {"window": 0}, {"partitions": 0}, {"smallest": 2.0}])
def test_settings_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        SeosSettings(**wrong)  # type: ignore[arg-type]
