"""Who labels the units of a case: open rules, the light head, or a BERT that was fine-tuned here."""

from __future__ import annotations

import contextlib
import math
import threading
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from graphs.completeness.contract import Label, Unit
from graphs.completeness.labels import names_of, units
from graphs.completeness.labels import units as by_rules
from prompts.errors import DataError, InputError
from tools.contract import Differential, Finding, RankedDisease
from tools.encoders import Encoder
from tools.evidence import Frozen
from tools.files import sha256_of
from tools.text.language import language_of
from tools.text.sentences import Span, sentences

# The card of a trained classifier: what it was trained on, how, and what it reached. It lies beside the weights.
CARD = "card.json"
FORMAT = 1  # raised with every change of what weights mean
TRAIN_AGAIN = "Train it again with `anamnesis dev gate train`."


class Card(Frozen):
    """What is to be known of a classifier.

    Attributes:
        kind: ``bert``, fine-tuned, or ``head``, on frozen vectors. format: of this version's files.
        backbone: the model whose weights or vectors it stands on.
        data_sha256: over the annotated cases, in any order. data: what they are, in words. licence: of them.
        diagnosers: who diagnosed in the annotation. cases, units: that it was trained on. labels: units by label.
        seed: of everything drawn. settings: of the training.
        metrics: on units that were not trained on: macro-F1, F1 of A, B and C, units, and macro-F1 of the commonest
            label. weights: of A, B and C, by which probabilities are multiplied.
        files: sha256 of every file beside this one that it needs.
    """

    kind: str = Field(pattern="^(bert|head)$")
    format: int = FORMAT
    backbone: str
    data_sha256: str
    data: str = ""
    licence: str = ""
    diagnosers: tuple[str, ...]
    cases: int
    units: int
    labels: dict[str, int]
    seed: int
    settings: dict[str, float | int | str] = Field(default_factory=dict)
    metrics: dict[str, float] = Field(default_factory=dict)
    weights: tuple[float, float, float]
    files: dict[str, str] = Field(default_factory=dict)


def read_card(folder: Path, kind: str) -> Card:
    """The card of a folder, its files checked.

    Raises:
        InputError: there is no card, or one of another kind.
        DataError: the card or a file is damaged, or of another version.
    """
    try:
        card = Card.model_validate_json((folder / CARD).read_bytes())
    except OSError:
        what = f"{folder} holds no trained classifier."
        raise InputError(what, "Give a folder of `anamnesis dev gate train`.") from None
    except ValidationError as error:
        raise DataError(f"The card of {folder} is damaged.", TRAIN_AGAIN) from error
    if card.kind != kind:
        raise InputError(f"{folder} holds a classifier of another kind ({card.kind}).", f"Give one that is a {kind}.")
    if card.format != FORMAT:
        raise DataError(f"The classifier of {folder} is of another version.", TRAIN_AGAIN)
    for name, sha256 in card.files.items():
        if not (folder / name).is_file() or sha256_of(folder / name) != sha256:
            raise DataError(f"{name} of {folder} is missing or damaged.", TRAIN_AGAIN)
    return card


Method = Literal["rules", "head", "trained"]
LABELS = (Label.A, Label.B, Label.C)  # the columns of every array of probabilities
HEAD = Path(__file__).parent / "head" / "head.npz"  # what is shipped; its card lies beside it
BY = {"en": "the classifier: ", "zh": "分类器："}  # how a reason begins
Probabilities = NDArray[np.float64]


class Labeller(Protocol):
    """Labels the units of a text.

    Attributes:
        name: how it is told.
    """

    name: str

    def label(self, text: str, first_look: Differential | None) -> tuple[Unit, ...]:
        """Every sentence of the text in order with its label and why. ``first_look``: the graph's, None for none."""


class RulesLabeller:
    """The open rules (`graphs.completeness.labels`)."""

    name = "rules"

    def label(self, text: str, first_look: Differential | None) -> tuple[Unit, ...]:
        """The sentences by the rules."""
        return units(text, first_look)


def open_labeller(method: Method, classifier: Path | None, encoder: Encoder) -> Labeller:
    """The labeller of the settings.

    Args:
        method: ``rules``; ``head``: what lies at ``classifier``, a head or a fine-tuned BERT, else the shipped head;
            ``trained``: the fine-tuned BERT of ``classifier``.

    Raises:
        InputError: ``trained`` without a folder, or a path that holds no such thing.
        DataError: what lies there is damaged, or was made with another encoder.
    """
    if method == "rules":
        return RulesLabeller()
    if method == "head" and (classifier is None or not _fine_tuned(classifier)):
        return HeadLabeller(load_head(_file(classifier) if classifier is not None else HEAD), encoder)
    if classifier is None:
        raise InputError(
            "No trained classifier is named.",
            "Set ANAMNESIS_GATE__CLASSIFIER to a folder of `anamnesis dev gate train`.",
        )
    return BertLabeller(classifier)


