"""Training: the same file for one seed, and from that file on to one that knows more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tools.reading import training
from tools.reading.contract import Direction, Pair, Role, Stance
from tools.reading.corpus import Example
from tools.reading.model import PairTokenizer, load, padded, split
from tools.reading.training import TrainingSettings, train_reader

EXAMPLES = [
    Example(
        Pair(f"Does rest help a {place} strain?", f"A strained {place} {said} with rest."), "own", place, (stance,),
        Direction.UNCLEAR, Role.CONCLUSION,
    )
    for place in ("back", "neck", "calf", "thigh")
    for said, stance in (("healed sooner", Stance.SUPPORTS), ("did not heal sooner", Stance.REFUTES))
]  # fmt: skip
FEW = TrainingSettings(passes=2, batch=4, rate=2e-4, warm=1, teachers=0)
UNKNOWN = replace(EXAMPLES[0], stances=tuple(Stance), direction=None, role=None)


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "epoch", lambda *_, **__: list(EXAMPLES))
    monkeypatch.setattr(training, "beside", lambda *_: [UNKNOWN])


def trained(path: Path, settings: TrainingSettings = FEW, start: Path | None = None) -> bytes:
    threads = torch.get_num_threads()
    try:
        train_reader(path.parent, path, settings, lambda _: None, start=start)
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(False)
    return path.read_bytes()


def loss(path: Path) -> float:
    with torch.inference_mode():
        stances, _, _ = split(load(path)(padded(PairTokenizer().rows([e.pair for e in EXAMPLES]))))
    picked = stances.log_softmax(-1)[range(len(EXAMPLES)), [training.STANCE_AT[e.stances[0]] for e in EXAMPLES]]
    return -float(picked.mean())


@pytest.mark.slow
def test_a_seed_gives_the_same_file_and_more_passes_from_it_another_that_knows_more(tmp_path: Path) -> None:
    first = trained(tmp_path / "a.safetensors")
    assert trained(tmp_path / "b.safetensors") == first
    longer = FEW.model_copy(update={"passes": 6, "seed": 8})
    assert trained(tmp_path / "c.safetensors", longer, start=tmp_path / "a.safetensors") != first
    assert loss(tmp_path / "c.safetensors") < loss(tmp_path / "a.safetensors") - 0.1


@pytest.mark.slow
def test_what_teachers_read_is_learned_where_the_labels_count_for_nothing(tmp_path: Path) -> None:
    taught = FEW.model_copy(update={"passes": 8, "teachers": 1, "taught": 1.0})
    trained(tmp_path / "taught.safetensors", taught)
    trained(tmp_path / "untaught.safetensors", FEW.model_copy(update={"passes": 1, "rate": 0.0, "head_rate": 0.0}))
    assert loss(tmp_path / "taught.safetensors") < loss(tmp_path / "untaught.safetensors") - 0.1
