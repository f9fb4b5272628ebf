"""Red flags of an emergency: what numbers show, and what a trained head hears, each with a name and what to do."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from graphs.triage.contract import Kind, RedFlag, SessionView, TriageDecision
from graphs.triage.facts import Fact, changes_in, text_of
from tools.medicines.names import medicines_in
from tools.reading.messages import (
    PATIENT,
    PLAINLY,
    WORDS,
    Heard,
    emergency_chance,
    emergency_in,
    reply_chance,
    sorted_as,
)
from tools.text import questions
from tools.text.clauses import Clause, clauses, patient_in
from tools.text.demographics import Person, read_person
from tools.text.measures import ADULT, Value, is_of_now, is_usual, readings, tells, values
from tools.text.negation import chinese_negation, negations, verbal_negation
from tools.text.sentences import sentences
from tools.text.tokens import tokens
from tools.yaml_files import read_yaml

NAMES = Path(__file__).parent / "red_flags.yaml"
OWN_LIFE = "suicide"
UNNAMED = "emergency"  # code of one that is like examples of several
# ours: probability from which an emergency is named; of examples held out 58 % are, 96 % of these rightly, and of
# emergencies that are like no example one in five is named after another (of 0.3: 82, 87 and 57 %)
NAMED = 0.6
BESIDE_NUMBERS = 0.8  # ours: the same where numbers or plain words show an emergency already
ADVISED = 0.5  # ours: the same of what to do
Grave = Callable[[str], float]
"""How much of the belief in what explains a text is in emergencies, 0..1; below 0 where mild diseases surely do."""
# ours: log-odds that all of it adds; with 5 as with 6.5 one of 450 look-alikes of the examples is flagged that was not,
# and at most five of 350 cases, some of which are emergencies
WEIGHS = 6.0
LONGEST = 200  # ours: words, or pairs of Chinese characters, of a text that is so read
OF_PATIENT = 0.1  # ours: probability from which terse words of a clinician may be about a patient
FAINTLY = 0.002  # ours: probability below which it would change nothing
VIGNETTE = re.compile(
    r"^\W*(?:(?:an? |the )(?:[\w-]+ ){0,4}(?:man|woman|patient|boy|girl|child|infant|baby|male|female|\S*-old)\b|"
    r"患者|病人|患儿|产妇|孕妇|[男女](?:性|[，,])|"
    r"[\d一二两三四五六七八九十]{1,4}(?:岁|个?月|周|天)(?:半|多|大)?的?(?:[男女患婴]|小儿|儿童|老人|孕妇|产妇))",
    re.I,
)
FIRST_PERSON = re.compile(r"\b(?:I|me|my|myself)\b|我", re.IGNORECASE)
QUOTED = 200  # ours: characters of a clause that are told
MOST_TOLD, CLAUSES = 3, 30  # ours: clauses that are told, and of a long message those that are looked at
GAPS = re.compile(r"([,.;，。；])(?:\s*[,;，；、.。])+")  # what is left between values that were taken out
WORDED = re.compile(r"[^\W\d_]{2}")  # "28M" sets nothing off
THRESHOLDS = Path(__file__).parent / "readings.yaml"
COMPARED: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt
}  # fmt: skip


class Emergency(NamedTuple):
    """What an emergency is called, and what to do, by language; whether a differential says more of it, and what is
    added of it alone."""

    code: str
    name: dict[str, str]
    advice: dict[str, str]
    diagnosed: bool = True
    more: dict[str, str] | None = None

    def flag(self, language: str, quotes: str) -> RedFlag:
        """It as it is told, by the words that showed it."""
        seen = self.name[language] + ("：" if language == "zh" else ": ") + quotes
        gap = "" if language == "zh" else " "
        advice = self.advice[language] + (gap + self.more[language] if self.more is not None else "")
        return RedFlag(code=self.code, seen=seen, advice=advice, diagnosed=self.diagnosed)


class Emergencies(NamedTuple):
    """Every emergency by its code, the code of each kind of example, of whom alone some are named, and what numbers
    show of them in words of their own, by language."""

    named: dict[str, Emergency]
    exemplars: dict[str, str]
    only: dict[str, dict[str, Any]]
    told_as: dict[str, dict[str, str]]


def red_flags(
    text: str,
    language: str,
    *,
    alone: bool = True,
    exam: bool = False,
    grave: Grave | None = None,
    beside_known: Callable[[str], str] | None = None,
    calm: bool = False,
) -> tuple[RedFlag, ...]:
    """The emergencies that a message shows, worded in ``language``: by its numbers, its words, and what it tells.

    Args:
        alone: nothing was said before. exam: options are given; the patient of an examination's vignette is nobody.
        grave: how much of the belief in what explains a text is in emergencies; where the head by itself hears none,
            it hears more by that. Where mild diseases surely explain the text, it must hear one plainly.
        beside_known: a text without what a disease that it gives as known accounts for. Where that disease takes its
            usual course, the head must hear an emergency in the rest.
        calm: what is new of the text adds no alarm: the head must hear an emergency plainly, but a wish to die.
    """
    if exam and VIGNETTE.match(text):
        return ()
    shown = () if exam else merged(by_words(text, language), by_numbers(text, language))
    plain = plain_of(text)
    told = without_harmless(plain)
    hear = partial(emergency_in, alone=alone and not exam)
    heard = hear(plain) if told and not is_steady(without_normal(text)) else None
    if told and ((heard is None and not alone) or (calm and emergency_chance(plain) < PLAINLY)):
        heard = _own_life(plain)
    if told and not calm and not shown and alone and grave is not None and (heard is not None or not _is_dated(text)):
        belief = beside(plain, grave)
        if heard is None or belief < 0:
            hear = partial(hear, beside=max(belief, 0.0), plainly=belief < 0)
            heard = hear(plain)
    if heard is None or (told != plain and hear(told) is None):
        return shown
    worded = without_normal(told)
    if beside_known is not None and _is_usual_course(text):
        worded = GAPS.sub(lambda m: m[1], beside_known(worded)).strip(" ,;，；、")
    if worded != told:
        heard = hear(worded) if worded else None
        if heard is None:
            return shown
        told = worded
    found = _likeliest(heard.kinds, text, BESIDE_NUMBERS if shown else NAMED)
    if shown and (found.code == UNNAMED or any(flag.code == found.code for flag in shown)):
        return shown
    return (found.flag(language, telling(told)), *shown)


def _own_life(text: str) -> Heard | None:
    """A wish to die that the head of first messages hears in a reply, which need not be plain: "I bought a rope"."""
    heard = emergency_in(text)
    return heard if heard is not None and _likeliest(heard.kinds, text, 0.0).code == OWN_LIFE else None


def beside(text: str, grave: Grave) -> float:
    """Log-odds that what explains a text adds to what the head hears, below 0 where mild diseases surely do;
    none in a long history, which is dear to read, and none where the head is so sure that it would change
    nothing. What has lasted for weeks is not asked about at all: a grave disease then mostly is no emergency."""
    read = emergency_chance(text) >= FAINTLY and len(WORDS.findall(text)) <= LONGEST
    return WEIGHS * grave(text) if read else 0.0


def by_words(text: str, language: str) -> tuple[RedFlag, ...]:
    """The emergencies that plain words tell, whatever the head hears: a wish to die is never missed."""
    if all(map(questions.is_question, questions.parts(text))) and not FIRST_PERSON.search(text):
        return ()  # "Do such tablets make people want to die?"
    found: dict[str, str] = {}
    for line in _rules()["told"]:
        if _rules()["words"][line["words"]].search(text) is None:
            continue
        beside = ("with" not in line or _tells(text, line["with"])) and not (line.get("recent") and _is_dated(text))
        beside = beside and not ("without" in line and _rules()["words"][line["without"]].search(text))
        beside = beside and not (line.get("of_patient") and sorted_as(text).of(*PATIENT) < OF_PATIENT)
        if line["code"] not in found and beside and (said := _says(text, line["words"])):
            found[line["code"]] = said
    return tuple(emergencies().named[code].flag(language, _quoted([said])) for code, said in found.items())


def _is_usual_course(text: str) -> bool:
    """Whether a message says that something is as it always is, and nothing that it is not."""
    words = _rules()["words"]
    return words["usual_course"].search(text) is not None and words["changed"].search(text) is None


def is_steady(text: str) -> bool:
    """Whether what a message tells has lasted for weeks or longer, and nothing in it is fresh or grave: of the examples
    none that is an emergency is so told."""
    return _is_dated(text) and not _rules()["words"]["grave"].search(text)


def _is_dated(text: str) -> bool:
    words = _rules()["words"]
    return words["weeks"].search(text) is not None and words["fresh"].search(text) is None


def plain_of(text: str) -> str:
    """A message without results of serology, which the head takes for signs of danger."""
    told: str = _rules()["words"]["serology"].sub("", text)
    return told if any(map(str.isalnum, told)) else text


def without_normal(text: str) -> str:
    """A message without the values that are surely as they should be, which raise no emergency and name none; "" where
    it tells nothing but these."""
    told = readings(text, read_person(text), patient_in(text))
    normal = {(r.start, r.end) for r in told if r.words and r.normal}
    normal |= {(v.start, v.end) for v in values(text, quiet=True) if is_usual(v)}
    for start, end in sorted(normal, reverse=True):
        text = text[:start] + text[end:]
    return GAPS.sub(lambda m: m[1], text).strip(" ,;，；、") if any(map(str.isalnum, text)) else ""


def without_harmless(text: str) -> str:
    """A message without what else the head takes for signs of danger: how many medicines are taken, the question
    whether one may be, and complaints that nothing beside them makes dangerous (`harmless` in readings.yaml); "" where
    it tells nothing but these. An emergency must be heard without them, too."""
    text = _rules()["words"]["vaccinated"].sub("", text)
    fewer = _rules()["words"]["regular_medicines"].sub("", text)
    told = fewer if any(map(str.isalnum, fewer)) else text
    if not any(map(str.isalnum, told)):
        return ""
    told = _without(told, _asks_to_take) or told
    for line in _rules()["harmless"]:
        if _tells(told, line["words"]) and not _tells(told, line["unless"]):
            told = _without(told, lambda clause, line=line: _is_harmless(clause, line))  # type: ignore[misc]
    return told


def _without(text: str, left_out: Callable[[Clause], bool]) -> str:
    """A text without some of its clauses, as it is where none goes."""
    gone = [c for c in clauses(text) if left_out(c)]
    for clause in reversed(gone):
        text = text[: clause.start] + text[clause.end :]
    return text if not gone else text.strip(" ?.,;!，。；？！") if any(map(str.isalnum, text)) else ""


def _is_harmless(clause: Clause, line: Mapping[str, str]) -> bool:
    words = _rules()["words"]
    return clause.present is False or bool(
        words[line["words"]].search(clause.text) or words[line["beside"]].search(clause.text)
    )


def _asks_to_take(clause: Clause) -> bool:
    """Whether a clause asks if a medicine may be taken, or names one and nothing else."""
    named = medicines_in(clause.text)
    asked = _rules()["words"]["may_take"].search(clause.text) is not None
    return bool(named) and (asked or sum(len(m.written) for m in named) == len(clause.text.strip()))


def _says(text: str, words: str) -> str:
    """The clause in which some words stand that nothing before them denies, and that are of now, of whomever they
    are told; "" where none does."""
    for match in _rules()["words"][words].finditer(text):
        clause = next((c for c in clauses(text) if c.start <= match.start() < c.end), None)
        before = text[clause.start : match.start()] if clause is not None else ""
        negated = negations(before) or verbal_negation(before) or chinese_negation(before)
        if not negated and (clause is None or not clause.past):
            return match[0] if clause is None else text[clause.start : max(clause.end, match.end())]
    return ""


def by_numbers(text: str, language: str) -> tuple[RedFlag, ...]:
    """The emergencies that a patient's numbers show."""
    found = alarms(text)
    if not found or all(map(questions.is_question, questions.parts(text))):
        return ()  # "Is a pressure of 84/50 dangerous?"
    return tuple(
        _as_told(flag).flag(language, _quoted([text[a:b] for a, b in sorted(set(spans))]))
        for flag, spans in found.values()
    )


