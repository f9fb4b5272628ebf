"""The next best questions: those whose answer is expected to tell most about the present ranking."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.contract import FollowUpQuestion
from tools.knowledge_graph.ranking import SECOND, Observation, Ranker, shares_of
from tools.knowledge_graph.schema import Disease, FindingNode, Graph
from tools.knowledge_graph.votes import sigma, typical_nodes
from tools.text.body_sites import compatible, sites, tells_of_spreading
from tools.text.demographics import Person
from tools.yaml_files import read_yaml

# Questions in a patient's words, in English and Chinese, what a patient can answer, and why a question is asked.

# ours: what only an examination shows, by the question's own words
EXAMINED = re.compile(r"\b(?:doctor|examin\w+|tapp\w+|ear canal|been (?:seen|felt)|someone moves)\b", re.IGNORECASE)
AT_HOME = re.compile(
    r"\b(?:pregnancy test|peak flow|inhaler)\b", re.IGNORECASE
)  # ours: tests that people do themselves
# ours: questions about a part of the body, or a state of it, that only one sex has
OF_MEN = re.compile(r"\b(?:testic\w+|scrot\w+|prostate|penis)\b", re.IGNORECASE)
OF_WOMEN = re.compile(r"\b(?:pregnan\w+|periods?|menstr\w+|vagina\w*|womb|contracepti\w+)\b", re.IGNORECASE)
ADULT = Person()
SPEAKS, CHILD = 3.0, 12.0  # ours: years from which a child tells what it feels, and answers for itself
FELT = re.compile(  # ours: what only its bearer knows
    r"\b(?:pain\w*|\w*aches?|hurts?|sore|itch\w*|nausea|sick|dizz\w*|numb\w*|tingl\w*|\w*burns?|taste|smell|vision|feel\w*|"
    r"spinning|ringing|cramps?|tender\w*|tired\w*|worr\w*|sad\w*|hopeless)\b",
    re.IGNORECASE,
)
OF_ADULTS = re.compile(  # ours: what no child is asked
    r"\b(?:pregnan\w*|given birth|breast\w*|periods?|menstr\w*|menopaus\w*|contracepti\w*|sex\w*|smok\w*|alcohol\w*|"
    r"erecti\w*)\b",
    re.IGNORECASE,
)
LITTLE = 0.005  # ours: a change of share below half a percent is none
WORDS: dict[str, Any] = read_yaml(Path(__file__).with_name("questions.yaml"))
OF_A_CHILD = [(re.compile(pattern), into) for pattern, into in WORDS["of_a_child"]]


class Rise(NamedTuple):
    """The disease that an answer raises most, with its share of belief before and after, 0..1."""

    disease: str
    before: float
    after: float


# Ours: how readily a patient knows the answer, against a symptom; the best of a coarse search on the 98 training
# patients of DDXPlus, so it also reflects what that release records.
KNOWN = {"symptom": 1.0, "history": 0.5, "habit": 0.5, "sign": 0.3, "exposure": 0.3, "test": 0.3}
NARROWER_KNOWN = 0.5  # ours, found likewise: of what is a kind of another finding


def known_to_patients(finding: FindingNode) -> float:
    """How readily a patient knows it, 0..1: the chance of an answer other than "I don't know", against a symptom."""
    return KNOWN.get(finding.kind, 1.0) * (1.0 if finding.broader is None else NARROWER_KNOWN)


def askable(finding: FindingNode) -> bool:
    """Whether a patient can tell it: no treatment, no laboratory value or scan, nothing that a doctor must examine."""
    if finding.only_shown:
        return False
    asked = finding.ask or finding.name
    if finding.kind == "test":
        return AT_HOME.search(asked) is not None
    return finding.kind != "sign" or EXAMINED.search(asked) is None


class Bearer(NamedTuple):
    """Of whom a finding is asked: of one sex alone, of who can tell what nobody sees, of adults."""

    sex: str | None
    felt: bool
    adult: bool

    def suits(self, person: Person) -> bool:
        """Whether it is a question for a patient of this age and sex."""
        age = CHILD if person.age is None else person.age
        of_sex = None in (self.sex, person.sex) or self.sex == person.sex
        return of_sex and not (self.felt and age < SPEAKS) and not (self.adult and age < CHILD)


def bearer(finding: FindingNode) -> Bearer:
    """Who can have a finding and tell it, by the question's words: nobody sees a small child's pain, itch or nausea."""
    asked = f"{finding.name} {finding.ask or ''}"
    only = "male" if OF_MEN.search(asked) else "female" if OF_WOMEN.search(asked) else None
    return Bearer(only, FELT.search(asked) is not None, OF_ADULTS.search(asked) is not None)


def wording(finding: FindingNode, language: str, person: Person = ADULT) -> str:
    """How a finding is asked about; of a child it is asked in the third person."""
    child = person.age is not None and person.age < CHILD
    if language == "zh":
        asked = finding.ask_zh or f"您是否有{finding.zh}？"
        return re.sub("您|你", "孩子", asked) if child else asked
    asked = finding.ask or f"Is there {finding.name}?"
    if not child:
        return asked
    asked = re.sub(r"\byour (?:child|baby|little one)\b", "the child", asked)
    for pattern, into in OF_A_CHILD:
        asked = pattern.sub(into, asked)
    return re.sub(r"\byour\b", "their" if "the child" in asked else "the child's", asked)


def reason(yes: Rise, no: Rise, emergency: Rise | None, language: str) -> str:
    """Why a question is asked: which diagnosis each answer makes more likely, and the emergency that a yes may show."""
    form: dict[str, str] = WORDS["zh" if language == "zh" else "en"]
    told = [_changed(form, "yes", yes, language), _changed(form, "no", no, language)]
    alarm = "" if emergency is None else form["alarm"].format(disease=emergency.disease)
    return form["join"].join(told) + form["end"] + alarm


def percent(rise: Rise, language: str) -> str:
    """The change of a share in words."""
    return f"{rise.before:.0%}{'→' if language == 'zh' else ' to '}{rise.after:.0%}"


def _changed(form: dict[str, str], answer: str, rise: Rise, language: str) -> str:
    little = "_little" if rise.after - rise.before < LITTLE else ""
    told = form[f"answer_{answer}{little}"]
    return told.format(disease=rise.disease, change=percent(rise, language), after=rise.after)


# What an answer would make of the ranking, for every finding at once, and the gain to be expected of asking (ours).
#
# An answer counts as a plain statement of one finding, with the bounds, families and tempering of the ranking itself:
# `after_answer` gives what `Ranker.scores` would give with that observation added. How likely an answer is comes from
# the presence rates of the diseases, weighed by the present belief.
Matrix = NDArray[np.float64]
Positions = NDArray[np.int64]


class Outcomes(NamedTuple):
    """What asking would bring.

    Attributes:
        shares: (diseases,), belief now, summing to 1.
        yes, no: (diseases, findings asked about), belief after the answer, columns summing to 1.
        p_yes: (findings asked about,), probability of a yes.
        gain: (findings asked about,), expected fall of entropy in bits; negative where an answer would unsettle.
    """

    shares: Matrix
    yes: Matrix
    no: Matrix
    p_yes: Matrix
    gain: Matrix


def entropy(shares: Matrix) -> Matrix:
    """Entropy in bits over the first axis of an array of distributions."""
    summed: Matrix = -(shares * np.log2(np.maximum(shares, 1e-300))).sum(axis=0)
    return summed


def outcomes(ranker: Ranker, seen: Sequence[Observation], person: Person, findings: Sequence[int]) -> Outcomes:
    """What asking about each of these findings would bring; none of them may be in ``seen`` or settled by it."""
    asked = np.asarray(findings, dtype=np.int64)
    now = ranker.log_scores(seen, person)
    shares = shares_of(now)
    heard = _heard(ranker, seen, asked)
    yes = shares_of(now[:, None] + after_statement(ranker, seen, asked) + heard)
    no = shares_of(now[:, None] + after_denial(ranker, seen, asked) + heard)
    p_yes: Matrix = shares @ ranker.table.present[:, asked]
    gain: Matrix = entropy(shares) - p_yes * entropy(yes) - (1 - p_yes) * entropy(no)
    return Outcomes(shares, yes, no, p_yes, gain)


def after_statement(ranker: Ranker, seen: Sequence[Observation], asked: Positions) -> Matrix:
    """Array (diseases, asked): what a yes adds, beside what the finding's family has added already."""
    families, best, _ = ranker.stated_by_family([o for o in seen if o.present is not False])
    added: Matrix = ranker.present[:, asked]
    told = np.isin(ranker.family[asked], families)
    known, value = best[:, np.searchsorted(families, ranker.family[asked[told]])], added[:, told]
    joined = np.maximum(known, value) - known + SECOND * np.maximum(np.minimum(known, value), 0)
    added[:, told] = np.where(np.isneginf(known), value, joined)
    return added


