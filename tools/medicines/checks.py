"""What the records say of a medicine that is asked about, beside the patient's other medicines, allergies and states.

A question is checked only where it asks whether something may be taken. Silence is never "safe": what no record speaks
of gives no check.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

from tools.medicines.constraints import (
    BROAD,
    asked_of,
    constraints_in,
    gives,
    is_allergen,
    is_relatives,
    named_in,
    only_tells,
    warns_of,
)
from tools.medicines.names import Medicine, medicines_in
from tools.medicines.pages import slug, told
from tools.medicines.records import STATES, Advice, Caution, ChildCaution, Record, Severity, starter_records
from tools.spelling import mended
from tools.text.abbreviations import expand
from tools.text.clauses import Clause, clauses
from tools.text.demographics import read_person, without_mentions
from tools.text.frequency import zipf
from tools.text.measures import readings
from tools.text.questions import is_question, parts
from tools.text.tokens import tokens
from tools.yaml_files import read_patterns, read_yaml

# ours: what is no medicine and records interact with, by the names that they give it
SUBSTANCES = {
    "alcohol": {"alcohol", "ethanol"},
    "grapefruit": {"grapefruit"},
    "smoking": {"smoking"},
    "caffeine": {"caffeine"},
    "tyramine-rich food": {"tyramine-rich food"},
    "liquorice": {"liquorice"},
    "green vegetables": {"green vegetables"},
    "dairy": {"dairy", "dairy products", "dairy product", "milk", "calcium", "calcium carbonate"},
}
INFANT = 2  # ours: years below which what is usual for children is not said
GROWN, OLD = 18, 75  # ours: years below and from which the page's words on children and older people are told
SMOKER = 35  # years, from which the combined pill is barred to smokers (UKMEC 2016)
AGES = {"newborn": 0.02, "infant": 0.5, "toddler": 2.0, "teenager": 15.0}  # ours: years, of who is told by such a word
# ours: words of a condition that say how bad or how long ago; a case without them asks for caution at most
DEGREES = frozenset(
    tokens(
        "recent severe acute active history previous untreated uncontrolled known current past significant moderate"
        " serious unstable chronic decompensated advanced end-stage"
    )
)
PLAIN = frozenset(tokens("of or with and a the in to syndrome"))
ORGANS = ("kidneys", "liver")  # whose pages tell in one sentence what a severe disease bars
REMEMBERED = 8192  # ours: texts whose stems are kept: the conditions of every record, the clauses of a case
ACTIVITIES = ("driving", "sunlight")  # what somebody wants to do, on which a side effect bears
MOST = 12  # ours: medicines of one question that are checked, the last named
GFR = re.compile(r"\b(?:e?gfr|crcl|creatinine clearance|kidney function)\D{0,30}(\d{1,3}(?:\.\d+)?)", re.IGNORECASE)
BELOW = re.compile(r"\b(?:below|under|less than) (\d{1,3})\b")  # of a sentence of a page, in mL/min
VALUE, RATE = re.compile(r"\b\d{2,3}\b"), re.compile(r"\b(?:eGFR|GFR|clearance|mL/min)", re.IGNORECASE)
PAIR = re.compile(r"\s*(?:with|and|plus|\+|&)\s*", re.IGNORECASE)  # ours: between two medicines of a heading
OR = re.compile(r",? (?:or|versus|vs\.?|v) (?:\w+ )?", re.IGNORECASE)
COMMON = 0.6  # ours: share of a class's medicines whose pages must agree for the class to be told so
WAYS = ("openly", "interacts", "harm", "may")
ADVICE = {Severity.SEVERE: Advice.AVOID, Severity.MODERATE: Advice.CAUTION, Severity.MILD: Advice.USUAL}
ORDER = (Advice.AVOID, Advice.CAUTION, Advice.USUAL)
Answer = Literal["", "yes", "no", "depends"]
# What advice answers to "may it be taken?", to "is it dangerous?" and to "does it interact?"; ours.
ANSWERS: dict[str, dict[Advice, Answer]] = {
    "may": {Advice.AVOID: "no", Advice.CAUTION: "depends", Advice.USUAL: "yes"},
    "harm": {Advice.AVOID: "yes", Advice.CAUTION: "depends", Advice.USUAL: "no"},
    "interacts": {Advice.AVOID: "yes", Advice.CAUTION: "yes", Advice.USUAL: ""},
    "openly": {Advice.AVOID: "", Advice.CAUTION: "", Advice.USUAL: ""},
}


class Check(NamedTuple):
    """What a record says.

    Attributes:
        page: the name of the page in the library that says it. beside: the other medicine, condition or state.
        says: the words of the page. together: it is about two medicines, or an activity beside one, of which nothing is
            ever called safe.
    """

    page: str
    beside: str
    advice: Advice
    says: str
    together: bool = False


class Checked(NamedTuple):
    """The checks of a question, the gravest first, what it asks, of `ANSWERS`, and whether it tells of no patient."""

    checks: tuple[Check, ...] = ()
    asks: str = "may"
    general: bool = False

    @property
    def decides(self) -> bool:
        """Whether something is said, to a question that does not ask openly."""
        return bool(self.checks) and self.asks != "openly"

    @property
    def warns(self) -> bool:
        """Whether something is not to be taken."""
        return bool(self.checks) and self.checks[0].advice is Advice.AVOID

    def answer(self, check: Check) -> Answer:
        """What a check answers; to a general question a caution is none: it says how, not whether."""
        if self.general and check.advice is Advice.CAUTION and not check.together:
            return ""
        return "" if check.together and check.advice is Advice.USUAL else ANSWERS[self.asks][check.advice]


class Told(NamedTuple):
    """What is told of a patient and asked, read once.

    Attributes:
        text: the case and the question. asking: where its asking sentence begins.
        read: clauses that are not denied and of the patient. stems: of each.
        allergies: names that a stated allergy bars. states: of `STATES`, with the words that tell each.
        severe: organs with a severe disease; mild: with one that is told to be mild.
        taken: medicines that are told as taken, as written. age: in years; None where it is not told.
        activities: of `ACTIVITIES`, what the question asks to do.
    """

    text: str
    asking: int
    read: tuple[Clause, ...]
    stems: tuple[frozenset[str], ...]
    allergies: frozenset[str]
    states: dict[str, str]
    severe: frozenset[str]
    mild: frozenset[str]
    taken: frozenset[str]
    age: float | None
    activities: tuple[str, ...] = ()


def check(question: str, case: str = "") -> Checked:
    """What the records say of the medicines that a question asks about; ``case`` tells of the patient beside it.

    Asked about is what the asking sentence names; where it points back ("can he have it?"), what was named last before
    it. Whether a medicine may be stopped, how much of it may be taken, and what studies show is not asked of records.
    """
    question, case = mended(question), mended(case)
    asked_for = asked_of(question)
    if not _asks(asked_for, question, case):
        return Checked()
    told_of = _read(case, question, asked_for)
    named = named_in(told_of.text)
    named = [m for m in named if m.written.lower() not in told_of.allergies or m.start >= told_of.asking] or named
    named = [m for m in named if not is_allergen(told_of.text, m)] or named
    named = [m for m in {(m.generic or m.written).lower(): m for m in named}.values() if _is_meant(told_of, m)]
    kinds = {name.lower() for m in named if m.generic for name in m.names}  # a class that stands for one of them
    beside = [m for m in named if m.generic or not {m.written.lower(), m.family.lower()} & kinds][-MOST:]
    asked = [m for m in beside if m.start >= told_of.asking and _is_asked(told_of.text, m)]
    asked = asked or [m for m in beside if m.start >= told_of.asking]
    asked = asked or (beside if _words()["both"].search(asked_for) else _last(beside, told_of))
    fresh = [m for m in asked if m.written.lower() not in told_of.taken] or asked
    of_patient = ((m, c) for m in asked for c in _of_patient(m, told_of))
    found = [*_interactions(asked, beside, told_of)]
    # what is taken already is no question
    found += [c for m, c in of_patient if m in fresh or c.advice is Advice.AVOID]
    unique_ = {(c.page, c.says): c for c in found}
    checks = tuple(sorted(unique_.values(), key=lambda c: ORDER.index(c.advice)))
    asks = next((way for part in parts(asked_for)[::-1] if (way := _way(part))), "may")
    asks = "openly" if _is_choice(asked_for) or (_is_pair(asked_for) and not is_question(asked_for.strip())) else asks
    # what is usual by itself says nothing of an amount, nor of another medicine beside it
    silent = len(beside) > 1 or _words()["amount"].search(asked_for)
    words = _words()
    before = words["courtesy"].sub("", told_of.text[: told_of.asking])
    telegraphic = words["verb"].search(asked_for) is None
    general = not (before.strip() or telegraphic or words["patient"].search(question))
    return Checked(checks, "openly" if checks and checks[0].advice is Advice.USUAL and silent else asks, general)


def may_with_care(question: str, case: str = "") -> bool:
    """Whether a question asks if two medicines may be taken of which the records know a mild interaction alone, and
    say how they are taken: "no" is none of their words."""
    first = next(iter(check(question, case).checks), None)
    mild = first is not None and first.together and first.advice is Advice.USUAL
    asked = next((way for part in parts(asked_of(question))[::-1] if (way := _way(part))), "")
    return mild and asked == "may" and first is not None and not _words()["bars"].search(first.says)


def taken_together(case: str) -> tuple[Check, ...]:
    """The severe interactions of the medicines that a case tells as taken, each pair once; what was stopped, is denied
    or is an allergy is not taken."""
    told_of = _read(mended(case), "", "")
    named = {
        (m.generic or m.written).lower(): m
        for m in named_in(told_of.text)
        if m.generic and m.written.lower() not in told_of.allergies and _is_meant(told_of, m)
    }
    found = _interactions(list(named.values())[-MOST:], [], told_of)
    return tuple({c.says: c for c in found if c.advice is Advice.AVOID and c.beside not in SUBSTANCES}.values())


# Harm that is asked about or told of, and is no state of the patient: "a risk of clots", "what about hyperkalaemia?"
HARMS = re.compile(
    r"\b(?:(?:risks?|rates?|chances?) of|harms?|signals?|side effects?|caus(?:e|es|ing)|lead(?:s|ing)? to|what about"
    r"|effects? on)\b(?:\([^)]*\)|(?!\b(?:in|with|during|if|when|given|at|has|is|takes)\b)[^.;?!,(])*",
    re.IGNORECASE,
)


def unsuitable(statements: Sequence[str], case: str) -> list[tuple[Medicine, Check]]:
    """The medicines that statements name without a warning, each once, although their records bar them to the patient
    of a case by a state or a condition. What the case tells of already may be named as what did harm: it counts where a
    statement may be advice to give it."""
    told_of = _read(HARMS.sub(" ", mended(case)), "", "")
    said = {m.generic or m.family for m in named_in(case)}
    named = {
        m.written.lower(): m
        for text in statements
        if not (warns_of(text) or only_tells(text))
        for m in named_in(text)
        if (m.generic or m.family) not in said or gives(text)
    }
    found = ((m, [c for c in _of_patient(m, told_of) if c.advice is Advice.AVOID]) for m in named.values())
    return [(medicine, checks[0]) for medicine, checks in found if checks]


def _way(part: str) -> str:
    """How a sentence asks, of `WAYS`; "" where it does not."""
    words = _words()
    if words["leave"].search(part) and not (words["openly"].search(part) or words["interacts"].search(part)):
        return "harm" if words["avoiding"].search(part) else "may"
    return next((way for way in WAYS if words[way].search(part)), "")


def _is_choice(asked_for: str) -> bool:
    """Whether a sentence asks which of two medicines it should be, which neither yes nor no answers."""
    named = named_in(asked_for)
    between = (asked_for[a.start + len(a.written) : b.start] for a, b in pairwise(named))
    return any(OR.fullmatch(b) for b in between) and not _words()["either"].search(asked_for)


def _is_pair(asked_for: str) -> bool:
    """Whether a heading without a verb opens with a medicine beside another: "ramipril with ibuprofen: creatinine"."""
    named = named_in(asked_for)
    between = (asked_for[a.start + len(a.written) : b.start] for a, b in pairwise(named))
    opens = bool(named) and not asked_for[: named[0].start].strip()
    return opens and any(PAIR.fullmatch(b) for b in between) and _words()["verb"].search(asked_for) is None


def _is_asked(text: str, medicine: Medicine) -> bool:
    """Whether a medicine stands in a sentence that ends in a question mark."""
    end = re.search(r"[.!?？。\n]", text[medicine.start :])
    return end is not None and end[0] in "?？"


def _last(beside: Sequence[Medicine], told_of: Told) -> list[Medicine]:
    """What was named last before a question that points back; what is told as taken already only where all is."""
    fresh = [m for m in beside if m.written.lower() not in told_of.taken]
    return list((fresh or beside)[-1:])


def asks_of_studies(text: str) -> bool:
    """Whether a text asks for what studies show, which no record answers."""
    return _words()["studied"].search(text) is not None


def _asks(asked_for: str, question: str, case: str) -> bool:
    """Whether the asking sentence asks if a medicine may be taken, or does harm: one that it names, or points back to.

    What names one and asks no open question asks that, in whatever words ("penicillin allergic. Augmentin?"). What asks
    for the effect that studies show asks something else, unless a patient is told of; so does whether a medicine may be
    stopped, or has caused what is told.
    """
    words = _words()
    ways = any(words[way].search(asked_for) for way in ("may", "harm", "interacts"))
    if words["stopping"].search(asked_for) or (
        words["blamed"].search(asked_for) and not words["harm"].search(asked_for)
    ):
        return False
    studied = words["studied"].search(asked_for) and not words["levels"].search(asked_for)
    if studied and not (case or words["patient"].search(question)):
        return False
    if named_in(asked_for):
        asked = is_question(asked_for.strip()) or _is_pair(asked_for)
        return ways or bool(asked and not words["openly"].search(asked_for))
    points = any(words[way].search(asked_for) for way in ("takes_it", "remark", *ACTIVITIES, *SUBSTANCES))
    bears = any(words[way].search(asked_for) for way in ("harm", "interacts")) and words["points"].search(asked_for)
    points = points or bool(bears) or words["holds"].search(asked_for) is not None
    return points and bool(named_in(f"{case}\n{question}"))


def _read(case: str, question: str, asked_for: str) -> Told:
    start = max(0, len(case) + 1 + question.rfind(asked_for[:20]))
    whole = f"{case}\n{question}"
    # "is it ok?" does not say that it is
    text = whole[:start] + _words()["fine"].sub(lambda m: " " * len(m[0]), whole[start:])
    own = _words()["own"].search(asked_for) is not None and not _words()["others"].search(asked_for)
    theirs = {
        c.start
        for c in clauses(text)
        # "can I take ramipril my husband has some" asks of oneself
        if own and not (c.start >= start and _words()["own"].search(c.text))
        if is_relatives(c) or _words()["theirs"].match(c.text)
    }
    read = tuple(c for c in clauses(text) if c.present is not False and c.start not in theirs)
    now = [c for c in read if not c.past]
    person = read_person(text)
    plain = without_mentions(text)
    ill = [_less_vaccines(plain[c.start : c.end]) for c in now]
    states = {s: m[0] for s in STATES for clause in ill if (m := _words()[s].search(clause)) is not None}
    if wished := next((c.text for c in now if _words()["conceiving"].search(c.text)), ""):
        states.setdefault("pregnancy", wished)
    if {"pregnancy", "breastfeeding"} & states.keys():
        states.pop("children", None)  # a mother's baby is no patient
    if "breastfeeding" in states and _words()["weeks"].fullmatch(states.get("pregnancy", "")):
        states.pop("pregnancy")  # weeks since the birth
    age = person.age
    if age is None and "children" in states:
        age = next((years for word, years in AGES.items() if _words()[word].search(plain)), None)
    for state, told_by_age in (("children", age is not None and age < GROWN), ("older", (age or 0) >= OLD)):
        if told_by_age and not {"pregnancy", "breastfeeding"} & states.keys():
            states.setdefault(state, "")
    stems = tuple(
        _stems(_less_vaccines(f"{c.told} {expand(c.text)} {c.text}"))
        for c in read
        if c.start >= start or not c.other or not own
    )
    stems += tuple(_stems(r.words) for r in readings(text, person) if r.present)
    stems += tuple(frozenset(tokens(means)) for pattern, means in _meanings() if _has_number(pattern.search(text)))
    if (age or 0) >= SMOKER and any(_words()["smoking"].search(c.text) for c in now):
        stems += (_stems(f"smoker over thirty-five aged {SMOKER} or over smoking"),)
    barred = constraints_in(text)
    allergies = frozenset(n for c in barred if c.why == "allergy" for n in (*c.names, c.named.lower()))
    taken = frozenset(c.named.lower() for c in barred if c.why == "current")
    severe = {o for o in ORGANS if any(frozenset(tokens(f"severe {o.removesuffix('s')} disease")) <= s for s in stems)}
    doing = tuple(a for a in ACTIVITIES if _words()[a].search(asked_for))
    slight = any(_words()["mild"].search(c.text) for c in now)
    mild = frozenset(o for o in ORGANS if slight and o not in severe)
    return Told(text, start, read, stems, allergies, states, frozenset(severe), mild, taken, age, doing)


def _less_vaccines(text: str) -> str:
    """A text with spaces in place of vaccines: one against hepatitis tells of no hepatitis."""
    for medicine in named_in(text):
        if medicine.generic and medicine.family.endswith("vaccine"):
            end = medicine.start + len(medicine.written)
            text = text[: medicine.start] + " " * len(medicine.written) + text[end:]
    return text


def _has_number(found: re.Match[str] | None) -> bool:
    """Whether what was found states a value, which clauses leave out."""
    return found is not None and any(c.isdigit() for c in found[0])


def _is_meant(told_of: Told, medicine: Medicine) -> bool:
    """Whether a medicine is taken or asked about: it is not what another stands in for, was stopped, or is denied."""
    start, words = medicine.start, _words()
    after = told_of.text[start + len(medicine.written) :]
    stopped = words["instead"].search(told_of.text[max(0, start - 40) : start]) or words["left"].match(after)
    swapped = words["swapped"].search(told_of.text[max(0, start - 40) : start]) and words["swapped_for"].match(after)
    if swapped:
        return False
    if stopped and not words["lately"].search(re.split(r"[.?!]", after)[0]):
        return False
    due = start < told_of.asking and medicine.family.endswith("vaccine")  # "never had MMR. Give it now?"
    return due or any(c.start <= start < c.end for c in told_of.read)


def is_taken(told: str, medicine: Medicine) -> bool:
    """Whether a text tells a medicine as taken: it was not stopped, is not denied, and is the patient's."""
    return _is_meant(_read(told, "", ""), medicine)