def _as_told(flag: Mapping[str, Any]) -> Emergency:
    """The emergency of a flag, called by what its numbers show."""
    known = emergencies()
    named = known.named[flag["code"]]
    return named._replace(name=known.told_as[flag["as"]]) if "as" in flag else named


def _likeliest(kinds: Mapping[str, float], text: str, least: float) -> Emergency:
    """What an emergency is by its likeness to each kind of example; unnamed where that is not sure enough, or where
    the patient of the text cannot have it."""
    known = emergencies()
    codes: dict[str, float] = {}
    for kind, share in kinds.items():
        codes[known.exemplars[kind]] = codes.get(known.exemplars[kind], 0.0) + share
    code = max(codes, key=codes.__getitem__)
    if codes[code] >= least and _can_have(text, known.only.get(code, {})):
        return known.named[code]
    advice: dict[str, float] = {}
    codes = {c: share for c, share in codes.items() if _can_have(text, known.only.get(c, {}))}
    for other, share in codes.items():
        told = known.named[other].advice["en"]
        advice[told] = advice.get(told, 0.0) + share
    sure = next((e for c, e in known.named.items() if c in codes and advice[e.advice["en"]] >= ADVISED), None)
    unnamed = known.named[UNNAMED]
    return unnamed if sure is None else unnamed._replace(advice=sure.advice)


