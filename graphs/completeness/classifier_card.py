"""The card of a trained classifier: what it was trained on, how, and what it reached. It lies beside the weights."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field, ValidationError

from graphs.completeness.annotation import AnnotatedCase
from prompts.errors import DataError, InputError
from tools.evidence import Frozen
from tools.files import write_atomic

CARD = "card.json"
FORMAT = 1  # raised with every change of what weights mean
ADVICE = "Train it again with `anamnesis gate train`."


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


def data_sha256(cases: Sequence[AnnotatedCase]) -> str:
    """sha256 over texts, references and labels of cases, whatever their order."""
    rows = sorted(hashlib.sha256(case.model_dump_json().encode()).hexdigest() for case in cases)
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def file_sha256(path: Path) -> str:
    """sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_card(folder: Path, card: Card) -> Card:
    """Write the card, with the checksums of the files that it names; last of all, so that what it names is whole."""
    files = {file: file_sha256(folder / file) for file in card.files}
    whole = card.model_copy(update={"files": files})
    write_atomic(folder / CARD, (whole.model_dump_json(indent=1) + "\n").encode())
    return whole


def read_card(folder: Path, kind: str) -> Card:
    """The card of a folder, its files checked.

    Raises:
        InputError: there is no card, or one of another kind.
        DataError: the card or a file is damaged, or of another version.
    """
    try:
        card = Card.model_validate_json((folder / CARD).read_bytes())
    except OSError:
        raise InputError(f"{folder} holds no trained classifier.", "Give a folder of `anamnesis gate train`.") from None
    except ValidationError as error:
        raise DataError(f"The card of {folder} is damaged.", ADVICE) from error
    if card.kind != kind:
        raise InputError(f"{folder} holds a classifier of another kind ({card.kind}).", f"Give one that is a {kind}.")
    if card.format != FORMAT:
        raise DataError(f"The classifier of {folder} is of another version.", ADVICE)
    for name, sha256 in card.files.items():
        if not (folder / name).is_file() or file_sha256(folder / name) != sha256:
            raise DataError(f"{name} of {folder} is missing or damaged.", ADVICE)
    return card