def _interactions(asked: Sequence[Medicine], beside: Sequence[Medicine], told_of: Told) -> Iterator[Check]:
    """The gravest interaction of each medicine that is asked about with each that is named beside it."""
    others = [*asked, *(m for m in beside if m not in asked)]
    for at, one in enumerate(asked):
        for other in others[at + 1 :]:
            if _names(one) != _names(other) and not _alternatives(told_of.text, one, other):
                found = [*_between(one, other), *_between(other, one)]
                wide = [len(_records(m)) for m in (one, other) if not _speaks(m)]
                if wide and len({c.page for c in found}) < COMMON * max(wide):
                    continue  # one medicine of a wide group says nothing of the group
                if found:
                    yield min(found, key=lambda c: ORDER.index(c.advice))
    for substance, names in SUBSTANCES.items():
        if any(_words()[substance].search(c.text) for c in told_of.read):
            yield from (c for m in asked for r in _records(m) for c in _with(r, names, substance))


def _speaks(medicine: Medicine) -> bool:
    """Whether a name stands for medicines that are alike: it is no wide group (antibiotic)."""
    return bool(medicine.generic) or medicine.written.lower().removesuffix("s") not in BROAD


def _alternatives(text: str, one: Medicine, other: Medicine) -> bool:
    """Whether one of two medicines is asked about in the place of the other: "apixaban or warfarin"."""
    first, second = sorted((one, other), key=lambda m: m.start)
    return _words()["or"].fullmatch(text[first.start + len(first.written) : second.start]) is not None


