"""MedCPT's cross-encoder: a score of each article for a query, both read together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tools.encoders import medcpt_paths
from tools.encoders_on_disk import PAIR_TOKENS, forward, load_pretrained
from tools.text.within_tokens import within_tokens

Scores = NDArray[np.float32]
QUERY_TOKENS = 192  # ours: of the 512, so that an average abstract is still read beside a part of a long query


class MedCPTReranker:
    """The cross-encoder from a folder on disk or the hub cache: 512 tokens for query and article together.

    Source: Jin et al. 2023, Bioinformatics 39(11). Nothing is cut silently: a longer article is scored by its best
    window, a query longer than 192 tokens by the mean over its parts.

    Raises DataError when the model is not on this machine.
    """

    name = "MedCPT's cross-encoder"
    limit = 512

    def __init__(self, path: str) -> None:
        self._pair = load_pretrained(path, "AutoModelForSequenceClassification")

    def rerank(self, query: str, articles: Sequence[str]) -> Scores:
        """Array (len(articles),) of logits: higher is more relevant."""
        questions = self._pieces(query, QUERY_TOKENS)
        scores = np.stack([self._scores(question, articles) for question in questions])
        mean: Scores = scores.mean(axis=0, dtype=np.float32)
        return mean

    def _scores(self, question: str, articles: Sequence[str]) -> Scores:
        room = self.limit - PAIR_TOKENS - self._count([question])[0]
        windows = [self._pieces(article, room) for article in articles]
        pairs = [(question, window) for group in windows for window in group]
        logits = np.empty(len(pairs), dtype=np.float32)
        for rows, output in forward(self._pair, pairs, self.limit):
            logits[rows] = output.logits[:, 0].float().numpy()
        ends = np.cumsum([0, *(len(group) for group in windows)])
        best = [logits[start:end].max() for start, end in pairwise(ends.tolist())]
        return np.array(best, dtype=np.float32)

    def _pieces(self, text: str, limit: int) -> list[str]:
        return [span.of(text) for span in within_tokens(text, limit, self._count)] or [text]

    def _count(self, texts: Sequence[str]) -> list[int]:
        tokenizer: Any = self._pair[0]
        return [len(tokenizer.encode(text, add_special_tokens=False, verbose=False)) for text in texts]


def load_reranker(encoder_setting: str) -> MedCPTReranker | None:
    """The cross-encoder that a setting names (``medcpt`` or ``medcpt:QUERY,ARTICLE,CROSS``); None when it names none.

    Raises InputError for a bad setting, DataError when the model is not on this machine.
    """
    if encoder_setting != "medcpt" and not encoder_setting.startswith("medcpt:"):
        return None
    path = medcpt_paths(encoder_setting)[2]
    return MedCPTReranker(path) if path else None
