"""Who labels the units of a case: open rules, the light head, or a classifier that was fine-tuned here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from graphs.completeness.contract import Label, Unit
from graphs.completeness.labels import units
from prompts.errors import InputError
from tools.contract import Differential
from tools.encoders import Encoder
from tools.text.language import language_of
from tools.text.sentences import Span

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
        from graphs.completeness.classifier_head import HeadLabeller, load_head

        return HeadLabeller(load_head(_file(classifier) if classifier is not None else HEAD), encoder)
    if classifier is None:
        raise InputError(
            "No trained classifier is named.", "Set ANAMNESIS_GATE__CLASSIFIER to a folder of `anamnesis gate train`."
        )
    from graphs.completeness.classifier_bert import BertLabeller

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
