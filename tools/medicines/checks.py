"""What the records say of a medicine that is asked about, beside the patient's other medicines, allergies and states.

A question is checked only where it asks whether something may be taken. Silence is never "safe": what no record speaks
of gives no check.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from tools.medicines.constraints import asked_of, constraints_in, named_in
from tools.medicines.names import Medicine
from tools.medicines.pages import slug, told
from tools.medicines.records import STATES, Advice, Record, Severity, starter_records
from tools.spelling import mended
from tools.text.abbreviations import expand
from tools.text.clauses import Clause, clauses
from tools.text.demographics import read_person
from tools.text.tokens import tokens
from tools.yaml_files import read_patterns

# ours: what is no medicine and records interact with, by the names that they give it
SUBSTANCES = {
    "alcohol": {"alcohol", "ethanol"},
    "grapefruit": {"grapefruit"},
    "smoking": {"smoking"},
    "caffeine": {"caffeine"},
    "tyramine-rich food": {"tyramine-rich food"},
    "dairy": {"dairy", "dairy products", "dairy product", "milk", "calcium", "calcium carbonate"},
}
CHILD, OLD = 12, 75  # ours: years below and from which the page's words on children and older people are told
# ours: words of a condition that say how bad or how long ago; a case without them asks for caution at most
DEGREES = frozenset(
    tokens(
        "recent severe acute active history previous untreated uncontrolled known current past significant moderate"
        " serious unstable chronic decompensated advanced end-stage"
    )
)
PLAIN = frozenset(tokens("of or with and a the in to"))
# what numbers and treatments tell of organs, in the words of the records (KDIGO 2012: G4 and G5 are severe)
ORGANS = ("kidneys", "liver")  # whose pages tell in one sentence what a severe disease bars
DEGREE_OF = {
    "kidneys_severe": "severe kidney disease kidney failure renal failure severe renal impairment",
    "liver_severe": "severe liver disease decompensated cirrhosis liver failure severe hepatic impairment",
}
# who has an illness, by the first six letters, and the illness
HAS = {"asthma": "asthma", "diabet": "diabetes", "epilep": "epilepsy", "hypert": "hypertension", "parkin": "parkinson",
       "alcoho": "alcoholism", "pregna": "pregnancy", "haemop": "haemophilia", "migrai": "migraine"}  # fmt: skip
COMMON = 0.6  # ours: share of a class's medicines whose pages must agree for the class to be told so
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
        says: the words of the page. together: it is about two medicines, of which nothing is ever called safe.
    """

    page: str
    beside: str
    advice: Advice
    says: str
    together: bool = False


class Checked(NamedTuple):
    """The checks of a question, the gravest first, and what it asks, of `ANSWERS`."""

    checks: tuple[Check, ...] = ()
    asks: str = "may"

    @property
    def decides(self) -> bool:
        """Whether something is said, to a question that does not ask openly."""
        return bool(self.checks) and self.asks != "openly"

    def answer(self, check: Check) -> Answer:
        """What a check answers."""
        return "" if check.together and check.advice is Advice.USUAL else ANSWERS[self.asks][check.advice]


def asks_to_take(text: str, case: str = "") -> bool:
    """Whether a text asks if a medicine may be taken, or does harm: one that it names, or the case ("can he have it?").

    What asks for the effect that studies show asks something else, unless it tells of a patient.
    """
    words = _words()
    studied = words["studied"].search(text) and not (case or words["patient"].search(text))
    asks = words["may"].search(text) or words["harm"].search(text) or words["interacts"].search(text)
    points = words["it"].search(text) or any(words[substance].search(text) for substance in SUBSTANCES)
    named = named_in(text) or (points and named_in(case))
    return bool(asks and named) and not studied


