"""BERTScore (Zhang et al. 2020): each token's nearest token of the other text by the vectors of a model on disk.

Without weights by rarity and without rescaling by a baseline. A text longer than the model reads is read in windows.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic_settings import BaseSettings, SettingsConfigDict

from prompts.errors import InputError

if TYPE_CHECKING:
    import torch

LONGEST = 512  # code: positions of BERT, for a tokenizer that does not say how much its model reads
MODEL = "ANAMNESIS_EVAL_BERTSCORE"


class BertScoreSettings(BaseSettings):
    """``ANAMNESIS_EVAL_BERTSCORE``: the folder of a model as transformers saves it; empty for none."""

    model_config = SettingsConfigDict(env_prefix="ANAMNESIS_EVAL_", env_file=".env", extra="ignore")

    bertscore: str = ""


class Scored(NamedTuple):
    """Precision, recall and their harmonic mean, each -1..1 and in practice 0..1."""

    precision: float
    recall: float
    f1: float


class BertScore:
    """Scores pairs of texts with a model.

    Args:
        folder: of the model and its tokenizer; nothing is downloaded.

    Raises:
        InputError: the folder is missing or holds no such model.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise InputError(f"There is no model folder {folder}.", f"Name one that is there in {MODEL}.")
        from transformers import AutoModel, AutoTokenizer

        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
            self._model: Any = AutoModel.from_pretrained(str(folder), local_files_only=True).eval()
        except (OSError, ValueError, KeyError) as error:
            what = f"{folder} holds no model that can be opened."
            raise InputError(what, f"Give a folder as transformers saves it in {MODEL}.") from error
        positions = getattr(self._model.config, "max_position_embeddings", LONGEST)
        # Two positions are for the tokens around a text; RoBERTa counts its own from 2, which two more make up for.
        self._window = min(int(positions), LONGEST) - 4

    def score(self, text: str, reference: str) -> Scored:
        """The score of a text against a reference; all 0 where one of them has no tokens."""
        said, wanted = self._vectors(text), self._vectors(reference)
        if not len(said) or not len(wanted):
            return Scored(0.0, 0.0, 0.0)
        near = said @ wanted.T
        precision, recall = float(near.max(dim=1).values.mean()), float(near.max(dim=0).values.mean())
        total = precision + recall
        return Scored(precision, recall, 2 * precision * recall / total if total > 0 else 0.0)

    def _vectors(self, text: str) -> torch.Tensor:
        """Array (tokens, hidden), normalised; the tokens around each window are left out."""
        import torch

        ids = self._tokenizer(text, add_special_tokens=False, truncation=False, verbose=False)["input_ids"]
        parts = []
        for at in range(0, len(ids), self._window):
            piece = ids[at : at + self._window]
            before, after = self._around()
            with torch.inference_mode():
                hidden = self._model(input_ids=torch.tensor([[*before, *piece, *after]])).last_hidden_state[0]
            parts.append(hidden[len(before) : len(before) + len(piece)].float())
        if not parts:
            return torch.zeros((0, 1))
        return torch.nn.functional.normalize(torch.cat(parts), dim=-1)

    def _around(self) -> tuple[list[int], list[int]]:
        """The tokens that the model expects before and after a text."""
        first, last = self._tokenizer.cls_token_id, self._tokenizer.sep_token_id
        return ([first] if first is not None else []), ([last] if last is not None else [])


def open_bertscore(folder: str | None = None) -> BertScore | None:
    """The scorer of the settings; None when they name no model. Raises InputError for a folder without one."""
    named = BertScoreSettings().bertscore if folder is None else folder
    return BertScore(Path(named).expanduser()) if named else None
