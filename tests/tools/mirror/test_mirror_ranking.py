"""Order by relevance and by date, against BM25 written out."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from support.mirror_oracle import tokens
from tools.mirror.engine import K1, TITLE_WEIGHT, B, Mirror
from tools.mirror.records import MirrorRecord


def bm25(words: list[str], records: list[MirrorRecord]) -> dict[str, float]:
    texts = {r.pmid: (tokens(r.title), tokens(r.abstract)) for r in records}
    mean = sum(len(t) + len(a) for t, a in texts.values()) / len(texts)
    scores = dict.fromkeys(texts, 0.0)
    for word in words:
        holding = sum(word in t or word in a for t, a in texts.values())
        rarity = math.log1p((len(texts) - holding + 0.5) / (holding + 0.5))
        for pmid, (title, abstract) in texts.items():
            count = TITLE_WEIGHT * title.count(word) + abstract.count(word)
            norm = K1 * (1 - B + B * (len(title) + len(abstract)) / mean)
            scores[pmid] += rarity * count * (K1 + 1) / (count + norm)
    return scores


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("aspirin", ["aspirin"]),
        ("aspirin[tiab] OR stroke[tiab]", ["aspirin", "stroke"]),
        ('"heart attack"[tiab] OR cardio*[tiab] NOT death[ti]', ["heart", "attack"]),
        ("naïve beta-blocker*", ["naive"]),
    ],
)
def test_the_order_is_bm25_with_the_title_weighted_then_newer_then_higher_pmid(
    query: str, words: list[str], mirror: Mirror, records: list[MirrorRecord]
) -> None:
    ids = mirror.find(query, 400).ids
    assert len(ids) > 10
    found = {r.pmid: r for r in records if r.pmid in ids}
    scores = bm25(words, records)
    # float32 against float64: neighbours whose scores differ by less than 1e-4 count as ties
    assert all(scores[a] >= scores[b] - 1e-4 for a, b in pairwise(ids))
    best = sorted(found, key=lambda p: (-round(scores[p], 4), -_day(found[p]), -int(p)))
    assert set(ids[:10]) == set(best[:10])
    assert mirror.find(query, 7).ids == ids[:7]


def test_ties_and_the_order_by_date_go_from_new_to_old_then_by_pmid(
    mirror: Mirror, records: list[MirrorRecord]
) -> None:
    ids = mirror.find("review[pt]", 400, sort="date").ids
    by_pmid = {r.pmid: r for r in records}
    assert list(ids) == sorted(ids, key=lambda p: (-_day(by_pmid[p]), -int(p)))
    assert mirror.find("review[pt]", 400).ids == ids  # no word to score: all are tied


def _day(record: MirrorRecord) -> int:
    year, month, day = [*(record.date or "0-0-0").split("-"), "01", "01"][:3]
    return int(year) * 10_000 + int(month) * 100 + int(day)
