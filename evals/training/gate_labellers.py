"""Training the labellers of sentences: the light head in seconds, a BERT by transformers' Trainer (ICA-RAG).

A case with all its shortenings is in one part of the split: what is trained on, what decides when training stops and
how the labels weigh, and what the card's figures are of. It is seeded, and a BERT's training that was killed goes on
from its last whole checkpoint.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import math
import random
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evals.training.gate_annotation import AnnotatedCase
from graphs.completeness.contract import Label
from graphs.completeness.labellers import (
    BATCH,
    CARD,
    HEAD,
    LABELS,
    PLAIN,
    TOKENS,
    VERSION,
    Card,
    Head,
    Matrix,
    Probabilities,
    UnitFeatures,
    encoded,
    load,
    probabilities,
    project,
    quietly,
    read_card,
    vectors_of,
)
from prompts.errors import InputError
from tools.contract import Differential
from tools.encoders import Encoder
from tools.files import locked, sha256_of, write_atomic

# How good labels are, how classes weigh against each other, and the split that keeps a case on one side.
Classes = NDArray[np.int64]
FACTORS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0)  # ours: what A and B may weigh against C
LEVEL_MARK = "@"  # what follows it in an id is a shortening of the case before it


def classes_of(labels: Sequence[Label]) -> Classes:
    """Array (units,): positions in `LABELS`."""
    return np.array([LABELS.index(label) for label in labels], dtype=np.int64)


def f1_by_class(said: Classes, true: Classes) -> NDArray[np.float64]:
    """Array (3,): F1 of A, B and C, 0..1; of a class that neither has, 0."""
    both = np.bincount(true[said == true], minlength=len(LABELS))
    due = np.bincount(said, minlength=len(LABELS)) + np.bincount(true, minlength=len(LABELS))
    scores: NDArray[np.float64] = np.divide(2.0 * both, due, out=np.zeros(len(LABELS)), where=due > 0)
    return scores


def macro_f1(said: Classes, true: Classes) -> float:
    """The mean of the F1 of the classes, 0..1."""
    return float(f1_by_class(said, true).mean())


def chosen(probabilities: Probabilities, weights: Probabilities) -> Classes:
    """Array (units,): the class whose weighed probability is largest."""
    best: Classes = (probabilities * weights).argmax(axis=1)
    return best


def best_weights(probabilities: Probabilities, true: Classes) -> Probabilities:
    """Array (3,): the weights, C's being 1, with the best macro-F1; the smallest of equals.

    ``probabilities`` must be of units that were not trained on.
    """
    pairs = sorted(itertools.product(FACTORS, FACTORS), key=sum)
    options = [np.array([a, b, 1.0]) for a, b in pairs]
    return max(options, key=lambda weights: macro_f1(chosen(probabilities, weights), true))


def class_weights(classes: Classes) -> list[float]:
    """Weights of A, B and C in the loss: by the root of how rare a label is (ours: in full, rare ones shout)."""
    counts = np.bincount(classes, minlength=len(LABELS))
    weights = np.sqrt(len(classes) / np.maximum(counts, 1))
    return [float(weight) for weight in weights / weights.mean()]


def measured(said: Classes, true: Classes) -> dict[str, float]:
    """What a card tells of labels: macro-F1, F1 of each, units, macro-F1 of the commonest label."""
    commonest = np.full_like(true, np.bincount(true, minlength=len(LABELS)).argmax())
    by_class = {f"f1_{label.value}": score for label, score in zip(LABELS, f1_by_class(said, true), strict=True)}
    told = {"macro_f1": macro_f1(said, true), **by_class, "majority_macro_f1": macro_f1(commonest, true)}
    return {name: round(float(value), 4) for name, value in told.items()} | {"units": float(len(true))}


def group_of(case_id: str) -> str:
    """The case that an id is a shortening of: ``patient-7`` of ``patient-7@50``."""
    return case_id.partition(LEVEL_MARK)[0]


def folds(groups: Sequence[str], count: int, seed: int) -> list[NDArray[np.bool_]]:
    """For each fold an array (rows,) that is True where a row belongs to it; a group is in one fold whole.

    Groups are dealt out by the seed, larger ones first, each to the fold with the fewest rows.
    """
    names = sorted(set(groups))
    random.Random(seed).shuffle(names)  # noqa: S311
    sizes = dict.fromkeys(names, 0)
    for group in groups:
        sizes[group] += 1
    rows, of = [0] * count, {}
    for name in sorted(names, key=lambda name: -sizes[name]):
        fold = rows.index(min(rows))
        of[name] = fold
        rows[fold] += sizes[name]
    numbers = np.array([of[group] for group in groups])
    return [numbers == fold for fold in range(count)]


# Annotated cases in parts: what is trained on, what decides when to stop, and what is measured on, by case.
PARTS = 6  # ours: one of six decides when to stop, one is measured on, the others are trained on
FEWEST = 20  # ours: units below which nothing is worth training


class Units(NamedTuple):
    """Units, each beside its case, and their classes."""

    pairs: list[tuple[str, str]]
    classes: Classes


class Split(NamedTuple):
    """Units to train on, to stop by, and to measure on."""

    train: Units
    stop: Units
    test: Units


def split_cases(cases: Sequence[AnnotatedCase], seed: int) -> Split:
    """The parts by case; raises InputError where there is too little to make them of."""
    groups = [group_of(case.id) for case in cases for _ in case.units]
    classes = classes_of([unit.label for case in cases for unit in case.units])
    pairs = [(unit.text, case.text) for case in cases for unit in case.units]
    check_enough(len(pairs), set(groups), classes)
    stop, test, *_ = folds(groups, PARTS, seed)
    return Split(*(_units(pairs, classes, rows) for rows in (~stop & ~test, stop, test)))


def check_enough(units: int, groups: Collection[str], classes: Classes) -> None:
    """Raise InputError where there is too little to make parts of."""
    if units < FEWEST or len(set(classes.tolist())) < 2 or len(groups) < PARTS:
        what = f"{units} units of {len(groups)} cases are too few, or have one label only."
        raise InputError(what, f"Give at least {FEWEST} units of {PARTS} cases, and more than one label.")


def _units(pairs: Sequence[tuple[str, str]], classes: Classes, rows: NDArray[np.bool_]) -> Units:
    return Units([pair for pair, here in zip(pairs, rows, strict=True) if here], classes[rows])


HEAD_RATE, DECAY, HEAD_BATCH = 3e-3, 0.1, 256  # ours: as usual for Adam with decay on a few thousand rows
# Trains the light head: a small network over frozen vectors and plain features; seconds on two cores.
FOLDS = 3  # ours: parts, each predicted by a head trained on the others: by them the size is chosen, labels are weighed
LEAST_SPREAD = 1e-3  # ours: a feature that varies less says nothing


class Size(NamedTuple):
    """What is kept of a unit's vector and of the rest's, the network's width, its drop-out, and steps of training."""

    unit: int
    rest: int
    hidden: int
    drop: float
    steps: int