def _can_have(text: str, only: Mapping[str, Any]) -> bool:
    """Whether the patient of a text is of those who alone have an emergency, or may be."""
    person = read_person(text)
    mother = only.get("below") is not None and _rules()["words"]["gave_birth"].search(text) is not None
    age_fits = person.age is None or only.get("from", 0) <= person.age < only.get("below", math.inf)
    told = "words" not in only or _rules()["words"][only["words"]].search(text) is not None
    return told and age_fits and not mother and person.sex in (None, only.get("sex", person.sex))


def telling(text: str) -> str:
    """The words of a message that set the head off: the fewest of its clauses that by themselves tell of an emergency
    about as surely as the whole, of those that state something and name a part of the body or a thing of medicine;
    numbers of vital signs beside them are told by `by_numbers`."""
    every = [c for c in clauses(text) if not c.other and WORDED.search(c.text)]
    asking = [s for s in sentences(text) if s.of(text).rstrip().endswith(("?", "？"))]
    stated = [c for c in every if c.present and not any(s.start <= c.start < s.end for s in asking)]
    every = (stated or every)[: 2 * CLAUSES]
    clause = [c.text for c in [c for c in every if _names_something(c)] or every][:CLAUSES]
    enough, kept = min(PLAINLY, emergency_chance(text)), list[int]()
    while len(kept) < MOST_TOLD and len(kept) < len(clause):
        more = [sorted((*kept, n)) for n in range(len(clause)) if n not in kept]
        kept = max(more, key=lambda some: emergency_chance(", ".join(clause[n] for n in some)))
        if emergency_chance(", ".join(clause[n] for n in kept)) >= enough:
            break
    return _quoted([clause[n] for n in kept] or [text])