def after_denial(ranker: Ranker, seen: Sequence[Observation], asked: Positions) -> Matrix:
    """Array (diseases, asked): what a no adds: of a family the strongest denial counts."""
    added: Matrix = ranker.denied[:, asked]
    family = ranker.family[asked]
    known: dict[int, Matrix] = {}
    for o in seen:
        if o.present is False:
            column, value = int(ranker.family[o.finding]), ranker.contributions(o)
            known[column] = np.minimum(known[column], value) if column in known else value
    for column, value in known.items():
        at = family == column
        added[:, at] = np.minimum(value[:, None], added[:, at]) - value[:, None]
    return added


def _heard(ranker: Ranker, seen: Sequence[Observation], asked: Positions) -> Matrix:
    """Array (diseases, asked): what is given back when the case is silent about the finding's family no more."""
    heard, family = ranker.heard(seen), ranker.family[asked]
    total = ranker.silent(heard)[:, None]
    left = total - np.where(np.isin(family, heard), 0.0, ranker.missed_by_family[:, family])
    most = ranker.missed_most[:, None]
    given: Matrix = np.minimum(total, most) - np.minimum(left, most)
    return given


def out_of_silence(ranker: Ranker, seen: Sequence[Observation], asked: Positions) -> Matrix:
    """Array (diseases,): what is given back when the case is silent about none of these findings' families."""
    heard = ranker.heard(seen)
    total, left = ranker.silent(heard), ranker.silent(np.union1d(heard, ranker.family[asked]))
    given: Matrix = np.minimum(total, ranker.missed_most) - np.minimum(left, ranker.missed_most)
    return given