def check(question: str, case: str = "") -> Checked:
    """What the records say of the medicines that a question asks about; ``case`` tells of the patient beside it.

    Asked about is what the asking sentence names; where it names nothing, what was named last before it.
    """
    question, case = mended(question), mended(case)
    if not asks_to_take(question, case):
        return Checked()
    told_of = _words()["fine"].sub(lambda m: " " * len(m[0]), f"{case}\n{question}")  # "is it ok?" says not that it is
    barred = {c.named for c in constraints_in(told_of) if c.why == "allergy"}
    asking = len(told_of) - len(question) + question.rfind(asked_of(question)[:20])
    read = [c for c in clauses(told_of) if c.present is not False and (c.start >= asking or not c.other)]
    named = [m for m in named_in(told_of) if m.written not in barred and _is_meant(told_of, m, read)]
    kinds = {name.lower() for m in named if m.generic for name in m.names}  # a class that stands for one of them
    beside = [m for m in named if m.generic or not {m.written.lower(), m.family.lower()} & kinds]
    asked = [m for m in beside if m.start >= asking] or beside[-1:]
    found = [*_interactions(asked, beside, told_of), *(c for m in asked for c in _of_patient(m, told_of, read))]
    unique_ = {(c.page, c.says): c for c in found}
    checks = tuple(sorted(unique_.values(), key=lambda c: ORDER.index(c.advice)))
    ways = ("openly", "interacts", "harm")
    return Checked(checks, next((w for w in ways if _words()[w].search(asked_of(question))), "may"))


def _is_meant(told_of: str, medicine: Medicine, read: Sequence[Clause]) -> bool:
    """Whether a medicine is taken or asked about: it is not what another stands in for, was stopped, or is denied."""
    start = medicine.start
    if _words()["instead"].search(told_of[max(0, start - 40) : start]):
        return False
    return any(c.start <= start < c.end for c in read) or not any(c.start <= start < c.end for c in clauses(told_of))


def _interactions(asked: Sequence[Medicine], beside: Sequence[Medicine], told_of: str) -> Iterator[Check]:
    """The gravest interaction of each medicine that is asked about with each that is named beside it."""
    others = [*asked, *(m for m in beside if m not in asked)]
    for at, one in enumerate(asked):
        for other in others[at + 1 :]:
            if _names(one) != _names(other):
                found = [*_between(one, other), *_between(other, one)]
                if found:
                    yield min(found, key=lambda c: ORDER.index(c.advice))
    for substance, names in SUBSTANCES.items():
        if _words()[substance].search(told_of):
            yield from (c for m in asked for r in _records(m) for c in _with(r, names, substance))


def _between(one: Medicine, other: Medicine) -> Iterator[Check]:
    """What the record of one says of the other."""
    names = _names(other)
    for record in _records(one):
        yield from _with(record, names, other.written)


def _with(record: Record, names: frozenset[str] | set[str], beside: str) -> Iterator[Check]:
    for interaction in record.interactions:
        if names & {o.lower() for o in interaction.others}:
            yield Check(slug(record.name), beside, ADVICE[interaction.severity], told(interaction), together=True)


def _of_patient(medicine: Medicine, told_of: str, read: Sequence[Clause]) -> Iterator[Check]:
    """What the record says of the patient's states and conditions; of a class, what most of its records say alike."""
    records = _records(medicine)
    each = [list(_of_record(record, told_of, read)) for record in records]
    if len(records) == 1:
        yield from each[0]
        return
    agreed = Counter(beside for checks in each for beside in {c.beside for c in checks})
    for beside, count in agreed.items():
        if count >= COMMON * len(records):
            yield next(c for checks in each for c in checks if c.beside == beside)


