"""The light head in use: a small network over frozen vectors and plain features, by numpy alone."""

from __future__ import annotations

import io
import zipfile
import zlib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphs.completeness.classifier import Probabilities, labelled
from graphs.completeness.classifier_features import PLAIN, CaseFeatures, Matrix, vectors_of
from graphs.completeness.contract import Unit
from prompts.errors import DataError, InputError
from tools.contract import Differential
from tools.encoders import Encoder

VERSION = 1  # raised with every change of what the arrays or the features mean
ADVICE = "Train one with `anamnesis gate train --head`, or leave ANAMNESIS_GATE__CLASSIFIER out for the shipped one."
Array = NDArray[np.float32]


@dataclass(frozen=True)
class Head:
    """The weights. F: plain features, D: the encoder's dimension, U and R: what is kept of unit and rest, H: hidden.

    Attributes:
        unit, unit_mean: (D, U), (D,): projection of the unit's vector. rest, rest_mean: the same of the other units'.
        mean, scale: (U + R + F,): by which inputs are made alike.
        hidden, hidden_bias: (U + R + F, H), (H,). out, out_bias: (H, 3), (3,): logits of A, B and C.
        weights: (3,): of the labels (`graphs.completeness.classifier_metrics.best_weights`).
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
            raise DataError(what, "Train one with `anamnesis gate train --head`, or set ANAMNESIS_GATE__LABELS=rules.")
        self._head, self._encoder = head, encoder

    def label(self, text: str, first_look: Differential | None) -> tuple[Unit, ...]:
        """The sentences by the head."""
        case = CaseFeatures(text, first_look)
        vectors = vectors_of([span.of(text) for span in case.spans], self._encoder)
        found = self._head.probabilities(case.matrix(vectors))
        return labelled(text, case.spans, found, self._head.weights.astype(np.float64))


def project(head: Head, features: Matrix) -> Array:
    """Array (units, U + R + F): what is kept of the two vectors, beside the plain features."""
    size = len(head.unit)
    unit = (features[:, :size] - head.unit_mean) @ head.unit
    rest = (features[:, size : 2 * size] - head.rest_mean) @ head.rest
    return np.hstack([unit, rest, features[:, 2 * size :]]).astype(np.float32)


def save_head(head: Head) -> bytes:
    """The file's content: matrices in half precision (ours: 200 KB at most)."""
    arrays: dict[str, Any] = {f.name: getattr(head, f.name) for f in fields(head) if f.name != "encoder"}
    arrays = {name: a.astype(np.float16) if a.ndim == 2 else a for name, a in arrays.items()}
    told = {"version": np.array(VERSION), "encoder": np.array(head.encoder), "features": np.array(PLAIN)}
    out = io.BytesIO()
    save: Any = np.savez_compressed
    save(out, **arrays, **told)
    return out.getvalue()


def load_head(path: Path) -> Head:
    """Read what `save_head` gave.

    Raises:
        InputError: there is no such file. DataError: it is damaged, or of another version.
    """
    try:
        with np.load(path, allow_pickle=False) as held:
            if int(held["version"]) != VERSION or tuple(held["features"].tolist()) != PLAIN:
                raise DataError(f"The head {path.name} is of another version.", ADVICE)
            names = [f.name for f in fields(Head) if f.name != "encoder"]
            arrays = {name: held[name].astype(np.float32) for name in names}
            head = Head(**arrays, encoder=str(held["encoder"]))
    except FileNotFoundError as error:
        raise InputError(f"There is no head {path}.", ADVICE) from error
    except (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"The head {path.name} is damaged.", ADVICE) from error
    _check(head, path)
    return head


def _check(head: Head, path: Path) -> None:
    """Raise DataError for arrays that do not fit together or hold what is no number."""
    if (head.unit.ndim, head.rest.ndim, head.hidden_bias.ndim) != (2, 2, 1):
        raise DataError(f"The head {path.name} is damaged.", ADVICE)
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
        raise DataError(f"The head {path.name} is damaged.", ADVICE)
