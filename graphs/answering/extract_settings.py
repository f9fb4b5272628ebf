"""The numbers of the extractive answer."""

from __future__ import annotations

from tools.evidence import Frozen


class ExtractSettings(Frozen):
    """Settings of the extractive answer. All ours.

    Attributes:
        limit: statements at most, qualifying sentences left out of the count.
        pool: ranked sentences that are scored.
        document: weight of its document, title and best piece, in the relevance of a sentence.
        elsewhere: weight of a sentence that is not about what the question names, where another is.
        floor: relevance from which a sentence may be stated.
        lead: relevance that the best sentence needs, else nothing was found.
        band: how far below the best sentence a further one may lie.
        answered: similarity from which an answered question leads. near: from which its span competes.
        asked: bonus of such a span: a question that asks nearly the same has it for an answer.
        same: share of words from which two sentences say the same.
    """

    limit: int = 6
    pool: int = 24
    document: float = 0.3
    elsewhere: float = 0.8
    floor: float = 0.36
    lead: float = 0.36
    band: float = 0.30
    answered: float = 0.75
    near: float = 0.55
    asked: float = 0.04
    same: float = 0.75