def _between(one: Medicine, other: Medicine) -> list[Check]:
    """What the record of one says of the other; of one without a record what most of its class say."""
    names, records = _names(other), _records(one)
    found = [c for record in records for c in _with(record, names, other.written)]
    borrowed = bool(one.generic) and _record(one) is None
    return [] if borrowed and len({c.page for c in found}) < COMMON * len(records) else found


def _with(record: Record, names: frozenset[str] | set[str], beside: str) -> Iterator[Check]:
    for interaction in record.interactions:
        if names & {o.lower() for o in interaction.others}:
            yield Check(slug(record.name), beside, ADVICE[interaction.severity], told(interaction), together=True)


def _of_patient(medicine: Medicine, told_of: Told) -> Iterator[Check]:
    """What the record says of the patient's states and conditions; of a class, what most of its records say alike."""
    records = _records(medicine)
    each = [list(_of_record(record, told_of)) for record in records]
    if len(records) == 1:
        yield from each[0]
        return
    agreed = Counter(beside for checks in each for beside in {c.beside for c in checks})
    for beside, count in agreed.items():
        if count >= COMMON * len(records):
            said = [c for checks in each for c in checks if c.beside == beside]
            alike, agree = Counter(c.advice for c in said).most_common(1)[0]
            if agree >= COMMON * len(records):
                yield next(c for c in said if c.advice is alike)


