"""One contract for rules, head and fine-tuned classifier; training, cards, damage and going on after a kill."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from evals.training.gate_annotation import AnnotatedCase
from evals.training.gate_labellers import (
    STATE,
    WORK,
    Training,
    data_sha256,
    fine_tune,
    rows_of,
    save_trained,
    split_cases,
    whole_checkpoint,
)
from graphs.completeness.contract import Label, Unit
from graphs.completeness.labellers import (
    CARD,
    HEAD,
    PLAIN,
    Card,
    HeadLabeller,
    Labeller,
    RulesLabeller,
    UnitFeatures,
    labelled,
    load,
    load_head,
    open_labeller,
)
from prompts.errors import DataError, InputError
from support.annotating import many, quick_heads
from support.ranked import ranked
from support.tiny_medcpt import tiny_models
from support.word_encoder import WordEncoder
from tools.contract import Differential, Finding
from tools.encoders import Encoder
from tools.files import sha256_of
from tools.text.sentences import sentences

TEXT = "My chest burns on day 3. It rises after supper 5. I own bicycle 9."
LOOK = Differential(
    findings=(Finding(id="heartburn", name="heartburn", clause="My chest burns", start=0, end=14),),
    ranking=(ranked("gerd", 0.6, name="Acid reflux", findings_for=("heartburn",)),),
    margin=0.4, entropy=1.5,
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def quick() -> Iterator[None]:
    with quick_heads():
        yield


@pytest.fixture(scope="module")
def cases() -> list[AnnotatedCase]:
    return many(24)


@pytest.fixture(scope="module")
def head_folder(cases: list[AnnotatedCase], tmp_path_factory: pytest.TempPathFactory) -> Path:
    encoder = WordEncoder()
    folder = tmp_path_factory.mktemp("head")
    rows = rows_of(cases, lambda _: LOOK, encoder)
    save_trained(cases, rows, encoder.name, folder, seed=0, data="made up", licence="none")
    return folder


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Training:
    return Training(Path(tiny_models(tmp_path_factory.mktemp("tiny"))[0]), "tiny", epochs=2)


@pytest.fixture(scope="module")
def bert_folder(cases: list[AnnotatedCase], tiny: Training, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bert")
    fine_tune(cases, folder, tiny)
    return folder


@pytest.fixture(params=["rules", "head", "trained"])
def labeller(request: pytest.FixtureRequest, head_folder: Path, bert_folder: Path) -> Labeller:
    folder = {"rules": None, "head": head_folder, "trained": bert_folder}[request.param]
    return open_labeller(request.param, folder, WordEncoder())


@pytest.mark.parametrize("look", [None, LOOK])
@pytest.mark.parametrize("text", [TEXT, "头痛两天。没有发热。", "One.", ""])
def test_every_sentence_has_a_label_and_a_reason(labeller: Labeller, text: str, look: Differential | None) -> None:
    found = labeller.label(text, look)
    assert [(u.start, u.end) for u in found] == [(s.start, s.end) for s in sentences(text)]
    assert all(text[u.start : u.end] == u.text and u.reason for u in found)
    assert labeller.label(text, look) == found


def test_a_head_learns_what_its_cases_teach(head_folder: Path) -> None:
    found = open_labeller("head", head_folder, WordEncoder()).label(TEXT, LOOK)
    assert [u.label for u in found] == [Label.A, Label.B, Label.C]
    assert found[0].reason.startswith("the classifier: A 0.")
    card = Card.model_validate_json((head_folder / CARD).read_bytes())
    assert card.metrics["macro_f1"] > 0.9 > card.metrics["majority_macro_f1"]
    assert (card.kind, card.cases, card.units, card.licence) == ("head", 24, 72, "none")
    assert card.files == {HEAD.name: sha256_of(head_folder / HEAD.name)}


def test_the_same_seed_trains_the_same_head(cases: list[AnnotatedCase], head_folder: Path, tmp_path: Path) -> None:
    rows = rows_of(cases, lambda _: LOOK, WordEncoder())
    save_trained(cases, rows, "words", tmp_path, seed=0, data="", licence="")
    one, other = load_head(tmp_path / HEAD.name), load_head(head_folder / HEAD.name)
    assert np.array_equal(one.probabilities(rows.features), other.probabilities(rows.features))


def test_the_shipped_head_is_small_has_a_card_and_fits_the_embedded_encoder(encoder: Encoder) -> None:
    card = Card.model_validate_json((HEAD.parent / CARD).read_bytes())
    assert HEAD.stat().st_size <= 200_000
    assert card.files[HEAD.name] == sha256_of(HEAD)
    assert card.licence
    assert card.metrics["macro_f1"] > card.metrics["majority_macro_f1"]
    text = "I am a 50-year-old man. I have heartburn after meals. I have not traveled abroad in the last 4 weeks."
    assert len(open_labeller("head", None, encoder).label(text, None)) == 3
    with pytest.raises(DataError, match="vectors of all-MiniLM"):
        HeadLabeller(load_head(HEAD), WordEncoder())


@pytest.mark.parametrize("cut", [0, 10, 1000, -10])
def test_a_damaged_head_is_told(head_folder: Path, tmp_path: Path, cut: int) -> None:
    (tmp_path / HEAD.name).write_bytes((head_folder / HEAD.name).read_bytes()[:cut])
    with pytest.raises(DataError, match="damaged"):
        load_head(tmp_path / HEAD.name)


def test_a_head_of_other_arrays_is_damaged(head_folder: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros(3))
    with pytest.raises(DataError, match=r"x\.npy is damaged"):
        open_labeller("head", tmp_path / "x.npy", WordEncoder())
    with np.load(head_folder / HEAD.name) as held:
        arrays = dict(held)
    for name, array in (("unit", arrays["unit"][:, 0]), ("hidden_bias", np.float32(1)), ("rest", arrays["rest"][1:])):
        np.savez(tmp_path / HEAD.name, **{**arrays, name: array})
        with pytest.raises(DataError, match="damaged"):
            load_head(tmp_path / HEAD.name)


def test_a_backbone_that_was_cut_off_is_told(bert_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(bert_folder, folder)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(DataError, match="no BERT that can be read"):
        load(folder)


def test_what_is_no_classifier_is_an_input_error(head_folder: Path, tmp_path: Path) -> None:
    for method, path in (("trained", None), ("trained", tmp_path), ("trained", head_folder), ("head", tmp_path)):
        with pytest.raises(InputError):
            open_labeller(method, path, WordEncoder())  # type: ignore[arg-type]


def test_a_head_of_a_fine_tuned_folder_is_that_classifier(bert_folder: Path) -> None:
    assert open_labeller("head", bert_folder, WordEncoder()).name == "trained"


def test_the_card_of_a_fine_tuned_classifier(bert_folder: Path, cases: list[AnnotatedCase], tiny: Training) -> None:
    card = Card.model_validate_json((bert_folder / CARD).read_bytes())
    assert (card.kind, card.backbone, card.seed, card.units) == ("bert", "tiny", 0, 72)
    assert card.data_sha256 == data_sha256(cases[::-1])
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= set(card.files)
    assert not (bert_folder / WORK).exists()
    assert fine_tune(cases, bert_folder, tiny) == card  # done already: left as it is
    with pytest.raises(InputError, match="another classifier"):
        fine_tune(cases, bert_folder, tiny._replace(seed=1))


def test_a_damaged_classifier_is_told(bert_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(bert_folder, folder)
    (folder / "model.safetensors").write_bytes(b"x")
    with pytest.raises(DataError, match=r"model\.safetensors"):
        open_labeller("trained", folder, WordEncoder())


def test_a_missing_package_is_told(
    cases: list[AnnotatedCase], tiny: Training, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evals.training.gate_labellers.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"accelerate.*anamnesis\[train\]"):
        fine_tune(cases, tmp_path, tiny)
    assert not list(tmp_path.iterdir())


class KilledError(Exception):
    """Stands for a kill."""


@pytest.mark.slow
def test_a_training_that_was_killed_goes_on_and_ends_the_same(
    cases: list[AnnotatedCase], bert_folder: Path, tiny: Training, tmp_path: Path
) -> None:
    def kill(done: int, of: int) -> None:
        if done > of / 2:
            raise KilledError

    with pytest.raises(KilledError):
        fine_tune(cases, tmp_path, tiny, kill)
    work = next((tmp_path / WORK).iterdir())
    last = whole_checkpoint(work)
    assert last is not None
    cut = work / "checkpoint-999"
    shutil.copytree(last, cut)
    (cut / STATE).write_text('{"best')  # the kill came while a checkpoint was written
    steps: list[int] = []
    card = fine_tune(cases, tmp_path, tiny, lambda done, _: steps.append(done))
    assert steps[0] > 1  # it did not begin anew
    whole = Card.model_validate_json((bert_folder / CARD).read_bytes())
    assert card.files["model.safetensors"] == whole.files["model.safetensors"]
    assert card.metrics == whole.metrics


def test_a_case_and_its_shortenings_are_in_one_part() -> None:
    whole = many(12)
    shortened = [c.model_copy(update={"id": f"{c.id}@50"}) for c in whole]
    split = split_cases([*whole, *shortened], 0)
    parts = [{text for _, text in part.pairs} for part in split]
    assert all(part for part in parts)
    assert not parts[0] & parts[1]
    assert not parts[1] & parts[2]
    assert not parts[0] & parts[2]
    with pytest.raises(InputError, match="too few"):
        split_cases(whole[:2], 0)


def test_features_tell_support_redundancy_and_place() -> None:
    case = UnitFeatures(TEXT, LOOK)
    vectors = np.eye(3, 8, dtype=np.float32)
    plain = case.matrix(vectors)[:, 16:]
    column = {name: plain[:, n].tolist() for n, name in enumerate(PLAIN)}
    assert column["for_first"] == column["sole_support"] == [1.0, 0.0, 0.0]
    assert column["first"] == [1.0, 0.0, 0.0]
    assert column["redundant"] == [0.0, 0.0, 0.0]
    assert column["margin"] == pytest.approx([0.4] * 3)
    assert case.matrix(np.ones((3, 8), dtype=np.float32) / np.sqrt(8))[0, 16 + PLAIN.index("redundant")] > 0.99


def test_labels_follow_weighed_probabilities_and_tell_them_in_the_language() -> None:
    shares = np.array([[0.3, 0.1, 0.6]])
    spans = sentences("咳嗽。")
    found: tuple[Unit, ...] = labelled("咳嗽。", spans, shares, np.array([3.0, 1.0, 1.0]))
    assert found[0].label is Label.A
    assert found[0].reason == "分类器：A 0.30, B 0.10, C 0.60"
    assert RulesLabeller().label("咳嗽。", None)[0].label is Label.A
    assert json.loads(found[0].model_dump_json())["label"] == "A"