def _names_something(clause: Clause) -> bool:
    return bool(clause.sites) or clause.reading or sorted_as(clause.text).term


def _quoted(said: Sequence[str]) -> str:
    cut = [t if len(t) <= QUOTED else f"{t[:QUOTED].rstrip()}…" for t in map(str.strip, said)]
    return "; ".join(f"“{t}”" for t in cut)


@lru_cache(maxsize=1)
def emergencies() -> Emergencies:
    """The names and advice of this room's YAML file."""
    data: dict[str, Any] = read_yaml(NAMES)
    every = [
        Emergency(
            e["code"], e, data["advice"][e["advice"]], e["code"] not in data["undiagnosed"], data["more"].get(e["code"])
        )
        for e in data["named"]
    ]
    return Emergencies({e.code: e for e in every}, data["exemplars"], data["only"], data["told_as"])


def alarms(text: str) -> dict[str, tuple[dict[str, Any], list[tuple[int, int]]]]:
    """The codes of emergencies that the numbers of a patient's text show, each with the flag that tells it and the
    characters that show it."""
    patient, person = patient_in(text), read_person(text)
    of_now = cache(lambda value: is_of_now(value, text, patient))
    told: dict[str, list[Value]] = {}
    for value in values(text, quiet=True):
        told.setdefault(value.measure, []).append(value)
    found: dict[str, tuple[dict[str, Any], list[tuple[int, int]]]] = {}
    for flag in _rules()["flags"]:
        shown = next((spans for line in flag["when"] if (spans := _met(line, told, of_now, person))), None)
        if (
            shown
            and flag["code"] not in found
            and not any(map(of_now, told.get(flag.get("unless", ""), ())))
            and _applies(flag, text, person)
        ):
            found[flag["code"]] = flag, shown
    return found