# ours: the small one holds for diseases that were never seen, the large one learns more of those that were; which of
# the two is taken is decided by cases left out
SIZES = (Size(16, 4, 12, 0.3, 800), Size(64, 16, 48, 0.2, 1200))


class Trained(NamedTuple):
    """A head, its size, and (units, 3) probabilities of every unit by heads that never saw its group."""

    head: Head
    size: Size
    unseen: Probabilities


class Rows(NamedTuple):
    """Units to train on. features: (units, columns). classes: (units,). groups: (units,), whose case it is."""

    features: Matrix
    classes: Classes
    groups: tuple[str, ...]

    def where(self, rows: NDArray[np.bool_]) -> Rows:
        """Some of them."""
        return Rows(self.features[rows], self.classes[rows], tuple(np.array(self.groups)[rows].tolist()))


def rows_of(
    cases: Sequence[AnnotatedCase],
    look_up: Callable[[str], Differential],
    encoder: Encoder,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Rows:
    """The units of annotated cases with their features. Each different sentence is encoded once."""
    texts = sorted({unit.text for case in cases for unit in case.units})
    vector = dict(zip(texts, vectors_of(texts, encoder), strict=True))
    matrices = [np.zeros((0, 2 * encoder.dimension + len(PLAIN)), dtype=np.float32)]
    for done, case in enumerate(cases, start=1):
        vectors = np.array([vector[unit.text] for unit in case.units])
        matrices.append(UnitFeatures(case.text, look_up(case.text)).matrix(vectors))
        progress(done, len(cases))
    return Rows(
        np.vstack(matrices),
        classes_of([unit.label for case in cases for unit in case.units]),
        tuple(group_of(case.id) for case in cases for _ in case.units),
    )


def train_head(rows: Rows, encoder: str, seed: int) -> Trained:
    """A head of the size that does best on groups left out, by which its labels are weighed too.

    Raises:
        InputError: too few units, groups or labels.
    """
    check_enough(len(rows.classes), set(rows.groups), rows.classes)
    tried = [_out_of_fold(rows, encoder, seed, size) for size in SIZES]
    weights = [best_weights(unseen, rows.classes) for unseen in tried]
    reached = [macro_f1(chosen(p, w), rows.classes) for p, w in zip(tried, weights, strict=True)]
    best = reached.index(max(reached))
    return Trained(_fit(rows, encoder, seed, SIZES[best], weights[best]), SIZES[best], tried[best])


def _out_of_fold(rows: Rows, encoder: str, seed: int, size: Size) -> Probabilities:
    out = np.zeros((len(rows.classes), len(LABELS)))
    for fold in folds(rows.groups, FOLDS, seed):
        head = _fit(rows.where(~fold), encoder, seed, size, np.ones(len(LABELS)))
        out[fold] = head.probabilities(rows.features[fold])
    return out


def _fit(rows: Rows, encoder: str, seed: int, size: Size, weights: Probabilities) -> Head:
    """A head of rows, by Adam with decay on cross-entropy."""
    bare = _inputs(rows, encoder, size, weights)
    hidden, hidden_bias, out, out_bias = _network(bare.inputs(rows.features), rows.classes, seed, size)
    return Head(**{**vars(bare), "hidden": hidden, "hidden_bias": hidden_bias, "out": out, "out_bias": out_bias})


def save_trained(
    cases: Sequence[AnnotatedCase], rows: Rows, encoder: str, folder: Path, *, seed: int, data: str, licence: str
) -> Card:
    """Train a head and write it with its card. Raises InputError as `train_head`."""
    trained = train_head(rows, encoder, seed)
    weights = trained.head.weights.astype(np.float64)
    write_atomic(folder / HEAD.name, save_head(trained.head))
    card = Card(
        kind="head",
        backbone=encoder,
        data_sha256=data_sha256(cases),
        data=data,
        licence=licence,
        diagnosers=tuple(sorted({case.diagnoser for case in cases})),
        cases=len(cases),
        units=len(rows.classes),
        labels=dict(sorted(Counter(u.label.value for case in cases for u in case.units).items())),
        seed=seed,
        settings={**trained.size._asdict(), "folds": FOLDS},
        metrics=measured(chosen(trained.unseen, weights), rows.classes),
        weights=(float(weights[0]), float(weights[1]), float(weights[2])),
        files={HEAD.name: ""},
    )
    return write_card(folder, card)


def _inputs(rows: Rows, encoder: str, size: Size, weights: Probabilities) -> Head:
    """A head without its network: projections to the main directions of the vectors, and scales."""
    width = (rows.features.shape[1] - len(PLAIN)) // 2
    unit, rest = rows.features[:, :width], rows.features[:, width : 2 * width]
    none = np.zeros((0, 0), dtype=np.float32)
    bare = Head(
        unit=_directions(np.unique(unit, axis=0), size.unit),
        unit_mean=unit.mean(axis=0),
        rest=_directions(rest, size.rest),
        rest_mean=rest.mean(axis=0),
        mean=none, scale=none, hidden=none, hidden_bias=none, out=none, out_bias=none,
        weights=weights.astype(np.float32),
        encoder=encoder,
    )  # fmt: skip
    kept = project(bare, rows.features)
    spread = kept.std(axis=0)
    scale = np.where(spread > LEAST_SPREAD, spread, 1.0).astype(np.float32)
    return Head(**{**vars(bare), "mean": kept.mean(axis=0), "scale": scale})


def _directions(vectors: Matrix, count: int) -> Matrix:
    """Array (dimension, count): the directions in which the vectors vary most, signs settled."""
    covariance = np.cov(vectors.T.astype(np.float64)) if len(vectors) > 1 else np.eye(vectors.shape[1])
    _, found = np.linalg.eigh(covariance)
    main = found[:, ::-1][:, :count]
    signs = np.sign(main[np.abs(main).argmax(axis=0), np.arange(main.shape[1])])
    turned: Matrix = (main * signs).astype(np.float32)
    return turned


def _network(inputs: Matrix, classes: Classes, seed: int, size: Size) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    import torch
    from torch import nn

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        net = nn.Sequential(
            nn.Linear(inputs.shape[1], size.hidden),
            nn.ReLU(),
            nn.Dropout(size.drop),
            nn.Linear(size.hidden, len(LABELS)),
        )
        x, y = torch.from_numpy(inputs), torch.from_numpy(classes)
        optimizer: Any = torch.optim.AdamW(net.parameters(), lr=HEAD_RATE, weight_decay=DECAY)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, HEAD_RATE, total_steps=size.steps)
        for _ in range(size.steps):
            drawn = torch.randint(len(y), (HEAD_BATCH,))
            loss: Any = nn.functional.cross_entropy(net(x[drawn]), y[drawn])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    weights = {name: array.detach().numpy().copy() for name, array in net.named_parameters()}
    return weights["0.weight"].T, weights["0.bias"], weights["3.weight"].T, weights["3.bias"]


