"""The one question that is answered by a place: where it hurts (ours).

A patient who is asked where it hurts names every place at once, which yes-or-no questions take many turns to learn.
What is named is read from the words like any other text; the pains of other places are then taken as denied.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tools.contract import FollowUpQuestion
from tools.knowledge_graph.questions_gain import Matrix, after_denial, after_statement, entropy, out_of_silence
from tools.knowledge_graph.questions_wording import Rise, percent
from tools.knowledge_graph.ranking import Observation, Ranker, shares_of
from tools.knowledge_graph.schema import Graph
from tools.text.body_sites import compatible, sites
from tools.text.demographics import Person
from tools.text.radiation import tells_of_spreading

PLACE = "pain-place"  # the id under which the question is answered; no finding of a graph
FEWEST = 3  # ours: with fewer places left, yes-or-no questions do
NAMED = 3  # ours: places that the reason names
_PAIN = re.compile(r"\b(?:pain|painful|sore|\w*aches?)\b", re.IGNORECASE)
_WHEN = re.compile(r"\b(?:on|before|during|after|when|with)\b", re.IGNORECASE)  # a pain told by its time is no place
_ASK = {
    False: {"en": "Where do you have pain, if anywhere?", "zh": "您哪里疼痛？（没有疼痛请回答“没有”）"},
    True: {"en": "Where else do you have pain, if anywhere?", "zh": "您还有哪里疼痛？（没有请回答“没有”）"},
}
_WHY = {
    "en": ("{finding} would make {disease} more likely ({change})", "; ", "."),
    "zh": ("{finding}会使{disease}的可能性上升（{change}）", "；", "。"),
}


def places(graph: Graph, askable: Sequence[int]) -> tuple[int, ...]:
    """Positions of the pains of one part of the body that are no kind of another: what the question tells apart."""
    out = []
    for i in askable:
        finding = graph.findings[i]
        local = finding.site not in (None, "skin", "whole-body") and finding.broader is None
        pain = finding.kind == "symptom" and _PAIN.search(finding.name) and not _WHEN.search(finding.name)
        if local and pain and not tells_of_spreading(finding.name):
            out.append(i)
    return tuple(out)


def elsewhere(graph: Graph, pains: Sequence[int]) -> NDArray[np.bool_]:
    """Array (pains, pains): whether a pain lies in another part of the body than the one that is named."""
    at = [frozenset({graph.findings[i].site or ""}) | sites(graph.findings[i].name) for i in pains]
    return np.array([[not compatible(named, other) for other in at] for named in at], dtype=bool)


class PlaceOutcomes:
    """What the answers to the question would make of the ranking: each place alone, and none.

    Args:
        asked: positions of the pains that are open. apart: (asked, asked), see `elsewhere`.
    """

    def __init__(
        self,
        ranker: Ranker,
        seen: Sequence[Observation],
        person: Person,
        asked: Sequence[int],
        apart: NDArray[np.bool_],
    ) -> None:
        self.asked = np.asarray(asked, dtype=np.int64)
        now = ranker.log_scores(seen, person)
        self.shares = shares_of(now)
        denied, stated = after_denial(ranker, seen, self.asked), after_statement(ranker, seen, self.asked)
        self.none = shares_of(now + denied.sum(axis=1) + out_of_silence(ranker, seen, self.asked))
        heard = [out_of_silence(ranker, seen, self.asked[apart[n] | (self.asked == i)]) for n, i in enumerate(asked)]
        self.named = shares_of(now[:, None] + stated + denied @ apart.T + np.stack(heard, axis=1))
        rate = ranker.table.present[:, self.asked]
        no_pain = np.prod(1 - rate, axis=1)
        self._p_none = float(self.shares @ no_pain)
        self._p_named: Matrix = self.shares @ (rate / rate.sum(axis=1, keepdims=True) * (1 - no_pain)[:, None])

    @property
    def gain(self) -> float:
        """Expected fall of entropy in bits, when one place or none is named."""
        left = self._p_none * entropy(self.none) + (self._p_named * entropy(self.named)).sum()
        return float(entropy(self.shares) - left)

    def question(self, graph: Graph, language: str, located: bool) -> FollowUpQuestion:
        """The question; ``located``: a pain is known already, so others are asked for."""
        form, join, end = _WHY["zh" if language == "zh" else "en"]
        told = []
        for at in np.argsort(-self._p_named, kind="stable")[:NAMED]:
            finding, d = graph.findings[self.asked[at]], int((self.named[:, at] - self.shares).argmax())
            rise = Rise(graph.diseases[d].zh, float(self.shares[d]), float(self.named[d, at]))
            name, disease = finding.zh, rise.disease
            if language != "zh":
                name, disease = finding.name[:1].upper() + finding.name[1:], graph.diseases[d].name
            told.append(form.format(finding=name, disease=disease, change=percent(rise, language)))
        text = _ASK[located]["zh" if language == "zh" else "en"]
        return FollowUpQuestion(finding=PLACE, text=text, gain=self.gain, why=join.join(told) + end)


def denied_places(
    graph: Graph, pains: Sequence[int], seen: Sequence[Observation], answered: bool | None
) -> list[Observation]:
    """The pains that an answer leaves out: those of other parts of the body than any pain that the case states.

    Args:
        answered: True when places were named, False when there is no pain, None when it is not known.
    """
    ids = [graph.findings[i].id for i in pains]
    stated = {graph.findings[o.finding].id for o in seen if o.present is not False}
    stated |= {above for f in tuple(stated) for above in graph.broader(f)}
    named = np.array([f in stated for f in ids], dtype=bool)
    if answered is None or (answered and not named.any()):  # a place that the graph does not know denies none
        return []
    left = elsewhere(graph, pains)[named].all(axis=0)
    settled = {o.finding for o in seen}
    free = max((o.clause for o in seen), default=-1) + 1
    return [Observation(i, 1.0, False, free + n) for n, i in enumerate(pains) if left[n] and i not in settled]
