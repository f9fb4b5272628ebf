"""Clauses of a case to findings of the graph: embedding similarity, shared words, body site, who and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tools.encoders import Encoder, Vectors
from tools.knowledge_graph.compiled import CompiledGraph
from tools.knowledge_graph.lexicon import Lexicon, characters, poles, words
from tools.knowledge_graph.schema import FindingNode
from tools.knowledge_graph.units import Unit, units_of
from tools.text import negation
from tools.text.body_sites import compatible, sites
from tools.text.clauses import Clause
from tools.text.language import HAN, language_of

TOP_M = 5  # code: m, the matches kept a feature
THRESHOLD = 0.5  # code: t, a match counts strictly above it
# ours: similarity of unrelated and of equal wordings in the embedded encoder, between which confidence rises
SIMILARITY_LOW, SIMILARITY_HIGH = 0.45, 0.85
GAIN = 0.05  # ours: what clauses read together must add to the score that each has alone
RIVAL = 0.1  # ours: cosine behind the best finding of a text at which confidence in another falls to 1/e
OPPOSITE = 0.3  # ours: a wording at the other end of a scale (fast, slow), against one at the same
LATE = 0.35  # ours: a symptom told of the past, against one of today
CONTAINED = 0.97  # ours: confidence when every word of a wording stands in the clause, near each other
SCATTERED = 0.75  # ours: the most that words which stand apart are worth
AGREE = 0.75  # ours: what the weaker of two kinds of evidence adds to half of the stronger
ALL = 0.999  # every word, within rounding
Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Match:
    """A finding that a clause may tell of.

    Attributes:
        clause: position of the clause. finding: position of the finding in ``graph.findings``.
        score: confidence, 0..1. similarity: cosine of the encoder (the method's own sim).
        present: True stated, False denied, None uncertain.
    """

    clause: int
    finding: int
    score: float
    similarity: float
    present: bool | None


class Matcher:
    """Matches clauses against one compiled graph.

    Args:
        compiled: the graph and the vectors of its phrases.
        encoder: the encoder that made those vectors.
    """

    def __init__(self, compiled: CompiledGraph, encoder: Encoder) -> None:
        self._graph = compiled.graph
        self._encoder = encoder
        self._vectors = compiled.vectors
        owner = np.array(compiled.owner)
        self._starts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
        held = [words(p) for p in compiled.phrases]
        self._lexicon = Lexicon(held)
        self._poles = np.array([poles(p) for p in held], dtype=np.int8)
        self._raw = {i: p.lower() for i, p in enumerate(compiled.phrases) if len(held[i]) == 1 and " " in p}
        self._negative = np.array([negation.is_negative_phrase(p) for p in compiled.phrases])
        chinese = [(p, i) for i, f in enumerate(self._graph.findings) for p in (f.zh, *f.say_zh)]
        self._zh = [characters(p) for p, _ in chinese]
        self._zh_joined = ["".join(_folded(p)) for p, _ in chinese]
        self._zh_lexicon = Lexicon(self._zh)
        self._zh_negative = np.array([negation.chinese_negation(p) is not None for p, _ in chinese])
        zh_owner = np.array([i for _, i in chinese])
        self._zh_starts = np.flatnonzero(np.r_[True, zh_owner[1:] != zh_owner[:-1]])
        findings = self._graph.findings
        self._sites = [frozenset({f.site} if f.site else ()) | sites(f.name) for f in findings]
        self._fits: dict[frozenset[str], Matrix] = {}
        self._of_others = np.array([_about_others(f) for f in findings])
        self._of_family = np.array(["family" in f.id.split("-") for f in findings])
        self._measured = np.array([f.kind in ("symptom", "sign") for f in findings])
        self._lasting = np.array([f.kind in ("history", "exposure", "habit") for f in findings])
        self._never = np.array([f.is_therapy for f in findings])

    def match(self, clauses: Sequence[Clause]) -> list[Match]:
        """For each clause its best findings, best first, at most `TOP_M`, whatever their score (above 0).

        Denied clauses give matches with ``present`` False, except for wordings that are negative themselves.
        """
        units = units_of(clauses)
        if not units:
            return []
        similarity = self._similarity(units)
        scores, positive, sims = self._by_clause(clauses, units, similarity)
        out: list[Match] = []
        for c, clause in enumerate(clauses):
            for f in np.argsort(-scores[c], kind="stable")[:TOP_M]:
                if scores[c, f] <= 0:
                    break
                stated = clause.present if not positive[c, f] else True
                out.append(Match(c, int(f), float(scores[c, f]), float(sims[c, f]), stated))
        return out

    def _similarity(self, units: Sequence[Unit]) -> Matrix:
        told = [u.text for u in units]
        vectors: Vectors = self._encoder.encode_queries(told)
        return np.asarray(vectors @ self._vectors.T, dtype=np.float32)

    def _by_clause(
        self, clauses: Sequence[Clause], units: Sequence[Unit], similarity: Matrix
    ) -> tuple[Matrix, NDArray[np.bool_], Matrix]:
        shape = (len(clauses), len(self._graph.findings))
        scores, sims = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        positive = np.zeros(shape, bool)
        for unit, row in sorted(zip(units, similarity, strict=True), key=lambda pair: len(pair[0].members)):
            score, sim = self._score(unit, row, clauses[unit.clause])
            alone = np.max([scores[c] for c in unit.members], axis=0) if len(unit.members) > 1 else scores[unit.clause]
            better = score > alone + (GAIN if len(unit.members) > 1 else 0)
            scores[unit.clause][better] = score[better]
            positive[unit.clause][better] = unit.negated
            np.maximum(sims[unit.clause], sim, out=sims[unit.clause])
        return scores, positive, sims

    def _score(self, unit: Unit, cosine: Matrix, clause: Clause) -> tuple[Matrix, Matrix]:
        """Confidence and similarity of every finding for one unit."""
        if language_of(unit.text) == "zh":
            score = np.maximum.reduceat(self._chinese(unit), self._zh_starts)
            sim = score
        else:
            phrase = self._english(unit, cosine)
            score = np.maximum.reduceat(phrase, self._starts)
            sim = np.maximum.reduceat(cosine, self._starts)
        allowed = (
            self._fitting(unit.sites or clause.sites)
            * ~self._never
            * (self._of_others if clause.other else ~self._of_family)
        )
        if clause.reading:
            allowed = allowed * self._measured
        weight = np.where(self._lasting, 1.0, LATE) if clause.past else np.float32(1.0)
        return (score * allowed * weight * unit.weight).astype(np.float32), sim * allowed

    def _fitting(self, told: frozenset[str]) -> Matrix:
        known = self._fits.get(told)
        if known is None:
            known = np.array([compatible(told, at) for at in self._sites], dtype=np.float32)
            self._fits[told] = known
        return known

    def _english(self, unit: Unit, cosine: Matrix) -> Matrix:
        said_words = words(unit.text)
        held, said = self._lexicon.coverage(said_words)
        behind = np.clip(cosine.max() - cosine - GAIN, 0, None)
        semantic = np.clip((cosine - SIMILARITY_LOW) / (SIMILARITY_HIGH - SIMILARITY_LOW), 0, 1) * np.exp(
            -behind / RIVAL
        )
        lexical = _partly(held, said)
        whole = self._lexicon.contained(said_words, np.flatnonzero(held > ALL))
        lexical = np.minimum(lexical, SCATTERED)
        lexical[[i for i in whole if self._raw.get(i, "") in unit.text.lower()]] = CONTAINED
        weaker, stronger = np.minimum(semantic, lexical), np.maximum(semantic, lexical)
        together = np.maximum(stronger, 0.5 * stronger + AGREE * weaker)
        opposite = (self._poles * np.array(poles(said_words), dtype=np.int8)).min(axis=1) < 0
        together = together * np.where(opposite, OPPOSITE, 1.0)
        fits = self._negative if unit.negated else (~self._negative | unit.negative)
        score: Matrix = np.clip(together, 0, 1).astype(np.float32) * fits
        return score

    def _chinese(self, unit: Unit) -> Matrix:
        held, said = self._zh_lexicon.coverage(characters(unit.text))
        folded = "".join(_folded(unit.text))
        whole = np.array([p in folded for p in self._zh_joined])
        score = np.where(whole, CONTAINED, _partly(held, said))
        fits = self._zh_negative if unit.negated else (~self._zh_negative | unit.negative)
        return score.astype(np.float32) * fits


def _partly(held: Matrix, said: Matrix) -> Matrix:
    """Confidence from shared words (ours): a wording half told is worth a third, less when much else is said."""
    score: Matrix = held**1.5 * (0.55 + 0.45 * said)
    return score


def _folded(text: str) -> list[str]:
    """The Chinese characters of a text, synonyms folded, bigrams joined again."""
    grams = characters(text)
    return [g[0] for g in grams[:-1]] + grams[-1:] if grams else [""]


def _about_others(finding: FindingNode) -> bool:
    """Whether a clause about somebody else may tell of this finding: exposures and family history."""
    if finding.relation == "exposure" or "family" in finding.id.split("-"):
        return True
    return any(negation.OTHER.search(p) for p in (finding.name, *finding.say)) and not HAN.search(finding.name)