def _of_record(record: Record, told_of: Told) -> Iterator[Check]:
    """What a record says of the patient's states and conditions; of what the medicine treats nothing."""
    treats, page = _stems(" ".join(record.uses)), slug(record.name)
    for activity in told_of.activities:
        harmed = _words()[f"{activity}_harmed"]
        bearing = (s for s in record.side_effects if harmed.search(s))
        yield from (Check(page, activity, Advice.CAUTION, says, together=True) for says in bearing)
    for state, said in told_of.states.items():
        caution = record.of(state)
        treated = state in ORGANS and bool(_stems(said)) and _stems(said) <= treats
        bare = state in told_of.mild and caution is not None and _words()["severe"].search(caution.says)
        if isinstance(caution, ChildCaution):
            caution = _at_age(caution, told_of.age)
        careful = state == "kidneys" and caution is not None and caution.advice is Advice.CAUTION
        if careful and caution is not None and _is_above(told_of.text, caution.says):
            continue
        if caution is not None and not treated and not bare:
            barred = _words()["bars"].search(caution.says) is not None and _is_below(told_of.text, caution.says)
            bars = state in told_of.severe and barred
            yield Check(page, state, Advice.AVOID if bars else caution.advice, caution.says)
    for entry in record.contraindications:
        stated = {
            c: 1.0 if _allergy(c, told_of.allergies) else _stated(c, told_of.stems, treats, record)
            for c in entry.conditions
        }
        condition = max(stated, key=stated.__getitem__)
        if stated[condition] == 1.0:
            yield Check(page, condition, entry.advice, entry.says)
        elif (
            stated[condition] and entry.advice is Advice.AVOID
        ):  # what a severe form bars; what it asks care of is silent
            yield Check(page, condition, Advice.CAUTION, entry.says)


