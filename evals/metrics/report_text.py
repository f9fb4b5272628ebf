"""Overlap of a text with a reference: BLEU, ROUGE-1, ROUGE-2, ROUGE-L and METEOR, each 0..1 for one pair of texts.

Words are lower-case runs of letters and digits; each Chinese character is a word. BLEU (Papineni et al. 2002) is
nltk's, with four n-grams and its first smoothing (Chen and Cherry 2014), because short texts share no four words.
ROUGE (Lin 2004) is the F measure, without stemming. METEOR (Lavie and Agarwal 2007) is nltk's, with exact words and
stems: its third stage needs WordNet, which is not shipped, so that synonyms do not count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

WORD = re.compile(r"[^\W_\u4e00-\u9fff]+|[\u4e00-\u9fff]")


def text_scores(text: str, reference: str) -> dict[str, float]:
    """Every measure by its name; all 0 where one of the texts has no words."""
    said, wanted = words(text), words(reference)
    if not said or not wanted:
        return dict.fromkeys(("bleu", "rouge_1", "rouge_2", "rouge_l", "meteor"), 0.0)
    return {
        "bleu": bleu(said, wanted),
        "rouge_1": rouge_n(said, wanted, 1),
        "rouge_2": rouge_n(said, wanted, 2),
        "rouge_l": f_measure(longest_common(said, wanted), len(said), len(wanted)),
        "meteor": meteor(said, wanted),
    }


def words(text: str) -> list[str]:
    """The words of a text, in order."""
    return WORD.findall(text.lower())


def bleu(said: Sequence[str], wanted: Sequence[str]) -> float:
    """BLEU-4 of one text."""
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    return float(sentence_bleu([list(wanted)], list(said), smoothing_function=SmoothingFunction().method1))


def rouge_n(said: Sequence[str], wanted: Sequence[str], n: int) -> float:
    """The F measure over n-grams, each counted as often as both texts have it; 0 where a text has none."""
    left, right = _grams(said, n), _grams(wanted, n)
    return f_measure((left & right).total(), left.total(), right.total())


def f_measure(shared: int, said: int, wanted: int) -> float:
    """Harmonic mean of precision and recall, 0..1; 0 where nothing is shared."""
    return 2 * shared / (said + wanted) if shared else 0.0


def longest_common(left: Sequence[str], right: Sequence[str]) -> int:
    """Length of the longest common subsequence."""
    row = [0] * (len(right) + 1)
    for word in left:
        diagonal = 0
        for at, other in enumerate(right, start=1):
            above = row[at]
            row[at] = diagonal + 1 if word == other else max(above, row[at - 1])
            diagonal = above
    return row[-1]


def meteor(said: Sequence[str], wanted: Sequence[str]) -> float:
    """METEOR without synonyms."""
    from nltk.translate.meteor_score import single_meteor_score

    return float(single_meteor_score(list(wanted), list(said), wordnet=_NoSynonyms()))


def _grams(found: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(found[at:] for at in range(n)), strict=False))


class _NoSynonyms:
    """In place of WordNet: no word has a synonym."""

    def synsets(self, word: str) -> list[Any]:
        """None."""
        del word
        return []
