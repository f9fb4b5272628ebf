"""Fine-tunes a BERT on annotated cases (ICA-RAG's classifier), by transformers' Trainer.

A case with all its shortenings is in one part of the split: what is trained on, what decides when training stops and
how the labels weigh, and what the card's figures are of. It is seeded, and a training that was killed goes on from its
last whole checkpoint.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphs.completeness.annotation import AnnotatedCase
from graphs.completeness.classifier import LABELS
from graphs.completeness.classifier_bert import BATCH, TOKENS, encoded, load, probabilities, quietly
from graphs.completeness.classifier_card import CARD, Card, data_sha256, file_sha256, read_card, write_card
from graphs.completeness.classifier_metrics import (
    Classes,
    best_weights,
    chosen,
    class_weights,
    macro_f1,
    measured,
)
from graphs.completeness.classifier_split import PARTS, Split, Units, split_cases
from prompts.errors import InputError
from tools.files import locked

WORK = ".training"  # below the folder of the classifier: checkpoints, until it is done
EPOCHS, PATIENCE = 8, 2  # ours: at most; epochs without a better macro-F1 after which it stops
RATE, WARM_UP = 5e-5, 0.1  # ours: as usual for a small BERT; share of the steps in which the rate rises
STATE = "trainer_state.json"  # code: what the Trainer writes last into a checkpoint
Progress = Callable[[int, int], None]


class Training(NamedTuple):
    """How to train.

    Attributes:
        backbone: a folder of a transformers model. backbone_name: of it, for the card. epochs: at most.
        data, licence: of the annotated cases, in words, for the card.
    """

    backbone: Path
    backbone_name: str
    seed: int = 0
    epochs: int = EPOCHS
    data: str = ""
    licence: str = ""


def train_bert(
    cases: Sequence[AnnotatedCase], out: Path, training: Training, progress: Progress = lambda *_: None
) -> Card:
    """Fine-tune, and save the classifier with its card in a folder.

    Args:
        out: a new folder, or one in which the same training was begun; one that holds its result is left as it is.
        progress: is told the steps done, and of how many at most.

    Raises:
        InputError: too few units or labels, another classifier in the folder, or a package that is not installed.
        DataError: the backbone cannot be read, or the card that lies there.
    """
    if find_spec("accelerate") is None:
        raise InputError("Fine-tuning needs the package accelerate.", "Run: pip install 'anamnesis[train]'")
    split = split_cases(cases, training.seed)
    named = fingerprint(cases, training)
    with locked(out / "train"):
        if (out / CARD).exists():
            card = read_card(out, "bert")
            if card.settings.get("fingerprint") == named:
                return card
            raise InputError(f"{out} holds another classifier.", "Name another folder with --out.")
        work = out / WORK / named
        work.mkdir(parents=True, exist_ok=True, mode=0o700)
        model, tokenizer = _trained(split, work, training, progress)
        card = _card(cases, split, training, model, tokenizer)
        files = _save(model, tokenizer, work, out)
        settings = card.settings | {"fingerprint": named}
        write_card(out, card.model_copy(update={"files": dict.fromkeys(files, ""), "settings": settings}))
        shutil.rmtree(out / WORK)
    return read_card(out, "bert")


def fingerprint(cases: Sequence[AnnotatedCase], training: Training) -> str:
    """Names a training: other data, seed, backbone or settings give another name."""
    weights = sorted((*training.backbone.glob("*.safetensors"), *training.backbone.glob("*.bin")))
    told = [data_sha256(cases), training.seed, training.epochs, [file_sha256(path) for path in weights]]
    told += [RATE, WARM_UP, PATIENCE, PARTS, TOKENS, BATCH]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def whole_checkpoint(work: Path) -> Path | None:
    """The last checkpoint that was written whole, None for none; those that were cut off are deleted."""
    whole = []
    for path in work.glob("checkpoint-*"):
        try:
            json.loads((path / STATE).read_bytes())
            whole.append(path)
        except (OSError, ValueError):
            shutil.rmtree(path)
    return max(whole, key=lambda path: int(path.name.rpartition("-")[2]), default=None)


def _trained(split: Split, work: Path, training: Training, progress: Progress) -> tuple[Any, Any]:
    from transformers import EarlyStoppingCallback, Trainer, set_seed
    from transformers.trainer_callback import PrinterCallback

    set_seed(training.seed)
    model, tokenizer = load(training.backbone)
    trainer = Trainer(
        model=model,
        args=_arguments(work, training, len(split.train.classes)),
        train_dataset=_rows(tokenizer, split.train),
        eval_dataset=_rows(tokenizer, split.stop),
        processing_class=tokenizer,
        compute_loss_func=_balanced(split.train.classes),
        compute_metrics=lambda told: {"macro_f1": _best_macro_f1(np.asarray(told.predictions), split.stop.classes)},
        callbacks=[EarlyStoppingCallback(PATIENCE), _telling(progress)],
    )
    trainer.remove_callback(PrinterCallback)  # it would print to standard output
    last = whole_checkpoint(work)
    with quietly():
        trainer.train(resume_from_checkpoint=str(last) if last is not None else None)
    return model.eval().cpu(), tokenizer


def _arguments(work: Path, training: Training, units: int) -> Any:
    from transformers import TrainingArguments

    steps = math.ceil(units / BATCH) * training.epochs
    return TrainingArguments(
        output_dir=str(work),
        seed=training.seed,
        data_seed=training.seed,
        num_train_epochs=training.epochs,
        per_device_train_batch_size=BATCH,
        per_device_eval_batch_size=BATCH,
        learning_rate=RATE,
        warmup_steps=int(WARM_UP * steps),
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model="macro_f1",
        restore_callback_states_from_checkpoint=True,
        report_to=[],
        disable_tqdm=True,
        logging_strategy="no",
        dataloader_pin_memory=False,
    )


def _rows(tokenizer: Any, units: Units) -> list[dict[str, Any]]:
    read = encoded(tokenizer, units.pairs, tensors=False)
    return [
        {name: values[n] for name, values in read.items()} | {"labels": int(units.classes[n])}
        for n in range(len(units.classes))
    ]


def _balanced(classes: Classes) -> Callable[..., Any]:
    """Cross-entropy in which rare labels count for more."""
    import torch

    weights = torch.tensor(class_weights(classes), dtype=torch.float32)

    def loss(outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:
        del num_items_in_batch  # the mean of a batch: nothing is accumulated
        return torch.nn.functional.cross_entropy(outputs.logits, labels, weight=weights.to(outputs.logits.device))

    return loss


def _best_macro_f1(logits: NDArray[np.floating[Any]], true: Classes) -> float:
    """The macro-F1 that logits reach with the labels weighed best: what training is stopped by."""
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares = shares / shares.sum(axis=1, keepdims=True)
    return macro_f1(chosen(shares, best_weights(shares, true)), true)


def _telling(progress: Progress) -> Any:
    from transformers import TrainerCallback

    class Telling(TrainerCallback):
        """Tells how many steps are done."""

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            del args, control, kwargs
            progress(int(state.global_step), int(state.max_steps))

    return Telling()


def _card(cases: Sequence[AnnotatedCase], split: Split, training: Training, model: Any, tokenizer: Any) -> Card:
    weights = best_weights(probabilities(split.stop.pairs, model, tokenizer), split.stop.classes)
    said = chosen(probabilities(split.test.pairs, model, tokenizer), weights)
    settings: dict[str, float | int | str] = {
        "epochs": training.epochs, "patience": PATIENCE, "rate": RATE, "tokens": TOKENS, "batch": BATCH,
    }  # fmt: skip
    return Card(
        kind="bert",
        backbone=training.backbone_name,
        data_sha256=data_sha256(cases),
        data=training.data,
        licence=training.licence,
        diagnosers=tuple(sorted({case.diagnoser for case in cases})),
        cases=len(cases),
        units=sum(len(case.units) for case in cases),
        labels=dict(sorted(Counter(unit.label.value for case in cases for unit in case.units).items())),
        seed=training.seed,
        settings=settings,
        metrics=measured(said, split.test.classes),
        weights=(float(weights[0]), float(weights[1]), float(weights[2])),
    )


def _save(model: Any, tokenizer: Any, work: Path, out: Path) -> list[str]:
    """Write model and tokenizer beside the others, then move each file to its place; returns their names."""
    model.config.id2label = {n: label.value for n, label in enumerate(LABELS)}
    model.config.label2id = {label.value: n for n, label in enumerate(LABELS)}
    folder = work / "classifier"
    with quietly():
        model.save_pretrained(str(folder))
        tokenizer.save_pretrained(str(folder))
    names = sorted(path.name for path in folder.iterdir() if path.is_file())
    for name in names:
        (folder / name).replace(out / name)
    return names
