"""The next best questions: those whose answer is expected to tell most about the present ranking."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.contract import FollowUpQuestion
from tools.knowledge_graph.questions_gain import Matrix, Outcomes, outcomes
from tools.knowledge_graph.questions_place import FEWEST, PLACE, PlaceOutcomes, elsewhere, places
from tools.knowledge_graph.questions_wording import Rise, askable, bearer, known_to_patients, reason, wording
from tools.knowledge_graph.ranking import Observation, Ranker
from tools.knowledge_graph.schema import Disease, Graph
from tools.knowledge_graph.votes import sigma, typical_nodes
from tools.text.demographics import Person

SMALLEST_GAIN = 0.01  # bits; ours: a question worth less is not asked
ALARMING = 0.1  # ours: belief that a yes must move to emergencies for the reason to say so
SUREST = 0.9  # ours: share of its clause's best score from which a pain is told: a cough is no chest pain
ALARM = 0.5  # ours: a yes that would move all belief to emergencies makes a question worth half as much again


class Standing(NamedTuple):
    """Where a case stands.

    Attributes:
        seen: what the ranking counts. person: age and sex.
        replied: ids of what was asked about, whatever was answered: it is not asked again.
    """

    seen: tuple[Observation, ...]
    person: Person
    replied: frozenset[str] = frozenset()


class Questioner:
    """Chooses questions over one graph.

    Attributes:
        askable: positions of the findings that are asked about at all.
        pains: those of them that asking where it hurts tells apart.
    """

    def __init__(self, graph: Graph, ranker: Ranker) -> None:
        self._graph, self._ranker = graph, ranker
        self._sigma = sigma(graph)
        self._position = {f.id: i for i, f in enumerate(graph.findings)}
        typical = typical_nodes(graph)
        self.askable = [i for i, f in enumerate(graph.findings) if f.id in typical and askable(f)]
        self._known = np.array([known_to_patients(f) for f in graph.findings])
        self.pains = places(graph, self.askable)
        self._elsewhere = elsewhere(graph, self.pains)
        self._bearers = [bearer(f) for f in graph.findings]
        self._emergency = np.array([d.severity == "emergency" for d in graph.diseases])
        self._listed = ranker.table.listed

    def next_questions(self, standing: Standing, language: str, limit: int) -> tuple[FollowUpQuestion, ...]:
        """The best questions, best first: by expected gain, with a preference for what may reveal an emergency."""
        asked = self.open_findings(standing)
        if not asked:
            return ()
        found = outcomes(self._ranker, standing.seen, standing.person, asked)
        worth = found.gain * self._known[asked] * (1 + ALARM * self._alarm(found))
        names = [self._graph.findings[i].id for i in asked]
        order = sorted(range(len(asked)), key=lambda n: (-worth[n], -self._sigma[names[n]], asked[n]))
        chosen: list[int] = []
        for n in order:  # two questions of one family say much the same
            if len(chosen) == limit:
                break
            alone = not any(self._related(names[n], names[m]) for m in chosen)
            if found.gain[n] >= SMALLEST_GAIN and alone:
                chosen.append(n)
        questions = [self._question(asked[n], n, found, standing.person, language) for n in chosen]
        where = self._place(standing, asked)
        if where is not None and where.gain > max((worth[n] for n in chosen), default=0.0):
            questions.insert(0, where.question(self._graph, language, self._located(standing)))
        return tuple(questions[:limit])

    def by_sigma(self, standing: Standing, winners: Collection[str]) -> list[str]:
        """Ids of the open findings of the winning subcategories, highest sigma first (paper; ties by id, ours)."""
        typical = typical_nodes(self._graph)
        inside = [self._graph.findings[i].id for i in self.open_findings(standing)]
        inside = [f for f in inside if typical[f] & set(winners)]
        return sorted(inside, key=lambda f: (-self._sigma[f], f))

    def open_findings(self, standing: Standing) -> list[int]:
        """Positions of the findings that may be asked about.

        They are typical of a disease that this person can have, such a patient can tell them, and the case does not
        settle them: what a stated finding implies and what implies a denied one is settled, and so is what was asked.
        """
        settled = self._settled(standing)
        fits = np.array([_can_have(d, standing.person) for d in self._graph.diseases])
        met = self._listed[fits].any(axis=0)
        return [
            i
            for i in self.askable
            if met[i] and self._graph.findings[i].id not in settled and self._bearers[i].suits(standing.person)
        ]

    def _place(self, standing: Standing, asked: Collection[int]) -> PlaceOutcomes | None:
        """What asking where it hurts would bring; None when it was asked, or few places are left."""
        at = [n for n, i in enumerate(self.pains) if i in asked]
        if PLACE in standing.replied or len(at) < FEWEST:
            return None
        pains = [self.pains[n] for n in at]
        return PlaceOutcomes(self._ranker, standing.seen, standing.person, pains, self._elsewhere[np.ix_(at, at)])

    def _located(self, standing: Standing) -> bool:
        """Whether the case tells of pain in some part of the body."""
        ids = {self._graph.findings[i].id for i in self.pains}
        top: dict[int, float] = {}
        for o in standing.seen:
            top[o.clause] = max(o.score, top.get(o.clause, 0.0))
        sure = (o for o in standing.seen if o.present and o.score >= SUREST * top[o.clause])
        told = (self._graph.findings[o.finding].id for o in sure)
        return any(ids.intersection((f, *self._graph.broader(f))) for f in told)

    def _settled(self, standing: Standing) -> set[str]:
        known = set(standing.replied)
        for o in standing.seen:
            finding = self._graph.findings[o.finding].id
            known.add(finding)
            known.update(self._graph.narrower[finding] if o.present is False else self._graph.broader(finding))
        return known

    def _alarm(self, found: Outcomes) -> Matrix:
        """Array (asked,): how much belief a yes would move to emergencies, 0..1."""
        now, after = found.shares[self._emergency].sum(), found.yes[self._emergency].sum(axis=0)
        moved: Matrix = np.maximum(after - now, 0)
        return moved

    def _related(self, one: str, other: str) -> bool:
        return other in self._graph.broader(one) or one in self._graph.broader(other)

    def _question(self, finding: int, at: int, found: Outcomes, person: Person, language: str) -> FollowUpQuestion:
        node = self._graph.findings[finding]
        rises = [self._most_raised(after[:, at], found.shares, language) for after in (found.yes, found.no)]
        names = dict.fromkeys(r.disease for r in rises)
        return FollowUpQuestion(
            finding=node.id,
            text=wording(node, language, person),
            gain=float(found.gain[at]),
            between=tuple(names) if len(names) == len(rises) else (),
            why=reason(rises[0], rises[1], self._alarming(at, found, language), language),
        )

    def _most_raised(
        self, after: Matrix, before: Matrix, language: str, among: NDArray[np.bool_] | None = None
    ) -> Rise:
        rise = after - before if among is None else np.where(among, after - before, -1.0)
        d = int(rise.argmax())
        disease = self._graph.diseases[d]
        return Rise(disease.zh if language == "zh" else disease.name, float(before[d]), float(after[d]))

    def _alarming(self, at: int, found: Outcomes, language: str) -> Rise | None:
        """The emergency that a yes raises most, when it raises emergencies by `ALARMING` or more."""
        moved = found.yes[self._emergency, at].sum() - found.shares[self._emergency].sum()
        return (
            self._most_raised(found.yes[:, at], found.shares, language, self._emergency) if moved >= ALARMING else None
        )


def _can_have(disease: Disease, person: Person) -> bool:
    """Whether a person's sex and age allow a disease."""
    if person.sex is not None and disease.sex not in ("any", person.sex):
        return False
    return person.age is None or disease.ages.min <= person.age <= disease.ages.max