# The one question that is answered by a place: where it hurts (ours).
#
# A patient who is asked where it hurts names every place at once, which yes-or-no questions take many turns to learn.
# What is named is read from the words like any other text; the pains of other places are then taken as denied.
PLACE = "pain-place"  # the id under which the question is answered; no finding of a graph
FEWEST = 3  # ours: with fewer places left, yes-or-no questions do
NAMED = 3  # ours: places that the reason names
_PAIN = re.compile(r"\b(?:pain|painful|sore|\w*aches?)\b", re.IGNORECASE)
_WHEN = re.compile(r"\b(?:on|before|during|after|when|with)\b", re.IGNORECASE)  # a pain told by its time is no place


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
        words = WORDS["zh" if language == "zh" else "en"]
        told, replies = [], []
        for at in np.argsort(-self._p_named, kind="stable")[:NAMED]:
            finding, d = graph.findings[self.asked[at]], int((self.named[:, at] - self.shares).argmax())
            rise = Rise(graph.diseases[d].zh, float(self.shares[d]), float(self.named[d, at]))
            name, disease = finding.zh, rise.disease
            if language != "zh":
                name, disease = finding.name[:1].upper() + finding.name[1:], graph.diseases[d].name
            told.append(words["place"].format(finding=name, disease=disease, change=percent(rise, language)))
            replies += [name] if sites(name) and "," not in name else []  # what else is not read as one place
        text, why = words["where_else" if located else "where"], words["join"].join(told) + words["end"]
        return FollowUpQuestion(finding=PLACE, text=text, gain=self.gain, why=why, replies=tuple(replies))


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


SMALLEST_GAIN = 0.01  # bits; ours: a question worth less is not asked
ALARMING = 0.1  # ours: belief that a yes must move to emergencies for the reason to say so
SUREST = 0.9  # ours: share of its clause's best score from which a pain is told: a cough is no chest pain
ALARM = 0.5  # ours: a yes that would move all belief to emergencies makes a question worth half as much again


class Standing(NamedTuple):
    """Where a case stands.

    Attributes:
        seen: what the ranking counts. person: age and sex.
        replied: ids of what was asked about, whatever was answered, and of what the case seems to tell, however
            unsurely: it is not asked again.
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
        if where is not None and where.gain > max((worth[n] for n in chosen), default=SMALLEST_GAIN):
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