def _at_age(caution: ChildCaution, age: float | None) -> Caution | None:
    """What advice for children means at an age in years; None where it says nothing of it."""
    if age is None:
        return caution
    if age < caution.barred:
        return Caution(advice=Advice.AVOID, says=caution.says)
    if caution.advice is Advice.USUAL and age < INFANT:
        return None  # what is usual for children may not be for a baby
    return caution if age < caution.until else None


def _is_above(text: str, says: str) -> bool:
    """Whether a kidney function that a text states lies above all values in mL/min of which a page speaks."""
    stated, values = GFR.search(text), VALUE.findall(says) if RATE.search(says) else []
    return stated is not None and bool(values) and float(stated[1]) >= max(map(float, values))


def _is_below(text: str, says: str) -> bool:
    """Whether a kidney function that a text states lies below a bound of what a page says; so where either has none."""
    stated, bounds, at = GFR.search(text), [], 0
    for bound in BELOW.finditer(says):
        bounds += [(_words()["bars"].search(says, at, bound.start()) is not None, float(bound[1]))]
        at = bound.end()
    return stated is None or not bounds or float(stated[1]) < max(bounds)[1]  # the highest that bars, else of all


@lru_cache(maxsize=REMEMBERED)
def _stems(text: str) -> frozenset[str]:
    """The stems of a text, with what its words tell in those of the records ("asthmatic": asthma, "EF 25": heart
    failure; KDIGO 2012 calls a GFR below 30 severe)."""
    told_too = (means for pattern, means in _meanings() if pattern.search(text))
    return frozenset(tokens(" ".join((text, *told_too))))


