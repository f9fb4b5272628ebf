"""SEOS: exact offsets, sections, sizes, overlap."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from support.tiny_medcpt import tiny_models
from tools.encoders import Encoder
from tools.encoders_on_disk import MedCPTEncoder
from tools.passages.contract import Passage, StoredDocument
from tools.passages.seos import SeosSettings, continuity_curves, overlap, segment
from tools.passages.units import Section, cut_sentence, sections, sentence_units
from tools.text.sentences import Span

ASTHMA = "Asthma narrows the airways. Wheeze is typical. Inhaled steroids prevent attacks. Relievers open the airways."
BONES = "A hip fracture needs surgery. Osteoporosis weakens bone. Calcium alone is not enough. Falls break weak bones."
DOCUMENT = StoredDocument(
    id="library:mixed",
    title="Mixed",
    text=f"Opening words.\n## Overview\n{ASTHMA} {BONES}\n\n## Treatment ##\nRest and fluids help.\n## Empty\n\n",
)


def cores(passages: tuple[Passage, ...]) -> str:
    return "".join("".join(DOCUMENT.text[p.core_start : p.core_end].split()) for p in passages)


def test_headings_start_passages_and_are_not_their_text(encoder: Encoder) -> None:
    passages = segment(DOCUMENT, encoder)
    assert [p.section for p in passages] == [None, "Overview", "Treatment"]
    assert [DOCUMENT.text[p.start : p.end] for p in passages] == [
        "Opening words.",
        f"{ASTHMA} {BONES}",
        "Rest and fluids help.",
    ]
    assert passages[1].context == "Mixed. Overview"


@pytest.mark.parametrize("method", ["seos", "seos_paper"])
def test_cores_hold_every_sentence_once_and_neighbours_are_named(encoder: Encoder, method: str) -> None:
    settings = SeosSettings(method="seos" if method == "seos" else "seos_paper", budget=20)
    passages = segment(DOCUMENT, encoder, settings)
    assert len(passages) > 3
    assert cores(passages) == "".join(f"Opening words.{ASTHMA}{BONES}Rest and fluids help.".split())
    for left, right in pairwise(passages):
        assert left.core_end <= right.core_start
        assert right.start >= left.core_start
        assert right.id(DOCUMENT.id) in left.neighbours
        assert left.id(DOCUMENT.id) in right.neighbours


def test_the_break_lies_between_two_topics(encoder: Encoder) -> None:
    document = StoredDocument(id="library:two", text=f"{ASTHMA} {BONES}")
    settings = SeosSettings(budget=28)
    tokens = encoder.count_tokens([document.text])[0]
    assert -(-tokens // 28) == 2
    for method in (settings, SeosSettings(method="seos_paper", budget=28)):
        assert [p.core_start for p in segment(document, encoder, method)] == [0, len(ASTHMA) + 1]


def test_the_curve_is_lowest_where_the_topic_changes(encoder: Encoder) -> None:
    text = f"{ASTHMA} {BONES}"
    units = sentence_units(text, [Section(None, 0, len(text))], [254], encoder)
    curve = continuity_curves(text, units, 2, encoder)[0]
    assert curve.shape == (7,)
    assert int(curve.argmin()) == 3
    assert np.abs(curve).max() <= 1.0 + 1e-6


def test_no_passage_exceeds_what_the_encoder_reads(encoder: Encoder) -> None:
    long_sentence = "the patient, who was " + "very unwell, " * 300 + "recovered"
    text = f"## Course\n{ASTHMA} {long_sentence}. {BONES}\n## Zh\n" + "患者出现发热、咳嗽" * 90 + "。"
    passages = segment(StoredDocument(id="library:long", title="A long course", text=text), encoder)
    assert len(passages) > 5
    assert max(encoder.count_tokens([p.embedded_text(text) for p in passages])) + 2 <= encoder.limit
    joined = "".join(text[p.core_start : p.core_end] for p in passages)
    assert "".join(joined.split()) == "".join(text.replace("## Course", "").replace("## Zh", "").split())


def test_medcpt_reads_every_passage_whole(tmp_path: Path) -> None:
    query, article, _ = tiny_models(tmp_path)
    medcpt = MedCPTEncoder(query, article)
    text = " ".join(["the child has croup and fever and chest pain since monday ."] * 200)
    for title in ("", "croup"):
        document = StoredDocument(id="library:croup", title=title, text=f"{text}\n{'croup ' * 700}")
        passages = segment(document, medcpt, SeosSettings(budget=509))
        parted = [p.embedded_text(document.text).partition("\n") for p in passages]
        assert len(passages) > 4
        assert medcpt.beyond_limit([(first, rest) for first, _, rest in parted]) == []


def test_a_very_long_title_is_left_out_of_the_context(encoder: Encoder) -> None:
    document = StoredDocument(id="library:t", title="endless words " * 60, text=ASTHMA)
    assert segment(document, encoder)[0].context == ""


def test_an_empty_document_has_no_passages(encoder: Encoder) -> None:
    assert segment(StoredDocument(id="library:none", text="## Only a heading\n \n"), encoder) == ()


def test_a_long_sentence_is_cut_after_a_clause(encoder: Encoder) -> None:
    text = "one two three four five, six seven eight nine ten eleven"
    pieces = cut_sentence(text, Span(0, len(text)), 8, encoder)
    assert [text[p.start : p.end] for p in pieces] == ["one two three four five,", "six seven eight nine ten eleven"]
    assert all(p.tokens <= 8 for p in pieces)


def test_a_word_over_the_limit_is_cut_within(encoder: Encoder) -> None:
    text = "GATTACAGATTACAGATTACA" * 4
    pieces = cut_sentence(text, Span(0, len(text)), 10, encoder)
    assert "".join(text[p.start : p.end] for p in pieces) == text
    assert max(p.tokens for p in pieces) <= 10


def test_overlap_grows_with_continuity() -> None:
    shared = [overlap(c, (0.2, 0.8), 2) for c in (0.2, 0.3, 0.5, 0.79)]
    assert shared == sorted(shared)
    assert (shared[0], shared[-1]) == (0, 2)
    assert overlap(0.4, (0.4, 0.4), 2) == 0


def test_a_forced_break_in_one_topic_shares_sentences(encoder: Encoder) -> None:
    same = " ".join(["Inhaled steroids prevent asthma attacks in adults."] * 12)
    text = f"{same} Osteoporosis weakens bone. Falls break weak hips."
    passages = segment(StoredDocument(id="library:same", text=text), encoder, SeosSettings(budget=40))
    shared = [text[p.start : p.core_start] for p in passages]
    assert shared[0] == ""
    assert any(shared)
    assert max(s.count(".") for s in shared) <= max(SeosSettings().max_overlap, SeosSettings().reach)


def test_sections_without_text_are_left_out() -> None:
    found = sections("# A\n\n## B\nbody\n")
    assert [(s.title, "# A\n\n## B\nbody\n"[s.start : s.end].strip()) for s in found] == [("B", "body")]