def labelled(
    text: str, spans: Sequence[Span], probabilities: Probabilities, weights: Probabilities
) -> tuple[Unit, ...]:
    """Units with the labels that probabilities and weights choose; the reason tells the probabilities.

    Args:
        probabilities: (units, 3), of A, B and C. weights: (3,), by which they are multiplied before the largest counts.
    """
    chosen = (probabilities * weights).argmax(axis=1)
    by, out = BY[language_of(text)], []
    for span, row, n in zip(spans, probabilities, chosen.tolist(), strict=True):
        told = ", ".join(f"{label.value} {share:.2f}" for label, share in zip(LABELS, row.tolist(), strict=True))
        out.append(Unit(text=span.of(text), start=span.start, end=span.end, label=LABELS[n], reason=f"{by}{told}"))
    return tuple(out)


def _fine_tuned(path: Path) -> bool:
    """Whether a path is a folder that holds a classifier and no head."""
    return path.is_dir() and not (path / HEAD.name).is_file()


def _file(path: Path) -> Path:
    """A head's file, given itself or by its folder."""
    return path / HEAD.name if path.is_dir() else path


# What the light head reads of a unit: its meaning, that of the rest of the case, and its part in the first look.
#
# All are ours. Nothing of them needs the diagnosis that is right, so what holds in training holds in use.
Matrix = NDArray[np.float32]

MANY_UNITS, MANY_WORDS, MANY_FINDINGS = 20.0, 20.0, 10.0  # ours: scales at which a count is about 1
BITS = 4.0  # ours: entropy in bits at which a ranking says little
# What follows the two vectors, in order: of the unit, of the case, and of both. A head names them, so that another
# version's is refused.
PLAIN = (
    "first", "position", "words", "redundant", "rule_a", "rule_b", "present", "denied", "surest", "unsure",
    "for_first", "for_second", "for_first_alone", "for_second_alone", "against_first", "against_second",
    "share_of_support", "sole_support", "units", "findings", "margin", "entropy", "lead", "next", "ranked",
    "log_odds", "margin_for_first_alone", "margin_share", "close_and_sole",
)  # fmt: skip


class UnitFeatures:
    """Features of every unit of one case, of one first look-up."""

    def __init__(self, text: str, first_look: Differential | None) -> None:
        self.text, self._look = text, first_look or Differential()
        self.spans: tuple[Span, ...] = sentences(text)
        self.units: tuple[Unit, ...] = by_rules(text, first_look)
        self._lines = [*self._look.ranking[:2], None, None][:2]

    def matrix(self, vectors: Matrix) -> Matrix:
        """Array (units, 2 * dimension + plain features), float32.

        Args:
            vectors: (units, dimension), of the units' texts, of unit length.
        """
        count = len(self.spans)
        if not count:
            return np.zeros((0, 2 * vectors.shape[1] + len(PLAIN)), dtype=np.float32)
        rest = (vectors.sum(axis=0, keepdims=True) - vectors) / max(1, count - 1)
        near = vectors @ vectors.T - 2 * np.eye(count, dtype=np.float32)
        redundant = near.max(axis=1) if count > 1 else np.zeros(count)
        plain = [self._plain(n, float(redundant[n])) for n in range(count)]
        return np.hstack([vectors, rest, np.array(plain, dtype=np.float32)]).astype(np.float32)

    def _plain(self, n: int, redundant: float) -> list[float]:
        span, unit, look = self.spans[n], self.units[n], self._look
        found = [f for f in look.findings if span.start <= f.start < span.end]
        first, second = self._lines
        for_first, for_second = _named(found, first, "for"), _named(found, second, "for")
        all_for_first = _named(look.findings, first, "for")
        share = for_first / all_for_first if all_for_first else 0.0
        alone, other = float(for_first > for_second), float(for_second > for_first)
        scores = [line.score if line is not None else 0.0 for line in self._lines]
        close = 1.0 - look.margin
        return [
            float(n == 0), n / len(self.spans), min(2.0, len(unit.text.split()) / MANY_WORDS), redundant,
            float(unit.label is Label.A), float(unit.label is Label.B),
            min(1.0, sum(f.present is True for f in found) / 3), float(any(f.present is False for f in found)),
            max((f.score for f in found), default=0.0), float(any(f.present is None for f in found)),
            float(for_first > 0), float(for_second > 0), alone, other,
            float(_named(found, first, "against") > 0), float(_named(found, second, "against") > 0),
            share, float(for_first > 0 and for_first == all_for_first),
            len(self.spans) / MANY_UNITS, len(look.findings) / MANY_FINDINGS, look.margin, look.entropy / BITS,
            scores[0], scores[1], float(bool(look.ranking)), _log_odds(scores[0]),
            look.margin * alone, look.margin * share, close * share,
        ]  # fmt: skip