def _allergy(condition: str, allergies: frozenset[str]) -> bool:
    named = condition.lower().removesuffix(" allergy").removeprefix("allergy to ")
    if named == condition.lower():
        return False
    known = next((m.family for m in medicines_in(named) if not m.generic), named)  # NSAID: a class by another name
    return any(n in (a, f"{a}s") or a in (n, f"{n}s") for n in (named, known) for a in allergies)


def _stated(condition: str, stems: Sequence[frozenset[str]], treats: frozenset[str], record: Record) -> float:
    """How fully a clause states a condition: 1, or 0.5 without its degree, or 0.

    A medicine's own name states none, and what it treats is no bar without the degree that is.
    """
    wanted = _stems(condition) - PLAIN
    bare = wanted - DEGREES
    if not bare or bare <= _stems(record.name):
        return 0.0
    if bare < wanted and bare <= treats:
        bare = wanted
    return max((1.0 if wanted <= held else 0.5 if bare <= held else 0.0 for held in stems), default=0.0)


def record_of(medicine: Medicine) -> Record | None:
    """The record of a medicine; None of a class, and where there is none."""
    return _record(medicine) if medicine.generic else None


def known_of(medicine: Medicine) -> tuple[Record, ...]:
    """The records of a class, the best known medicine first; of a medicine without a record its narrowest class's. None
    of a wide group (antibiotic)."""
    return _records(medicine) if _speaks(medicine) else ()


