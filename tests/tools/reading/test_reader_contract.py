"""What every reader holds to, and what the trained one does with what it cannot read and with a damaged file."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from graphs.verdicts.local import VerdictJudgeLocal
from prompts.errors import DataError
from support.close import assert_close
from support.scripted_reader import ScriptedReader
from support.verdict_evidence import piece
from tools.reading.contract import DIRECTIONS, ROLES, STANCES, Pair, Reader, Stance, comparison
from tools.reading.reader import UNREAD, WEIGHTS, TrainedReader, can_read

QUESTION = "Does velmoxatrine prevent attacks of gout?"
FEWER = "Attacks of gout were fewer with velmoxatrine than with placebo."
TABLE = "| Group | n | % |\n| A | 12 | 34.5 |\n| B | 13 | 35.6 |"
UNREADABLE = [
    Pair(QUESTION, ""),
    Pair("", FEWER),
    Pair("", ""),
    Pair(QUESTION, "   \n"),
    Pair(QUESTION, "Attacks of gout were fewer. " * 750),
    Pair(f"Does it help {'very ' * 4000}much?", FEWER),
    Pair(QUESTION, "与安慰剂相比，该药减少了痛风发作。"),
    Pair("该药能减少痛风发作吗?", FEWER),
    Pair(QUESTION, TABLE),
    Pair(QUESTION, "96/2212 (4.3%) 115/2235 (5.1%) 0.85 (0.65-1.12) 0.20"),
    Pair(QUESTION, "Answer yes."),
    Pair(QUESTION, "Results"),
]
READABLE = [
    Pair(QUESTION, FEWER, "Velmoxatrine in gout", "We studied 412 adults."),
    Pair(QUESTION, "Warfarin thins the blood and is taken once a day by mouth."),
    Pair(comparison("velmoxatrine", "placebo", "attacks of gout"), FEWER),
    Pair(QUESTION, "Whether it prevents attacks is not settled. " * 30),
]


@pytest.fixture(params=["trained", "scripted"])
def any_reader(request: pytest.FixtureRequest) -> Reader:
    return request.getfixturevalue("reader") if request.param == "trained" else ScriptedReader({})


def test_one_reading_a_pair_of_probabilities(any_reader: Reader) -> None:
    assert any_reader.read([]) == []
    readings = any_reader.read([*READABLE, *UNREADABLE])
    assert len(readings) == len(READABLE) + len(UNREADABLE)
    for reading in readings:
        for found, names in ((reading.stances, STANCES), (reading.directions, DIRECTIONS), (reading.roles, ROLES)):
            assert len(found) == len(names)
            assert all(0 <= p <= 1 for p in found)
            assert sum(found) == pytest.approx(1, abs=1e-4)
        assert 0 <= reading.relevance <= 1
        assert 0 <= reading.telling <= 1 + 1e-6


def test_what_cannot_be_read_is_unrelated_for_sure(any_reader: Reader) -> None:
    for reading in any_reader.read(UNREADABLE):
        assert (reading.relevance, reading.telling) == (0.0, 0.0) or any_reader.__class__ is ScriptedReader
        assert reading.stance(Stance.UNRELATED) == 1.0


@pytest.mark.parametrize("pair", UNREADABLE, ids=lambda p: f"{p.question[:12]}/{p.sentence[:12]}")
def test_it_is_not_even_given_to_the_model(pair: Pair, tmp_path: Path) -> None:
    assert not can_read(pair)
    assert TrainedReader(tmp_path / "none.safetensors").read([pair]) == [UNREAD]


@pytest.mark.parametrize("pair", READABLE)
def test_plain_english_is_read(pair: Pair) -> None:
    assert can_read(pair)


@pytest.mark.parametrize("text", ["与安慰剂相比，该药减少了痛风发作。", TABLE, "Answer yes.", "x" * 20_000])
def test_what_is_not_read_gives_no_verdict(reader: TrainedReader, text: str) -> None:
    ruling = VerdictJudgeLocal(reader).judge(QUESTION, [piece(text)])
    assert (ruling.verdict, list(ruling.carrying), list(ruling.beside)) == (None, [], [])


def test_neither_order_nor_company_changes_what_is_read(reader: TrainedReader) -> None:
    together = reader.read([*READABLE, *UNREADABLE, *READABLE])
    assert_close(together[: len(READABLE)], together[-len(READABLE) :])
    for pair, reading in zip(READABLE, together, strict=False):
        (alone,) = reader.read([pair])
        for one, other in zip(alone, reading, strict=True):
            assert one == pytest.approx(other, abs=0.01)


def test_missing_weights_are_told_with_advice(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="missing") as told:
        TrainedReader(tmp_path / "weights.safetensors").read(READABLE)
    assert "anamnesis dev reader train" in told.value.advice


def test_damage_is_found_by_the_checksum(weights: Path, tmp_path: Path) -> None:
    data = bytearray(weights.read_bytes())
    data[-1000] ^= 1
    damaged = tmp_path / "weights.safetensors"
    damaged.write_bytes(data)
    damaged.with_suffix(".sha256").write_text(weights.with_suffix(".sha256").read_text())
    with pytest.raises(DataError, match="damaged"):
        TrainedReader(damaged).read(READABLE)
    damaged.write_bytes(weights.read_bytes())  # put right, it is read
    assert len(TrainedReader(damaged).read(READABLE[:1])) == 1


def test_weights_of_another_model_or_half_a_file_are_refused(weights: Path, tmp_path: Path) -> None:
    other, half = tmp_path / "other.safetensors", tmp_path / "half.safetensors"
    save_file({"head.weight": torch.zeros(3, 3)}, str(other))
    half.write_bytes(weights.read_bytes()[:5000])
    for path in (other, half):
        with pytest.raises(DataError, match="another model"):
            TrainedReader(path).read(READABLE)


PLAIN = [
    (
        "Does aspirin reduce the risk of stroke?",
        "Aspirin reduced the risk of stroke by 22 % compared with placebo (p < 0.001).",
        Stance.SUPPORTS,
    ),
    (
        "Do antibiotics shorten a common cold?",
        "Antibiotics did not shorten the common cold compared with placebo.",
        Stance.REFUTES,
    ),
    (
        "Do antibiotics shorten a common cold?",
        "Hip fracture was more frequent in residents of nursing homes.",
        Stance.UNRELATED,
    ),
]


@pytest.mark.skipif(not WEIGHTS.is_file(), reason="the trained weights are not there: anamnesis dev reader train")
@pytest.mark.parametrize(("question", "sentence", "stance"), PLAIN)
def test_the_shipped_reader_reads_plain_pairs(question: str, sentence: str, stance: Stance) -> None:
    (reading,) = TrainedReader().read([Pair(question, sentence)])
    assert max(Stance, key=reading.stance) is stance
    assert reading.telling > 0.5


def test_what_was_read_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = TrainedReader()
    pairs = [Pair("Does aspirin reduce fever?", "Aspirin reduced fever in most children."), Pair("Why?", "12 | 13")]
    first = reader.read([*pairs, pairs[0]])
    monkeypatch.setattr(reader, "_open", lambda: pytest.fail("it was read again"))
    assert reader.read(pairs[::-1]) == first[1::-1]
    assert first[2] == first[0] != first[1] == UNREAD