def vectors_of(texts: Sequence[str], encoder: Encoder) -> Matrix:
    """Array (texts, dimension): the units as documents, so that an agent's cache of vectors serves them."""
    if not texts:
        return np.zeros((0, encoder.dimension), dtype=np.float32)
    return encoder.encode_queries(list(texts))


def _named(found: Sequence[Finding], line: RankedDisease | None, side: str) -> int:
    """How many of the findings a line of the ranking names for it, or against it."""
    if line is None:
        return 0
    names = line.findings_for if side == "for" else line.findings_against
    return sum(not set(names).isdisjoint(names_of(f)) for f in found)


def _log_odds(share: float) -> float:
    """Log-odds of a share, bounded, about -1 to 1."""
    bounded = min(0.99, max(0.01, share))
    return math.log(bounded / (1 - bounded)) / 4.6


# The light head in use: a small network over frozen vectors and plain features, by numpy alone.
VERSION = 1  # raised with every change of what the arrays or the features mean
TRAIN_HEAD = (
    "Train one with `anamnesis dev gate train --head`, or leave ANAMNESIS_GATE__CLASSIFIER out for the shipped one."
)
Array = NDArray[np.float32]


@dataclass(frozen=True)
class Head:
    """The weights. F: plain features, D: the encoder's dimension, U and R: what is kept of unit and rest, H: hidden.

    Attributes:
        unit, unit_mean: (D, U), (D,): projection of the unit's vector. rest, rest_mean: the same of the other units'.
        mean, scale: (U + R + F,): by which inputs are made alike.
        hidden, hidden_bias: (U + R + F, H), (H,). out, out_bias: (H, 3), (3,): logits of A, B and C.
        weights: (3,): of the labels (`evals.training.gate_labellers.best_weights`).
        encoder: whose vectors it was trained on.
    """

    unit: Array
    unit_mean: Array
    rest: Array
    rest_mean: Array
    mean: Array
    scale: Array
    hidden: Array
    hidden_bias: Array
    out: Array
    out_bias: Array
    weights: Array
    encoder: str

    def inputs(self, features: Matrix) -> Array:
        """Array (units, U + R + F), made alike, of features (units, 2 D + F)."""
        return (project(self, features) - self.mean) / self.scale

    def probabilities(self, features: Matrix) -> Probabilities:
        """Array (units, 3) of features (units, 2 D + F)."""
        hidden = np.maximum(self.inputs(features) @ self.hidden + self.hidden_bias, 0)
        logits = (hidden @ self.out + self.out_bias).astype(np.float64)
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        normal: Probabilities = shares / shares.sum(axis=1, keepdims=True)
        return normal


class HeadLabeller:
    """Labels by a head. Raises DataError for one that was trained on another encoder's vectors."""

    name = "head"

    def __init__(self, head: Head, encoder: Encoder) -> None:
        if (head.encoder, len(head.unit)) != (encoder.name, encoder.dimension):
            what = f"The head was trained on vectors of {head.encoder}, not of {encoder.name}."
            advice = "Train one with `anamnesis dev gate train --head`, or set ANAMNESIS_GATE__LABELS=rules."
            raise DataError(what, advice)
        self._head, self._encoder = head, encoder

    def label(self, text: str, first_look: Differential | None) -> tuple[Unit, ...]:
        """The sentences by the head."""
        case = UnitFeatures(text, first_look)
        vectors = vectors_of([span.of(text) for span in case.spans], self._encoder)
        found = self._head.probabilities(case.matrix(vectors))
        return labelled(text, case.spans, found, self._head.weights.astype(np.float64))


def project(head: Head, features: Matrix) -> Array:
    """Array (units, U + R + F): what is kept of the two vectors, beside the plain features."""
    size = len(head.unit)
    unit = (features[:, :size] - head.unit_mean) @ head.unit
    rest = (features[:, size : 2 * size] - head.rest_mean) @ head.rest
    return np.hstack([unit, rest, features[:, 2 * size :]]).astype(np.float32)


