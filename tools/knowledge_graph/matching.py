"""Clauses of a case to findings of the graph: agreement of wordings, body site, of whom and when."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tools.encoders import MINILM, Encoder
from tools.knowledge_graph.compiled import CompiledGraph
from tools.knowledge_graph.loader import SHARED
from tools.knowledge_graph.plain_words import PlainWords
from tools.knowledge_graph.schema import FindingNode
from tools.knowledge_graph.spoken import Spoken
from tools.knowledge_graph.units import SPREADS, Unit, units_of
from tools.knowledge_graph.wordings import Agreement, ChineseWordings, EnglishWordings, Kinds
from tools.reading.features import features, meanings
from tools.remembered import Remembered
from tools.text import negation
from tools.text.allergies import ALLERGIC
from tools.text.body_sites import compatible, origin_and_destination, sites, tells_of_spreading
from tools.text.clauses import Clause
from tools.text.language import language_of

TOP_M = 5  # code: m, the matches kept a feature
THRESHOLD = 0.5  # code: t, a match counts strictly above it
GAIN = 0.05  # ours: what clauses read together must add to the score that each has alone
WHOLE = 0.9  # ours: score of a finding told plainly from which a clause is not read together with one of another part
PLAINLY = 0.95  # ours: score from which a clause denies a finding itself, and what it is only like is not denied
LATE = 0.35  # ours: a symptom told of the past, against one of today
OWN_LOW, OWN_HIGH = 0.2, 0.4  # ours: cosine of a clause without its topic, between which a match with it is taken
# ours: allergies that speak for a reaction only where one is told; else they are told for the treatment
ALLERGIES = frozenset({"drug-allergy-history", "severe-allergy-history"})
_BOTH_EN, _ONE_EN = (
    re.compile(r"\b(?:both|bilateral\w*)\b", re.I),
    re.compile(r"\bone (?:arm|leg|eye|ear|side)\b", re.I),
)
_BOTH_ZH, _ONE_ZH = re.compile(r"双|两侧"), re.compile(r"单|一侧|一条")  # in Chinese names of findings
_ONE_PART = re.compile(
    r"\b(?:my|the|his|her|their|one|left|right|an?) (?:(?:left|right|lower|upper|whole) )?"
    r"(?:leg|ankle|foot|calf|arm|hand|knee|eye|ear|shin|thigh|wrist|shoulder|hip)\b",
    re.IGNORECASE,
)
_INABILITY = re.compile(r"\b(?:unable|inability|cannot|could not|not able)\b", re.IGNORECASE)
_LETTER = re.compile(r"\W*[A-Za-z]\W*")  # a side or a sex, which tells of no finding
# ours: a pain of no place, which is none of a place: "no pain" denies no pain in the flank
_BARE_PAIN = re.compile(
    r"\W*(?:(?:any|some|a|the|is|in|sharp|bad|severe|dull|burning|constant|mild|more|much) )*pain(?:s|ful)?\W*",
    re.IGNORECASE,
)
# ours: how some part is, of no place, which tells of none: "sore" is no sore eye
_BARE_QUALITY = re.compile(
    r"\W*(?:(?:just|very|really|quite|so|a|bit|little|mildly|slightly|more|also|is|are|it(?:'s)?|that|looks?|feels?) )*"
    r"(?:sore|stiff|tender|swollen|red|pink|numb|hot|warm|puffy|dull|thickened|tenderness)\W*",
    re.IGNORECASE,
)
_PAIN = re.compile(r"\b(?:pains?|\w*aches?|soreness|discomfort|cramps?)\b|[痛疼]", re.IGNORECASE)
Matrix = NDArray[np.float32]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Match:
    """A finding that a clause may tell of.

    Attributes:
        clause: position of the clause. finding: position of the finding in ``graph.findings``.
        score: confidence, 0..1. similarity: cosine of the encoder (the method's own sim).
        present: True stated, False denied, None uncertain.
        assured: the clause says it plainly enough to be shown to a reader (see `tools.knowledge_graph.wordings`).
    """

    clause: int
    finding: int
    score: float
    similarity: float
    present: bool | None
    assured: bool = False


class Matcher:
    """Matches clauses against one compiled graph.

    Args:
        compiled: the graph and the vectors of its phrases.
        encoder: the encoder that made those vectors.
    """

    def __init__(self, compiled: CompiledGraph, encoder: Encoder) -> None:
        self._reader = UnitReader(compiled, encoder)
        findings = compiled.graph.findings
        self._sites = [frozenset({f.site} if f.site else ()) | sites(f.name) for f in findings]
        self._sited = np.array([bool(s) for s in self._sites])
        self._both_sides = np.array([_BOTH_ZH.search(f.zh) is not None for f in findings])
        self._both_en = np.array([_BOTH_EN.search(f.name) is not None for f in findings])
        self._one_en = np.array([_ONE_EN.search(f.name) is not None for f in findings])
        self._one_side = np.array([_ONE_ZH.search(f.zh) is not None for f in findings])
        self._spreading = np.array([_about_spreading(f) for f in findings])
        self._pains = np.array([_PAIN.search(f"{f.name} {f.zh}") is not None for f in findings])
        self._fits: dict[frozenset[str], Matrix] = {}
        self._of_others = np.array([_about_others(f) for f in findings])
        self._of_family = np.array([f.of_family for f in findings])
        self._measured = np.array([f.kind in ("symptom", "sign", "test") for f in findings])
        self._examined = np.array([f.kind in ("sign", "test") for f in findings])
        self._medicines = np.array([f.kind == "history" and f.id.endswith("-use") for f in findings])
        self._allergies = np.array([f.id in ALLERGIES for f in findings])
        self._named = [frozenset((f.name, *f.say)) for f in findings]
        self._lasting = np.array([f.kind in ("history", "exposure", "habit") for f in findings])
        self._kinds = Kinds(findings)
        self._plain_words = PlainWords(findings)
        self._inability = np.array([_INABILITY.search(f.name) is not None for f in findings])
        self._never = np.array([f.only_shown for f in findings])
        self._least = np.array([least_days(f.name) for f in findings])
        position = {f.id: i for i, f in enumerate(findings)}
        self._above = [{position[above] for above in compiled.graph.broader(f.id)} for f in findings]

    def match(self, clauses: Sequence[Clause]) -> list[Match]:
        """For each clause its best findings by confidence, best first, at most `TOP_M`.

        Denied clauses give matches with ``present`` False, except for wordings that are negative themselves.
        """
        alone = [c.plain for c in clauses]
        units = [
            u
            for u in units_of(clauses)
            if not only_when(u.text)
            and not _LETTER.fullmatch(u.text)
            and self._reader.worth_reading(u, [alone[m] for m in u.members])
        ]
        if not units:
            return []
        scores, positive, sims, assured = self._by_clause(clauses, units)
        plain = self._plainly(clauses, scores, assured)
        out: list[Match] = []
        for c, clause in enumerate(clauses):
            ruled_out = {f for f, present in plain[c].items() if not present}
            denied: set[int] = set()
            plainly: set[int] = set()
            able = clause.present is True and self._plain_words.able(clause.text)
            for f in np.argsort(-scores[c], kind="stable")[:TOP_M]:
                said = plain[c].get(int(f), False if able and self._inability[f] else None)
                absent = said is None and not positive[c, f] and clause.present is False
                if absent and plainly and scores[c, f] < PLAINLY and not self._denied_with(int(f), plainly):
                    continue
                plainly |= {int(f)} if absent and scores[c, f] >= PLAINLY else set()
                if said is None and ruled_out & self._above[f]:
                    continue
                lack = said is None and positive[c, f]
                if scores[c, f] > 0 and not (lack and denied & self._above[f]):  # no cough is no dry cough
                    stated = True if positive[c, f] else clause.present
                    if said is not None:
                        stated = said if clause.present is not None else None
                    denied |= set() if stated is not False else {int(f)}
                    out.append(Match(c, int(f), float(scores[c, f]), float(sims[c, f]), stated, bool(assured[c, f])))
        return out

    def _plainly(self, clauses: Sequence[Clause], scores: Matrix, assured: Flags) -> list[dict[int, bool]]:
        """What the words of each clause plainly state or deny, which then counts whatever it is like."""
        told = self._plain_words.told(clauses)
        for c, (clause, found) in enumerate(zip(clauses, told, strict=True)):
            for f in list(found):
                if clause.reading or (clause.other and not self._of_others[f]):
                    del found[f]
                else:
                    scores[c, f], assured[c, f] = max(scores[c, f], PLAINLY), True
        return told

    def _denied_with(self, finding: int, plainly: set[int]) -> bool:
        """Whether a finding is denied with others that a clause plainly denies: a kind of one, which no examination
        has to show."""
        return bool(plainly & self._above[finding]) and not self._examined[finding]

    def asides(self, clauses: Sequence[Clause]) -> list[Match]:
        """The matches of clauses on the past or on somebody else, as if they told of the patient now."""
        if not any(c.past or c.other for c in clauses):
            return []
        now = [replace(c, past=False, other=False) for c in clauses]
        return [m for m in self.match(now) if clauses[m.clause].past or clauses[m.clause].other]

    def _by_clause(self, clauses: Sequence[Clause], units: Sequence[Unit]) -> tuple[Matrix, Flags, Matrix, Flags]:
        """Arrays (clauses, findings): confidence, whether a denial states the finding, similarity, and assurance."""
        read = self._reader.read(units)
        shape = (len(clauses), len(self._sites))
        scores, sims, positive = np.zeros(shape, np.float32), np.zeros(shape, np.float32), np.zeros(shape, bool)
        assured = np.zeros(shape, bool)
        alone = sorted(range(len(units)), key=lambda u: len(units[u].members))
        for u in alone:
            unit, c = units[u], units[u].clause
            found = self._agreement(unit, read[u], clauses)
            if unit.topical:
                found = found._replace(score=found.score * _own_share(sims[c]))
            known, margin = scores[c], 0.0
            if len(unit.members) > 1:
                apart = not frozenset.intersection(*(clauses[m].sites for m in unit.members))
                if apart and all((scores[m] * assured[m]).max() >= WHOLE for m in unit.members):
                    continue  # each tells a finding of its own
                known, margin = np.max(scores[list(unit.members)], axis=0), GAIN
            better = found.score > known + margin
            scores[c][better] = found.score[better]
            positive[c][better] = unit.negated
            assured[c] |= found.assured
            if not unit.topical:
                np.maximum(sims[c], found.similarity, out=sims[c])
        return scores, positive, sims, assured

    def _agreement(self, unit: Unit, found: Agreement, clauses: Sequence[Clause]) -> Agreement:
        """What is left of one unit's agreement: with the findings that its clause may be about."""
        clause = clauses[unit.clause]
        persons = self._of_others if clause.other else ~self._of_family
        allowed = self._fitting(unit.sites or clause.sites) * (persons & ~self._never & self._of_its_own(unit))
        if not (unit.sites or clause.sites) and _BARE_PAIN.fullmatch(unit.text):
            allowed = allowed * ~(self._pains & self._sited)
        if not (unit.sites or clause.sites) and _BARE_QUALITY.fullmatch(unit.text):
            allowed = allowed * ~self._sited
        days = told_days(unit.text)
        if days is not None:  # three days are not "more than two weeks"
            allowed = allowed * (self._least <= days)
        if clause.side is not None and language_of(unit.text) == "zh":
            allowed = allowed * ~(self._one_side if clause.side == "both" else self._both_sides)
        if _BOTH_EN.search(unit.text):
            allowed = allowed * ~self._one_en
        elif _ONE_PART.search(unit.text) and len(_sides(clauses, clause)) < 2:  # one leg is not "both legs"
            allowed = allowed * ~self._both_en
        if clause.reading:
            named = np.array([unit.text in names for names in self._named])
            named[[above for n in np.flatnonzero(named) for above in self._above[n]]] = True
            allowed = allowed * (named if named.any() else self._measured)
        allowed = allowed * self._plain_words.tellable(unit.text, denied=unit.denied)
        if ALLERGIC.search(unit.text):  # nobody takes what an allergy is to
            allowed = allowed * ~self._medicines
        if clause.allergy:
            allowed = allowed * (~self._lasting | self._allergies)
        weight = np.where(self._lasting, 1.0, LATE).astype(np.float32) if clause.past else np.float32(1.0)
        assured = found.assured & (allowed > 0) & self._kinds.tellable(unit, clauses)
        return Agreement(found.score * allowed * weight * np.float32(unit.weight), found.similarity * allowed, assured)

    def _of_its_own(self, unit: Unit) -> Flags:
        """For each finding whether it may be told: a part that a pain spreads to has no pain of its own."""
        if SPREADS in unit.text:
            return self._spreading
        origin, destination = origin_and_destination(unit.text)
        if not destination:
            return np.ones(len(self._sites), dtype=bool)
        reached = self._fitting(destination) > 0
        stays = self._fitting(origin) > 0 if origin else ~reached
        return np.asarray(self._spreading | ~self._pains | ~self._sited | stays)

    def _fitting(self, told: frozenset[str]) -> Matrix:
        known = self._fits.get(told)
        if known is None:
            known = np.array([compatible(told, at) for at in self._sites], dtype=np.float32)
            self._fits[told] = known
        return known


def _sides(clauses: Sequence[Clause], clause: Clause) -> set[str]:
    """The sides that the sentence of a clause names: "in my right ankle and my left ankle"."""
    return {c.side for c in clauses if c.sentence == clause.sentence and c.side}


def _own_share(own: Matrix) -> Matrix:
    """How much of a match made with the topic's words is the clause's own."""
    share: Matrix = np.clip((own - OWN_LOW) / (OWN_HIGH - OWN_LOW), 0, 1)
    return share


def _about_spreading(finding: FindingNode) -> bool:
    """Whether a finding is itself a pain that spreads."""
    return any(tells_of_spreading(p) for p in (finding.id.replace("-", " "), finding.name, finding.zh))


def _about_others(finding: FindingNode) -> bool:
    """Whether a clause about somebody else may tell of this finding: exposures and family history."""
    if finding.relation == "exposure" or finding.of_family:
        return True
    return any(negation.OTHER.search(p) for p in (finding.name, *finding.say))


# Units read against the wordings of a graph: embedded together, and remembered, because a case is read many times.
# A session reads its whole case again at each turn, and several times within one. What is remembered stays in this
# process's memory and is bounded.

REMEMBERED = 2048  # ours: units kept; about 12 MB with the starter graph
Key = tuple[str, bool, bool, bool, bool, bool, bool]


@lru_cache(maxsize=SHARED)
def _english(compiled: CompiledGraph) -> EnglishWordings:
    return EnglishWordings(compiled)


@lru_cache(maxsize=SHARED)
def _chinese(compiled: CompiledGraph) -> ChineseWordings:
    return ChineseWordings(compiled.graph)


class UnitReader:
    """Agreement of units with every finding of one graph. May be used from several threads.

    Args:
        compiled: the graph and the vectors of its phrases. encoder: the encoder that made those vectors.
    """

    def __init__(self, compiled: CompiledGraph, encoder: Encoder) -> None:
        self._encoder = encoder
        self._vectors = compiled.vectors
        self._compiled, self._english = compiled, _english(compiled)
        self._spoken = Spoken(compiled.graph.findings)
        self._known = Remembered[Key, Agreement](REMEMBERED)

    def worth_reading(self, unit: Unit, texts: Sequence[str]) -> bool:
        """Whether clauses read together may tell more than each alone: a wording has words of both.

        Args:
            texts: of the clauses that the unit joins, each alone.
        """
        if len(unit.members) < 2 or language_of(unit.text) == "zh":
            return True
        return self._english.joins(texts)

    def read(self, units: Sequence[Unit]) -> list[Agreement]:
        """The agreement of each unit; its arrays are shared and must not be changed."""
        keys = [_key(u) for u in units]
        known = self._known.read(dict(zip(keys, units, strict=True)), self._fresh)
        return [known[k] for k in keys]

    def _fresh(self, units: Sequence[Unit]) -> list[Agreement]:
        if not units:
            return []
        heard = self._spoken.knows
        both = dict.fromkeys(text for u in units for text in (u.text, u.bare) if text)
        seen = dict(zip(both, features(list(both)), strict=True)) if heard else {}
        texts = list(dict.fromkeys(u.text for u in units if language_of(u.text) != "zh"))
        cosines: NDArray[np.float32] = np.zeros((0, len(self._vectors)), dtype=np.float32)
        if texts:
            read_already = heard and self._encoder.name == MINILM
            told = meanings([seen[t] for t in texts]) if read_already else self._encoder.encode_queries(texts)
            cosines = np.asarray(told @ self._vectors.T, dtype=np.float32)
        row = {text: i for i, text in enumerate(texts)}
        read = [
            self._english.agreement(u, cosines[row[u.text]]) if u.text in row else _chinese(self._compiled).agreement(u)
            for u in units
        ]
        return self._spoken.joined(units, read, seen) if heard else read


def _key(unit: Unit) -> Key:
    """All that the agreement of a unit with wordings depends on."""
    joined = len(unit.members) > 1
    return (unit.text, unit.denied, unit.negated, unit.negative, unit.topical, unit.distant, joined)


# How long something has lasted, in days, as a text tells it: ``for 3 days``, ``since yesterday``, ``两周`` (ours).

DAYS = {"hour": 1 / 24, "day": 1.0, "week": 7.0, "month": 30.0, "year": 365.0}
UNITS_ZH = {"小时": "hour", "天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week"}
UNITS_ZH |= {"个月": "month", "年": "year"}
ENGLISH = "a one two three four five six seven eight nine ten eleven twelve".split()
NUMBERS = {word: float(max(n, 1)) for n, word in enumerate(ENGLISH)} | {"an": 1.0, "couple of": 2.0}
NUMBERS |= {"a couple of": 2.0, "few": 4.0, "a few": 4.0, "several": 5.0}  # ours: what people mean by a few
NUMBERS |= dict(zip("半一二三四五六七八九十", (0.5, *map(float, range(1, 11))), strict=True)) | {"两": 2.0, "几": 4.0}
_COUNT = r"\d+(?:\.\d+)?|" + "|".join(sorted((n for n in NUMBERS if n.isascii()), key=len, reverse=True))
_TOLD = re.compile(
    rf"\b(?:(?:\d+|\w+) ?(?:-|–|to|or) ?)?(?P<n>{_COUNT})[- ]?(?P<unit>hour|day|week|month|year)s?\b(?!['’]?[- ]old)",
    re.IGNORECASE,
)
_TOLD_ZH = re.compile(
    rf"(?P<n>(?<!\d)\d{{1,6}}(?:\.\d{{1,3}})?|[半一二两三四五六七八九十几])(?:多|余)?(?P<unit>{'|'.join(UNITS_ZH)})(?![龄岁])"
)
_RECENT = re.compile(
    r"\bsince (?:yesterday|last night|this \w+|today)\b|(?:昨|今)[天日晚早]?(?:起|开始|以来)", re.IGNORECASE
)
_LONG = re.compile(r"\b(?:weeks|months|years|ages)\b|数[日天周月年]|多[日天周月年]|长期|一直", re.IGNORECASE)
_LEAST = re.compile(r"\blast(?:s|ed|ing) (?:for )?(?:more|longer) than (?P<rest>.+)$", re.IGNORECASE)
# A clause of nothing but these words tells when, not what
_ONLY_WHEN = re.compile(
    rf"(?:\W*\b(?:{_COUNT}|half|the|it|this|that|all|and|has|have|had|been|was|is|started|starting|began|came|come|on"
    r"|going|for|since|about|around|roughly|over|nearly|almost|at|least|just|only|now|ago|back|earlier|last|past|of"
    r"|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|morning|night|evening|afternoon|noon|today|yesterday"
    r"|tonight|am|pm)\b)+\W*",
    re.IGNORECASE,
)


def only_when(text: str) -> bool:
    """Whether a text tells when something was and nothing else: ``started half an hour ago``."""
    return _ONLY_WHEN.fullmatch(text) is not None


def told_days(text: str) -> float | None:
    """Days of the longest stretch of time that a text names; None when it names none, or one without a number."""
    if _LONG.search(_TOLD.sub(" # ", text)):
        return None
    found = [_number(m["n"]) * DAYS[m["unit"].lower()] for m in _TOLD.finditer(text)]
    found += [_number(m["n"]) * DAYS[UNITS_ZH[m["unit"]]] for m in _TOLD_ZH.finditer(text)]
    found += [1.0] if _RECENT.search(text) else []
    return max(found, default=None)


def least_days(name: str) -> float:
    """Days that a finding must have lasted by its name (``fever lasting more than two weeks``); 0 for no rule."""
    match = _LEAST.search(name)
    return (told_days(match["rest"]) or 0.0) if match is not None else 0.0


def _number(text: str) -> float:
    return NUMBERS.get(text.lower()) or float(text)