def _met(
    line: Sequence[str], told: Mapping[str, Sequence[Value]], of_now: Callable[[Value], bool], person: Person
) -> list[tuple[int, int]]:
    """The characters of the numbers by which every condition of a line holds; [] when one does not."""
    spans: list[tuple[int, int]] = []
    for condition in line:
        name, sign, limit = condition.split(maxsplit=2)
        shown = (
            [v for v in told.get(name, ()) if tells(v, limit, person)]
            if sign == "tells"
            else [v for v in told.get(name, ()) if COMPARED[sign](v.number, float(limit))]
        )
        hit = next(filter(of_now, shown), None)
        if hit is None:
            return []
        spans.append((hit.start, hit.end))
    return spans


def _applies(flag: dict[str, Any], text: str, person: Person) -> bool:
    """Whether what a flag asks for beside the numbers is there."""
    age = person.age
    if flag.get("adult") and age is not None and age < ADULT:
        return False
    if "under_months" in flag and (age is None or age * 12 >= flag["under_months"]):
        return False
    if ("without" in flag and _tells(text, flag["without"])) or (flag.get("recent") and _is_dated(text)):
        return False
    return "with" not in flag or _tells(text, flag["with"])


def _tells(text: str, name: str) -> bool:
    """Whether something of the words of this name is told and not denied."""
    places = [match.start() for match in _rules()["words"][name].finditer(text)]
    if not places:
        return False
    denied = [c for c in clauses(text) if c.present is False or c.other]
    return any(not any(c.start <= at < c.end for c in denied) for at in places)


@lru_cache(maxsize=1)
def _rules() -> dict[str, Any]:
    rules: dict[str, Any] = read_yaml(THRESHOLDS)
    rules["words"] = {name: re.compile(words, re.IGNORECASE) for name, words in rules["words"].items()}
    return rules


# Emergencies that a session told before and that stand: they are told with every later turn about its patient.

QUIET = (Kind.SMALL_TALK, Kind.ASSISTANT)  # kinds of turn beside which what stands is not told; it stays
QUOTE = re.compile("“([^”]*?)…?”")


def with_open(decision: TriageDecision, message: str, session: SessionView) -> TriageDecision:
    """A decision with the emergencies that were told before and stand, behind those of the message itself.

    A new patient's case ends them; a correction ends those that the case as it is now tells no more.
    """
    of_another = decision.kind is Kind.MULTIPLE_CHOICE and VIGNETTE.match(message)
    if decision.new_case or decision.kind in QUIET or of_another or not (session.case or session.open_flags):
        return decision
    now = [_dated(flag, message, session) for flag in decision.red_flags]
    told = {flag.code for flag in now}
    kept = [f for f in standing(decision.facts, session) if f.code not in told]
    now = [f for f in now if not (f.earlier and f.code == UNNAMED and kept)]  # it has a name
    earlier = [_worded(f, decision.language).model_copy(update={"earlier": True}) for f in kept]
    flags = sorted([*now, *earlier], key=lambda flag: flag.earlier)
    return decision.model_copy(update={"red_flags": tuple(flags)})


