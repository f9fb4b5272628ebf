"""The trained heads of messages: what they tell apart, what their file says, and that nothing judged was trained on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphs.triage.contract import Kind, SessionView
from graphs.triage.emergency import emergencies, red_flags
from graphs.triage.facts import facts_of
from graphs.triage.local import classify, describes_patient
from prompts.errors import DataError
from tools.files import sha256_of
from tools.reading import corpus
from tools.reading import messages as head
from tools.reading.messages import Meaning, Sort, emergency_in, heads, sorted_as

EXAMPLES = Path(__file__).parents[3] / "graphs" / "triage" / "examples"


def examples(name: str) -> list[dict[str, str]]:
    return [row for path in sorted(EXAMPLES.glob(f"{name}*.jsonl")) for row in corpus.rows(path)]


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("How long does measles last?", Sort.QUESTION),
        ("麻疹的潜伏期是多久", Sort.QUESTION),
        ("My aunt is 70 and takes warfarin. May she have cranberry juice?", Sort.PATIENT_QUESTION),
        ("48M, epigastric pain radiating to the back since last night, vomiting", Sort.CASE),
        ("Are you a real doctor or a computer?", Sort.ASSISTANT),
        ("thank you, that helps", Sort.COURTESY),
        ("Which tyres are best for snow?", Sort.OTHER),
        ("怎么做红烧排骨", Sort.OTHER),
    ],
)
def test_sorts_of_message(text: str, sort: Sort) -> None:
    assert sorted_as(text).best is sort
    assert sum(sorted_as(text).sorts) == pytest.approx(1.0)


def test_how_medical_the_words_are_tells_terms_genes_and_talk_apart() -> None:
    texts = ("apoptotic hepatocytes", "cheap holiday flights", "糖尿病怎么治", "is it that?")
    term, talk, chinese, nothing = map(head.medical, texts)
    assert term[2] > 0 > talk[2]  # the mean word
    assert head.medical("TP53 binding")[9] > 0 == talk[9]
    assert chinese[0] > 0 == talk[0]
    assert nothing[1] > 0 == talk[1]


def test_a_first_message_of_courtesy_needs_no_set_phrase() -> None:
    assert classify("you have been ever so kind, doc", SessionView()).kind is Kind.SMALL_TALK
    told = SessionView(facts=facts_of("Cough for two weeks."), question="Cough for two weeks.", kind=Kind.CASE)
    assert classify("dull and aching", told).kind is Kind.CASE


@pytest.mark.parametrize("text", ["", "是" * 50_000, "\x00", "a" * 100_000, "🙂 🙂"])
def test_every_text_is_read(text: str) -> None:
    assert sum(sorted_as(text).sorts) == pytest.approx(1.0)


def test_a_patient_is_described_whatever_is_asked_of_them() -> None:
    assert describes_patient("A 63-year-old man presents with jaundice and weight loss. Which test is next?")
    assert not describes_patient("Which test is best for gallstones?")


def test_only_what_is_surely_another_field_and_not_in_the_library_is_declined() -> None:
    text = "Which tyres are best for snow?"
    assert classify(text, SessionView()).kind is Kind.OUT_OF_SCOPE
    assert classify(text, SessionView(), on_subject=lambda _: True).kind is Kind.EVIDENCE
    assert classify("zorblax", SessionView()).kind is Kind.EVIDENCE


def test_an_emergency_is_named_by_what_it_is_like() -> None:
    (found,) = red_flags("my husband is clutching his chest, grey and pouring with sweat, arm gone dead", "en")
    assert found.code == "heart_attack"
    assert emergency_in("What is the dose of amoxicillin for otitis?") is None


def test_every_kind_of_example_has_its_name_and_advice() -> None:
    rules = emergencies()
    kinds = {row["kind"] for row in examples("emergencies")}
    assert kinds == set(rules.exemplars)
    assert set(heads().kinds) <= kinds
    assert set(rules.exemplars.values()) <= set(rules.named)


def test_examples_are_of_known_kinds_and_none_is_an_unseen_text() -> None:
    assert {row["kind"] for row in examples("kinds")} == {str(sort) for sort in Sort}
    assert {row["means"] for row in examples("turns")} == {str(meaning) for meaning in Meaning}
    texts = {row["text"] for name in ("kinds", "emergencies", "turns") for row in examples(name)}
    unseen = Path(__file__).resolve().parents[3] / "evals" / "data" / "unseen"
    judged = {
        json.loads(line)["text"]
        for name in ("kinds", "emergencies", "turns")
        for line in (unseen / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    }
    assert len(texts & judged) == 0


def test_the_weights_are_what_their_checksum_says(tmp_path: Path) -> None:
    assert head.WEIGHTS.stat().st_size <= 2_000_000
    assert head.WEIGHTS.with_suffix(".sha256").read_text().strip() == sha256_of(head.WEIGHTS)
    copy = tmp_path / "heads.safetensors"
    copy.write_bytes(head.WEIGHTS.read_bytes() + b"x")
    copy.with_suffix(".sha256").write_text(sha256_of(head.WEIGHTS))
    with pytest.raises(DataError, match="damaged"):
        heads.__wrapped__(copy)
    with pytest.raises(DataError, match="missing"):
        heads.__wrapped__(tmp_path / "none.safetensors")