def load_head(path: Path) -> Head:
    """A head from its file.

    Raises:
        InputError: there is no such file. DataError: it is damaged, or of another version.
    """
    try:
        with np.load(path, allow_pickle=False) as held:
            if int(held["version"]) != VERSION or tuple(held["features"].tolist()) != PLAIN:
                raise DataError(f"The head {path.name} is of another version.", TRAIN_HEAD)
            names = [f.name for f in fields(Head) if f.name != "encoder"]
            arrays = {name: held[name].astype(np.float32) for name in names}
            head = Head(**arrays, encoder=str(held["encoder"]))
    except FileNotFoundError as error:
        raise InputError(f"There is no head {path}.", TRAIN_HEAD) from error
    except (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"The head {path.name} is damaged.", TRAIN_HEAD) from error
    _check(head, path)
    return head


def _check(head: Head, path: Path) -> None:
    """Raise DataError for arrays that do not fit together or hold what is no number."""
    if (head.unit.ndim, head.rest.ndim, head.hidden_bias.ndim) != (2, 2, 1):
        raise DataError(f"The head {path.name} is damaged.", TRAIN_HEAD)
    kept = head.unit.shape[1] + head.rest.shape[1] + len(PLAIN)
    due = {
        "unit_mean": (len(head.unit),),
        "rest": (len(head.unit), head.rest.shape[1]),
        "rest_mean": (len(head.unit),),
        "mean": (kept,),
        "scale": (kept,),
        "hidden": (kept, len(head.hidden_bias)),
        "out": (len(head.hidden_bias), 3),
        "out_bias": (3,),
        "weights": (3,),
    }
    sound = all(getattr(head, name).shape == shape for name, shape in due.items())
    whole = all(bool(np.isfinite(getattr(head, name)).all()) for name in (*due, "unit", "hidden_bias"))
    if not sound or not whole:
        raise DataError(f"The head {path.name} is damaged.", TRAIN_HEAD)


# The fine-tuned classifier in use: a BERT that reads a unit beside its case.
TOKENS = 64  # ours: of the unit and of the case beside it; twice as many take more than twice as long to train
BATCH = 32  # ours: units read at once


class BertLabeller:
    """Labels by the classifier of a folder of `anamnesis dev gate train`. It is loaded at its first use.

    Raises:
        InputError: the folder holds none. DataError: it is damaged.
    """

    name = "trained"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._weights = np.array(read_card(folder, "bert").weights)
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    def label(self, text: str, first_look: Differential | None) -> tuple[Unit, ...]:
        """The sentences by the classifier; it reads the text alone."""
        del first_look
        spans = sentences(text)
        model, tokenizer = self._model()
        pairs = [(span.of(text), text) for span in spans]
        return labelled(text, spans, probabilities(pairs, model, tokenizer), self._weights)

    def _model(self) -> tuple[Any, Any]:
        with self._lock:
            if self._loaded is None:
                self._loaded = load(self._folder)
            return self._loaded


def load(folder: Path) -> tuple[Any, Any]:
    """Model and tokenizer of a folder, from this disk alone; raises DataError where they cannot be read."""
    from safetensors import SafetensorError
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    try:
        with quietly():
            tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
            model = AutoModelForSequenceClassification.from_pretrained(
                str(folder), num_labels=len(LABELS), local_files_only=True
            )
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise DataError(
            f"{folder} holds no BERT that can be read.", "Give a folder of a transformers model."
        ) from error
    return model.eval(), tokenizer


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Without the library's own bars and reports of what it loads; as it was set before afterwards."""
    from transformers.utils import logging as untyped

    logging: Any = untyped
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def encoded(tokenizer: Any, pairs: list[tuple[str, str]], *, tensors: bool) -> Any:
    """Token ids of units, each followed by its case as far as `TOKENS` go; a longer unit is cut too."""
    units, cases = [p[0] for p in pairs], [p[1] for p in pairs]
    return tokenizer(
        units,
        cases,
        truncation="longest_first",
        max_length=TOKENS,
        padding=tensors,
        return_tensors="pt" if tensors else None,
    )


def probabilities(pairs: list[tuple[str, str]], model: Any, tokenizer: Any) -> Probabilities:
    """Array (pairs, 3): probabilities of A, B and C."""
    import torch

    rows = [np.zeros((0, len(LABELS)))]
    for at in range(0, len(pairs), BATCH):
        with torch.inference_mode():
            logits = model(**encoded(tokenizer, pairs[at : at + BATCH], tensors=True)).logits
        rows.append(torch.softmax(logits.double(), dim=-1).numpy())
    return np.vstack(rows)