def standing(facts: tuple[Fact, ...], session: SessionView) -> list[RedFlag]:
    """Those of the session's emergencies that stand beside the case as it is after the message."""
    if not session.open_flags or not changes_in(facts, session.turn):
        return list(session.open_flags)
    case = text_of(facts)
    live = {flag.code for text in (case, *_messages(facts)) for flag in red_flags(text, "en")}
    return [f for f in session.open_flags if f.code in live or _stands(f, case, session.case, alarming=bool(live))]


def merged(message: Sequence[RedFlag], case: Sequence[RedFlag]) -> tuple[RedFlag, ...]:
    """What a message shows, then what the case shows with it, each emergency once; one without a name gives way to the
    case's where both are told by the same words."""
    said = {quote for flag in case if flag.code != UNNAMED for quote in quotes(flag)}
    own = [f for f in message if f.code != UNNAMED or not said.intersection(quotes(f))]
    codes = {f.code for f in own}
    return (*own, *(f for f in case if f.code not in codes and (f.code != UNNAMED or not own)))


def agreeing(flags: Sequence[RedFlag], named: Sequence[RedFlag], message: str) -> list[RedFlag]:
    """The red flags of a turn beside what a model ``named`` as one: what the head alone heard in other words of the
    newest message gives way, since it misnames what the model has read. Numbers and plain words stand."""
    said = {word for flag in named for word in tokens(flag.seen)}
    alone = heard_alone(flags, message) if named else []
    return [f for f in flags if f not in alone or said & set(tokens(" ".join(quotes(f))))]


def doubted(flags: Sequence[RedFlag], *texts: str) -> list[RedFlag]:
    """Those that a model which read the message and names no emergency speaks against: what the head alone hears and
    cannot name, where neither the message nor the case tells it plainly."""
    plainly = max(max(emergency_chance(text), reply_chance(text)) for text in texts) >= PLAINLY
    return [] if plainly else [f for f in heard_alone(flags, " ".join(texts)) if f.code == UNNAMED]


def heard_alone(flags: Sequence[RedFlag], message: str) -> list[RedFlag]:
    """Those of a message that neither numbers nor plain words tell."""
    sure = {f.code for f in (*by_words(message, "en"), *by_numbers(message, "en"))}
    own = message.casefold()
    return [f for f in flags if f.code not in sure and all(q in own for q in quotes(f))]


def quotes(flag: RedFlag) -> list[str]:
    """The words that an emergency was told by, as they were said."""
    return [quote.strip().casefold() for quote in QUOTE.findall(flag.seen)]


def _stands(flag: RedFlag, case: str, before: str, *, alarming: bool) -> bool:
    """Whether a correction left what told an emergency: its words stand in a case that alarms still, or no words of the
    case told it."""
    said = [quote for quote in quotes(flag) if quote in before.casefold()]
    return not said or (alarming and all(quote in case.casefold() for quote in said))


def _messages(facts: Sequence[Fact]) -> list[str]:
    """What stands of the case by the message that told it."""
    turns = dict.fromkeys(fact.turn for fact in facts if fact.turn)
    told = [" ".join(f.text for f in facts if f.turn == turn and f.by is None) for turn in turns]
    return [text for text in told if any(map(str.isalnum, text))]


def _dated(flag: RedFlag, message: str, session: SessionView) -> RedFlag:
    """An emergency of the case; ``earlier`` where nothing in the message told it."""
    said = quotes(flag)
    text = message.replace("’", "'").casefold()
    earlier = bool(session.case and said) and not any(quote in text for quote in said)
    return flag.model_copy(update={"earlier": earlier})


def _worded(flag: RedFlag, language: str) -> RedFlag:
    """An emergency in the language of the turn."""
    known = emergencies()
    found = known.named.get(flag.code)
    if found is None or flag.seen.startswith(found.name[language]):
        return flag
    called = next((n for n in known.told_as.values() if flag.seen.startswith(tuple(n.values()))), found.name)
    return found._replace(name=called).flag(language, "; ".join(f"“{quote}”" for quote in QUOTE.findall(flag.seen)))
