"""The numbers of the extractive answer."""

from __future__ import annotations

import math

from tools.evidence import Frozen


class Fit(Frozen):
    """Chance that a document is the one that answers a question: a logistic regression. Ours, from 364 questions.

    Attributes:
        piece: weight of its best piece, by meaning. beginning: that of its beginning. words: that of the share of the
            question's words that it holds, by rarity among the documents found. bias: its constant.
    """

    piece: float = 6.17
    beginning: float = 3.71
    words: float = 2.0
    bias: float = -6.73

    def __call__(self, piece: float, beginning: float, words: float) -> float:
        """The chance, 0..1, from three values 0..1."""
        told = self.piece * piece + self.beginning * beginning + self.words * words + self.bias
        return 1 / (1 + math.exp(-told))


class ExtractSettings(Frozen):
    """Settings of the extractive answer. All ours.

    Attributes:
        limit: statements at most, qualifying sentences left out of the count.
        pool: ranked sentences that are scored.
        fit: of a whole document. whole: its weight beside that of the sentence, where texts are quoted as an answer.
        prepared: least chance that a document fits which has an answered question that leads (of ours 69 of 91 fitted).
        named: least fit of a document that holds every name of the query that the encoder does not know.
        document: weight of its document, title and best piece, in the relevance of a sentence.
        elsewhere: weight of a sentence that is not about what the question names, where another is.
        floor: relevance from which a sentence may be stated.
        lead: what a sentence needs with its document's fit to be stated; where the best has less nothing was found.
        band: how far below the best sentence a further one may lie.
        answered: similarity from which an answered question leads. near: from which its span competes.
        asked: bonus of such a span, and of a document with a sentence that the judge of closed questions names.
        same: share of words from which two sentences say the same.
    """

    limit: int = 6
    pool: int = 24
    fit: Fit = Fit()
    whole: float = 0.5
    prepared: float = 0.76
    named: float = 0.5
    document: float = 0.3
    elsewhere: float = 0.8
    floor: float = 0.36
    lead: float = 0.34
    band: float = 0.30
    answered: float = 0.75
    near: float = 0.55
    asked: float = 0.04
    same: float = 0.75