def _record(medicine: Medicine) -> Record | None:
    known = (_own().get(n.lower()) for n in (medicine.generic, medicine.written, *medicine.names))
    return next((r for r in known if r is not None), None)


def _records(medicine: Medicine) -> tuple[Record, ...]:
    """The record of a medicine; of a class those of its members, and of one without a record its narrowest class's."""
    if not medicine.generic:
        written = medicine.written.lower()
        names = (written, written.removesuffix("s"), medicine.family.lower())
        return next((r for n in names if (r := _members(n))), ())
    if (own := _record(medicine)) is not None:
        return (own,)
    alike = (_members(n.lower()) for n in medicine.classes if n.lower() not in BROAD)
    return min((records for records in alike if records), key=len, default=())


def _names(medicine: Medicine) -> frozenset[str]:
    """The names under which an interaction may speak of a medicine: its own and its classes', a class its own alone."""
    if not medicine.generic:
        return frozenset(
            (medicine.written.lower(), medicine.written.lower().removesuffix("s"), medicine.family.lower())
        )
    record = _record(medicine)
    own = (record.name, *record.names, *record.classes) if record is not None else medicine.names
    return frozenset(n.lower() for n in own)


@lru_cache(maxsize=1)
def _own() -> dict[str, Record]:
    """Records by each of their names."""
    return {n.lower(): r for r in reversed(starter_records()) for n in (*r.names, r.name)}


@lru_cache(maxsize=1)
def _classes() -> dict[str, list[Record]]:
    """The records of each class."""
    members: dict[str, list[Record]] = defaultdict(list)
    for record in starter_records():
        for name in record.classes:
            members[name.lower()].append(record)
    return dict(members)


@lru_cache(maxsize=REMEMBERED)
def _members(name: str) -> tuple[Record, ...]:
    """The records of a class, the best known medicine first; none of what is no class."""
    return tuple(sorted(_classes().get(name, ()), key=_rarity))


def _rarity(record: Record) -> float:
    """How rare a medicine's name is in English, the commonest first: a class is told by it."""
    return -zipf(record.name)


@lru_cache(maxsize=1)
def _meanings() -> list[tuple[re.Pattern[str], str]]:
    """How people tell an illness otherwise than the records name it, and its names there."""
    rows = read_yaml(Path(__file__).with_name("meanings.yaml"))
    return [(re.compile(pattern, re.IGNORECASE), means) for means, pattern in rows.items()]


@lru_cache(maxsize=1)
def _words() -> dict[str, re.Pattern[str]]:
    return read_patterns(Path(__file__).with_name("states.yaml"))