# Fine-tunes a BERT on annotated cases (ICA-RAG's classifier), by transformers' Trainer.
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


def fine_tune(
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
    told = [data_sha256(cases), training.seed, training.epochs, [sha256_of(path) for path in weights]]
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
        train_dataset=_examples(tokenizer, split.train),
        eval_dataset=_examples(tokenizer, split.stop),
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


def _examples(tokenizer: Any, units: Units) -> list[dict[str, Any]]:
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


def data_sha256(cases: Sequence[AnnotatedCase]) -> str:
    """sha256 over texts, references and labels of cases, whatever their order."""
    rows = sorted(hashlib.sha256(case.model_dump_json().encode()).hexdigest() for case in cases)
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def write_card(folder: Path, card: Card) -> Card:
    """Write the card, with the checksums of the files that it names; last of all, so that what it names is whole."""
    files = {file: sha256_of(folder / file) for file in card.files}
    whole = card.model_copy(update={"files": files})
    write_atomic(folder / CARD, (whole.model_dump_json(indent=1) + "\n").encode())
    return whole


def save_head(head: Head) -> bytes:
    """The file's content: matrices in half precision (ours: 200 KB at most)."""
    arrays: dict[str, Any] = {f.name: getattr(head, f.name) for f in fields(head) if f.name != "encoder"}
    arrays = {name: a.astype(np.float16) if a.ndim == 2 else a for name, a in arrays.items()}
    told = {"version": np.array(VERSION), "encoder": np.array(head.encoder), "features": np.array(PLAIN)}
    out = io.BytesIO()
    save: Any = np.savez_compressed
    save(out, **arrays, **told)
    return out.getvalue()
