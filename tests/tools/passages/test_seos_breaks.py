"""Where SEOS breaks beside the curve's minima: paragraphs, and sentences that lean on the one before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from support.counting_encoder import CountingEncoder
from tools.passages.continuity import continuity, prices, windows_of
from tools.passages.contract import Passage, StoredDocument
from tools.passages.seos import SPECIAL, SeosSettings, blocks, examine, fitted, paper_overlap, reach_back, segment
from tools.passages.units import Section, Unit, sentence_units

ENCODER = CountingEncoder(200)
QUALIFIED = (
    "Aspirin is given to adults with chest pain. Statins lower cholesterol in blood. Gefitinib is for lung cancer with "
    "an EGFR mutation. They must be tested first. Blood pressure is taken while sitting. Salt raises it."
)


def units_of(text: str) -> list[Unit]:
    return sentence_units(text, [Section(None, 0, len(text))], [100], ENCODER)[0]


def test_a_break_costs_more_before_a_sentence_that_leans_back_and_less_at_a_paragraph() -> None:
    text = "Aspirin helps. It is cheap.\nGout hurts.\n- Rest.\n| a | b |\n| c | d |"
    units = units_of(text)
    curve = np.array([0.4, 0.6, 0.4, 0.6, 0.4])
    cost = prices(text, units, curve, paragraph=1.0, leaning=2.0)
    spread = curve.std()
    # it leans back; a new paragraph; a list goes on; a new paragraph; the same table
    assert np.round((cost - curve) / spread, 6).tolist() == [2.0, -1.0, 2.0, -1.0, 0.0]


def test_a_condition_stays_with_what_leans_on_it() -> None:
    document = StoredDocument(id="library:egfr", text=QUALIFIED)
    for budget in (14, 16):
        starts = {}
        for leaning in (0.0, 2.0):
            chosen = SeosSettings(budget=budget, max_overlap=0, reach=0, window=1, leaning=leaning)
            starts[leaning] = [QUALIFIED[p.start : p.end].split()[0] for p in segment(document, ENCODER, chosen)]
        assert "They" in starts[0.0]
        assert "They" not in starts[2.0]
        assert len(starts[0.0]) == len(starts[2.0])


def test_an_overlap_reaches_back_to_what_a_passage_leans_on() -> None:
    text = "Adults with gout need care. They rest. They drink. Others do not."
    units = units_of(text)
    assert reach_back(text, units, 2, 0) == 0
    assert reach_back(text, units, 2, 1) == 1
    assert reach_back(text, units, 3, 0) == 3


def test_a_passage_does_not_share_more_than_the_last_piece_of_one_that_was_cut() -> None:
    text = "aa bb cc dd ee ff gg hh ii jj. kk ll."
    whole = Passage(start=0, end=30, core_start=0, core_end=30)
    after = Passage(start=0, end=len(text), core_start=31, core_end=len(text))
    found = fitted(text, [whole, after.model_copy(update={"start": 3})], 8, CountingEncoder(64))
    assert [text[p.start : p.end] for p in found] == ["aa bb cc dd ee ff gg hh", "ii jj.", "kk ll."]
    short = fitted(text, [whole, after], 14, CountingEncoder(64))
    assert [p.start for p in short] == [0, 0]  # nothing was cut, so the overlap stays


def test_a_blank_line_parts_what_is_long_enough_and_does_not_lean() -> None:
    one = "Gout makes a toe red and hot at night for days."  # 11 tokens
    two = "Croup makes a child bark and wheeze at night too."
    item = "- Rest helps a child with croup at night, and so do calm and cool air."
    text = f"{one}\n\n{two}\n\nThey pass.\n\n{item}"
    assert [[text[u.start : u.end] for u in block] for block in blocks(text, units_of(text), 20)] == [
        [one],
        [two, "They pass.", item],
    ]
    assert [len(block) for block in blocks(text, units_of(text), 60)] == [4]
    single = text.replace("\n\n", "\n")
    assert [len(block) for block in blocks(single, units_of(single), 20)] == [4]
    passages = segment(StoredDocument(id="library:b", text=f"{one}\n\n{two}"), ENCODER, SeosSettings(budget=20))
    assert [p.start for p in passages] == [p.core_start for p in passages] == [0, len(one) + 2]
    together = SeosSettings(method="seos_paper", budget=30)
    assert len(segment(StoredDocument(id="library:b", text=f"{one}\n\n{two}"), ENCODER, together)) == 1


def test_a_block_that_leans_back_joins_only_where_both_fit_one_passage() -> None:
    one = "Gout makes a toe red and hot at night for days."  # 11 tokens
    two = "This happens to many people who eat much meat and drink beer."  # 12
    text = f"{one}\n\n{two}"
    both = sum(unit.tokens for unit in units_of(text))
    assert [len(block) for block in blocks(text, units_of(text), both)] == [2]
    assert [len(block) for block in blocks(text, units_of(text), both - 1)] == [1, 1]
    parted = text.replace("This happens", "happens")  # a sentence that was broken off goes with its beginning
    assert [len(block) for block in blocks(parted, units_of(parted), both - 1)] == [2]


def test_later_parts_of_a_block_are_read_with_the_sentence_that_opens_it() -> None:
    other = "Croup makes a child bark and wheeze at night too."
    text = f"{QUALIFIED}\n\n{other}"
    document = StoredDocument(id="library:egfr", title="Drugs", text=text)
    chosen = SeosSettings(budget=24, max_overlap=0, reach=0)
    passages = segment(document, ENCODER, chosen)
    opening = "Aspirin is given to adults with chest pain."
    assert len(passages) > 3
    assert [p.lead and text[slice(*p.lead)] for p in passages] == [None, *[opening] * (len(passages) - 2), None]
    later = passages[1]
    assert later.embedded_text(text) == f"Drugs\n{opening}\n{text[later.start : later.end]}"
    assert passages[0].embedded_text(text) == f"Drugs\n{text[: passages[0].end]}"
    assert not any(p.lead for p in segment(document, ENCODER, replace(chosen, lead=False)))
    assert not any(p.lead for p in segment(document, ENCODER, replace(chosen, method="seos_paper")))


def test_a_long_opening_sentence_is_read_only_in_part() -> None:
    opening = "Gout " + "hurts " * 60 + "often."
    text = f"{opening} " + "Rest helps. " * 40
    for limit in (80, 100):
        narrow = CountingEncoder(limit)
        passages = segment(StoredDocument(id="library:gout", text=text), narrow, SeosSettings(budget=70))
        most = max(narrow.count_tokens([p.embedded_text(text) for p in passages]))
        assert most <= limit - SPECIAL
        leads = {p.lead for p in passages[1:] if p.lead}
        assert all(end - start < len(opening) // 2 for start, end in leads)
        assert bool(leads) is (limit == 100)  # with room for 77 the opening, 63 tokens, leaves no place for a lead


def test_windows_follow_the_size_of_an_average_passage() -> None:
    units = units_of(QUALIFIED) * 4  # 24 sentences
    assert windows_of([units, units[:3], []], [4, 3, 1], None) == [9, 2, 2]
    assert windows_of([units], [4], 5) == [5]


def test_the_curve_dips_where_the_vectors_turn() -> None:
    vectors = np.repeat(np.eye(2, dtype=np.float32), 4, axis=0)
    assert np.round(continuity(vectors, 2), 3).tolist() == [1.0, 1.0, 0.707, 0.0, 0.707, 1.0, 1.0]


def test_an_examination_tells_curve_breaks_and_overlaps() -> None:
    text = f"## Treatment\n{QUALIFIED}\n## Outlook\nMost people recover."
    document = StoredDocument(id="library:egfr", text=text)
    chosen = SeosSettings(budget=24)
    cuts = examine(document, ENCODER, chosen)
    assert [cut.section.title for cut in cuts] == ["Treatment", "Outlook"]
    first = cuts[0]
    assert len(first.curve) == len(first.gaps) == 5
    assert [b.at for b in first.breaks] == [p.core_start for p in first.passages[1:]]
    for b, passage in zip(first.breaks, first.passages[1:], strict=True):
        assert b.continuity == first.curve[first.gaps.index(b.at)]
        assert (b.shared > 0) == (passage.start < passage.core_start)
    ids = [p.id("library:egfr") for cut in cuts for p in cut.passages]
    assert ids == [p.id("library:egfr") for p in segment(document, ENCODER, chosen)]


def test_the_published_overlap_is_the_degree_of_continuity_itself() -> None:
    assert [paper_overlap(c, 3) for c in (-0.2, 0.0, 0.2, 0.6, 1.0)] == [0, 0, 1, 2, 3]
    assert [SeosSettings(method="seos_paper", max_overlap=n).overlap(0.4, (0.4, 0.9)) for n in (0, 5)] == [0, 2]
    assert [SeosSettings().overlap(c, (0.4, 0.9)) for c in (0.4, 0.9)] == [0, 1]