def _of_record(record: Record, told_of: str, read: Sequence[Clause]) -> Iterator[Check]:
    """What a record says of the patient's states and conditions; of what the medicine treats nothing."""
    allergies = {n for c in constraints_in(told_of) if c.why == "allergy" for n in c.names}
    stems = [_stems(f"{c.told} {expand(c.text)}") for c in read] + [_stems(t) for t in _degrees(told_of)]
    treats, page = _stems(" ".join(record.uses)), slug(record.name)
    for state, said in _states(told_of).items():
        caution = record.of(state)
        treated = state in ORGANS and bool(_stems(said)) and _stems(said) <= treats
        if caution is not None and not treated:
            bars = (
                state in ORGANS
                and _words()[f"{state}_severe"].search(told_of)
                and _words()["bars"].search(caution.says)
            )
            yield Check(page, state, Advice.AVOID if bars else caution.advice, caution.says)
    for entry in record.contraindications:
        stated = {c: 1.0 if _allergy(c, allergies) else _stated(c, stems, treats, record) for c in entry.conditions}
        condition = max(stated, key=stated.__getitem__)
        if stated[condition]:
            advice = entry.advice if stated[condition] == 1.0 else max(entry.advice, Advice.CAUTION, key=ORDER.index)
            yield Check(page, condition, advice, entry.says)


def _states(told_of: str) -> dict[str, str]:
    """The patient's states, each with the words that tell it, "" where an age does; a mother's baby is no patient."""
    age = read_person(told_of).age
    ages = {"children": age is not None and age < CHILD, "older": age is not None and age >= OLD}
    read = [c.text for c in clauses(told_of) if c.present is not False]
    stated = {s: m[0] for s in STATES for text in read if (m := _words()[s].search(text)) is not None}
    if {"pregnancy", "breastfeeding"} & stated.keys():
        stated.pop("children", None)
    return {s: stated.get(s, "") for s in STATES if s in stated or ages.get(s)}


def _degrees(told_of: str) -> list[str]:
    """What numbers and treatments tell of kidneys and liver, in the words of the records."""
    return [text for name, text in DEGREE_OF.items() if _words()[name].search(told_of)]


def _stems(text: str) -> frozenset[str]:
    """The stems of a text, with the illness of who has it for who has it ("asthmatic")."""
    return frozenset(tokens(_words()["has"].sub(lambda m: f"{m[0]} {HAS[m[0].lower()[:6]]}", text)))


def _allergy(condition: str, allergies: set[str]) -> bool:
    named = condition.lower().removesuffix(" allergy").removeprefix("allergy to ")
    return named != condition.lower() and any(named in (a, f"{a}s") or a in (named, f"{named}s") for a in allergies)


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
    return next(iter(_records(medicine)), None) if medicine.generic else None


def _records(medicine: Medicine) -> tuple[Record, ...]:
    """The record of a medicine; of a class those of its members."""
    if not medicine.generic:
        written = medicine.written.lower()
        return next(
            (r for n in (written, written.removesuffix("s"), medicine.family.lower()) if (r := _members().get(n))), ()
        )
    known = (_own().get(n.lower()) for n in (medicine.generic, medicine.written, *medicine.names))
    return tuple(r for r in known if r is not None)[:1]


def _names(medicine: Medicine) -> frozenset[str]:
    """The names under which an interaction may speak of a medicine: its own and its classes', a class its own alone."""
    if not medicine.generic:
        return frozenset(
            (medicine.written.lower(), medicine.written.lower().removesuffix("s"), medicine.family.lower())
        )
    own = [n for r in _records(medicine) for n in (r.name, *r.names, *r.classes)]
    return frozenset(n.lower() for n in (own or medicine.names))


@lru_cache(maxsize=1)
def _own() -> dict[str, Record]:
    """Records by each of their names."""
    return {n.lower(): r for r in reversed(starter_records()) for n in (*r.names, r.name)}


@lru_cache(maxsize=1)
def _members() -> dict[str, tuple[Record, ...]]:
    """The records of each class, the best known medicine first."""
    members: dict[str, list[Record]] = defaultdict(list)
    for record in sorted(starter_records(), key=_rarity):
        for name in record.classes:
            members[name.lower()].append(record)
    return {name: tuple(held) for name, held in members.items()}


def _rarity(record: Record) -> float:
    """How rare a medicine's name is in English, the commonest first: a class is told by it."""
    from wordfreq import zipf_frequency

    return -zipf_frequency(record.name, "en")


@lru_cache(maxsize=1)
def _words() -> dict[str, re.Pattern[str]]:
    return read_patterns(Path(__file__).with_name("states.yaml"))
