"""The fine-tuned classifier in use: a BERT that reads a unit beside its case."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from graphs.completeness.classifier import LABELS, Probabilities, labelled
from graphs.completeness.classifier_card import read_card
from graphs.completeness.contract import Unit
from prompts.errors import DataError
from tools.contract import Differential
from tools.text.sentences import sentences

TOKENS = 64  # ours: of the unit and of the case beside it; twice as many take more than twice as long to train
BATCH = 32  # ours: units read at once


class BertLabeller:
    """Labels by the classifier of a folder of `anamnesis gate train`. It is loaded at its first use.

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
