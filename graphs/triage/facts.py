"""A case as facts: what each message told of the patient, and which message put something else in its place.

The messages themselves are kept as said. The case's text, which everything that reads the case is given, is made of
the facts that stand; a later message supersedes a fact, and takes no word out of what was told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tools.evidence import Frozen
from tools.medicines.checks import record_of
from tools.medicines.constraints import named_in
from tools.medicines.names import Medicine
from tools.reading.replacing import Pair, Word, correction_chance, quiet_sorts, replaced, sort_names, words_of
from tools.text.clauses import Clause, clauses
from tools.text.demographics import age_in, read_person
from tools.text.language import language_of
from tools.text.measures import values
from tools.text.negation import is_other_person
from tools.text.questions import is_question, parts
from tools.text.tokens import stem, tokens
from tools.yaml_files import read_patterns

ENDS = (".", "!", "?", "。", "！", "？")
BESIDE = re.compile(r" ?[A-Za-z]+|[\u4e00-\u9fff]")
Characters = tuple[int, int]
Findings = Callable[[str], Collection[str]]
"""Ids of the findings that a text states plainly, with what they are kinds of."""


class Fact(Frozen):
    """A stretch of the case as it states it.

    Attributes:
        turn: number of the message that told it; 0 for stops and spaces between, and for a case stored without facts.
        span: the characters of that message that say so; the whole of it where we put its meaning into words.
        by: number of the message that superseded it; None while it stands. now: what is so since, "" for nothing.
    """

    text: str
    turn: int = 0
    span: Characters | None = None
    by: int | None = None
    now: str = ""

    def part(self, start: int, end: int) -> Fact:
        """Some of its characters."""
        span = self.span
        if span is not None and span[1] - span[0] == len(self.text):
            span = span[0] + start, span[0] + end
        return self.model_copy(update={"text": self.text[start:end], "span": span})


class Edit(NamedTuple):
    """Characters of the case's text and the fact in their place; ``now``: what is so since, if it stands elsewhere."""

    at: Characters
    put: Fact = Fact(text="")
    now: str = ""


def fact_of(message: str, turn: int, text: str = "", at: Characters | None = None) -> Fact:
    """What message ``turn`` says at a place, in ``text``; where no place is given, wherever its own words say so."""
    start = message.find(text)
    at = at or ((start, start + len(text)) if text and start >= 0 else (0, len(message)))
    return Fact(text=text or message[slice(*at)], turn=turn, span=at if turn else None)


def facts_of(message: str, turn: int = 0) -> tuple[Fact, ...]:
    """A message as the one fact that it is until something of it is put right."""
    return (fact_of(message, turn),) if message else ()


def text_of(facts: Iterable[Fact]) -> str:
    """What the facts that stand come to."""
    return "".join(f.text for f in facts if f.by is None)


def extend(facts: tuple[Fact, ...], more: Sequence[Fact]) -> tuple[Fact, ...]:
    """The facts with further statements behind them, each ended by a stop."""
    case, said = text_of(facts), text_of(more)
    if not case or not said:
        return (*facts, *more)
    chinese = language_of(case) == "zh"
    stop, gap = ("。", "") if chinese else (".", " ")
    first, *rest = more
    if not chinese:
        first = first.model_copy(update={"text": first.text[0].upper() + first.text[1:]})
    between = Fact(text="" if language_of(said) == "zh" else " ")
    new = [Fact(text=("" if case.endswith(ENDS) else stop) + gap), first]
    new += [part for fact in rest for part in (between, fact)]
    return (*facts, *(f for f in new if f.text), *([] if said.endswith(ENDS) else [Fact(text=stop)]))


def join(case: str, text: str) -> str:
    """The case and a further statement as one text."""
    return text_of(extend(facts_of(case.strip()), facts_of(text.strip())))


def supersede(facts: Iterable[Fact], edits: Iterable[Edit], by: int | None) -> tuple[Fact, ...]:
    """The facts with each edit's in the place of its characters, which message ``by`` supersedes.

    The edits are in order. ``by`` None: what goes says nothing of the patient and is not kept as superseded.
    """
    out: list[Fact] = []
    waiting, begun = sorted(edits, key=lambda e: e.at)[::-1], 0
    for fact in facts:
        if fact.by is not None:
            out.append(fact)
            continue
        at, size = 0, len(fact.text)
        while waiting and waiting[-1].at[0] - begun < size:
            (start, end), put, now = waiting[-1]
            start, end = max(start - begun, at), min(end - begun, size)
            gone = fact.part(start, end).model_copy(update={"by": by, "now": now or put.text})
            out += [fact.part(at, start), *([gone] if by not in (None, fact.turn) else [])]
            at = end
            if waiting[-1].at[1] - begun > size:
                break  # it goes on in the next fact
            out.append(put)
            waiting.pop()
        out.append(fact.part(at, size) if at else fact)
        begun += size
    return tuple(f for f in out if f.text)


def changes_in(facts: Sequence[Fact], by: int | None = None) -> tuple[Fact, ...]:
    """What was put right, or by one message alone, in the order of the case, each with the word behind it."""
    found, text, at = [], text_of(facts), 0
    for fact in facts:
        if fact.by is None:
            at += len(fact.text)
        elif by in (None, fact.by) and any(map(str.isalnum, fact.text)):
            beside = BESIDE.match(text, at + len(fact.now)) if text.startswith(fact.now, at) else None
            more = beside[0] if beside else ""
            found.append(fact.model_copy(update={"text": fact.text + more, "now": fact.now and fact.now + more}))
    return tuple(found)


# What a message makes of the case so far: it supersedes what it puts right or takes back, and adds what it tells.

SURELY = 0.85  # ours: probability from which a message by itself puts something right, whatever that is
ASKED = 0.9  # ours: probability from which a message changes the case while a question of ours waits for its answer
FEW = 8  # ours: words and signs of a message that tells an age and nothing else
NUMBER = re.compile(r"\d+")
JOINED = re.compile(r"\s*(?:and|or)\s+")  # ours: before another of a row
SUBJECTS = frozenset(("i", "he", "she", "they", "we", "it"))  # ours: stay for what else they do
STOP = re.compile(r"[,;，；]")
MOST_DENIED = 3  # ours: words of what is taken back that can be denied in a sentence
FRAME = ("allergic", "taking", "had")  # sorts of words that tell what a medicine or illness is to the patient
DETAILS = (
    "site",
    "side",
    "level",
    "unit",
    "date",
    "count",
    "number",
    "measured",
    "often",
    "quality",
)  # sorts that tell how, where
TIDY = (
    (re.compile(r"(?<!\s)\s+([,.;，。；])"), r"\1"),
    (re.compile(r"([,;，；])(?:\s*(?:(?:and|or|but)\s*)?[,;，；、])+"), r"\1"),
    (re.compile(r"[,;，；]\s*(?:(?:and|or|but)\s*)?([.。])"), r"\1"),
    (re.compile(r"(?:(?<=[.。])|^)\s*(?:(?:and|or|but)\s*)?[,.;，。；]+\s*"), " "),
    (re.compile(r"(?<!\s)\s+(?:and|or|but)\s*([.,;。])"), r"\1"),
    (re.compile(r" {2,}"), " "),
    (re.compile(r"^\s+|(?<!\s)\s+$"), ""),
)
# Words that say nothing of what is told; ours
GENERIC = (
    "have got getting feel feeling now also actually really honestly tbh all still bit little much day days week weeks"
    " since more like known either"
    " 她 他 我 患者 病人"
)
# ours: words of what any medicine is for
ANY_USE = frozenset(
    tokens(
        "treats treat treatment used use prevents prevent helps help lower lowers disease people adults high low long"
    )
)
PEOPLE = 1.5  # years by which two ages must differ to be two people when nobody is introduced
ROUNDING = 0.05  # years; ages that differ by less are the same
TOLD = 0.8  # of a message's words that the case must hold for it to have been told


def is_correction(message: str, case: str, *, asked: bool = False) -> bool:
    """Whether a message takes back something that the case says, or puts another thing in its place.

    ``asked``: a question of ours waits for its answer, so that only what surely changes the case is a correction.
    """
    if not case or not message.strip():
        return False
    found = _pairs(case, message)
    if asked:
        return any(pair.new is not None and pair.chance >= ASKED for pair in found)
    return bool(found) or correction_chance(message) >= SURELY


def is_other_patient(text: str, case: str) -> bool:
    """Whether a message begins the case of somebody else than ``case`` is about, and does not put right who that is."""
    if _forms()["new_case"].search(text):
        return True
    now, before = read_person(text), read_person(case)
    other_sex = None not in (now.sex, before.sex) and now.sex != before.sex
    (start, end), (at, _) = age_in(case)[1], age_in(text)[1]
    of_relative = any(c.other for t, a in ((case, start), (text, at)) for c in clauses(t) if c.start <= a < c.end)
    puts_right = any(p.old[0] < end and start < p.old[1] for p in _pairs(case, text))
    if of_relative or puts_right or correction_chance(text) >= SURELY:
        return False
    if other_sex and any(_forms()["sex"].search(w.text) for w in words_of(text)) and is_correction(text, case):
        return False
    introduced = _forms()["introduced"].match(text) is not None
    apart = abs(now.age - before.age) if now.age is not None and before.age is not None else 0.0
    return (introduced and other_sex) or apart > (ROUNDING if introduced else PEOPLE)


def is_repeated(text: str, messages: Sequence[str], case: str) -> bool:
    """Whether each sentence of a message stands in the case, or it was sent before and the case holds what it says."""
    stated, said = ({same(s) for s in some} for some in (parts(case), messages))
    if same(text) not in said:
        return all(same(part) in stated for part in parts(text))
    words = set(tokens(text))
    return len(words & set(tokens(case))) >= TOLD * len(words)


def revise(facts: tuple[Fact, ...], message: str, turn: int, findings: Findings | None = None) -> tuple[Fact, ...]:
    """The case with what message ``turn`` replaces or takes back superseded, and what else it tells at its end.

    ``findings``: where given, a denial is also told by its meaning.
    """
    case = text_of(facts)
    found = _pairs(case, message)
    if not found:
        return add(facts, facts_of(message, turn), turn, findings)
    edits = []
    for old, new, _ in found:
        put = _written_like(message[slice(*new)], case[slice(*old)]) if new else ""
        edits.append(Edit(old, fact_of(message, turn, put, new)) if new else Edit(_whole(case, message, old)))
    facts = _tidy(supersede(facts, edits, turn))
    told = _tells(message, found, case, text_of(facts), turn)
    places = [new for _, new, _ in found if new]
    # what a sentence that puts something right denies is what was there before
    right = [f for f in told if f.span and any(f.span[0] < b and a < f.span[1] for a, b in places)]
    return extend(add(facts, [f for f in told if f not in right], turn, findings), right)


def add(facts: tuple[Fact, ...], more: Sequence[Fact], turn: int, findings: Findings | None = None) -> tuple[Fact, ...]:
    """The case with more facts of message ``turn``; what they deny or state against a denial is superseded."""
    said = ("" if language_of("".join(f.text for f in more)) == "zh" else " ").join(f.text for f in more)
    return extend(_without(facts, said, turn, findings), more)


def revise_by(
    facts: tuple[Fact, ...], message: str, told: Sequence[Characters], turn: int, findings: Findings | None = None
) -> tuple[Fact, ...]:
    """The same by stretches of a message alone: what it tells beside what it asks."""
    for start, end in told:
        now = -1 - start  # a number of its own, as its characters are counted from its beginning
        facts = tuple(
            f.model_copy(
                update={
                    "by": turn if f.by == now else f.by,
                    "turn": turn if f.turn == now else f.turn,
                    "span": (f.span[0] + start, f.span[1] + start) if f.turn == now and f.span else f.span,
                }
            )
            for f in revise(facts, message[start:end], now, findings)
        )
    return facts


@lru_cache(maxsize=64)
def _pairs(case: str, message: str) -> tuple[Pair, ...]:
    """What a message changes in a case: as the networks say, else what it says to leave out; one that tells another age
    and nothing else puts the patient's right."""
    if (other := other_medicine(case, message)) is not None:
        return (other,)
    found, (said, at), (before, old) = replaced(case, message), age_in(message), age_in(case)
    found = _sound(case, message, [p for p in found if not (_adds(case, message, p) or _unlike(case, message, p))])
    back = [
        p
        for p in (*_taken_back(case, message), *_stopped(case, message), *_not_so(case, message))
        if not any(p.old[0] < o.old[1] and o.old[0] < p.old[1] for o in found)
    ]
    found = sorted([*found, *back], key=lambda p: -p.chance) or _last_value(case, message)
    if found or None in (said, before) or said == before or len(words_of(message)) > FEW or is_other_person(message):
        return tuple(found)
    there, here = NUMBER.search(case, *old), NUMBER.search(message, *at)
    return (Pair(there.span(), here.span(), 1.0),) if there and here else ()


def _sound(case: str, message: str, found: list[Pair]) -> list[Pair]:
    """The changes without words that only go from a clause of which others are replaced, or that the message does not
    name while it names others; and without what a message puts in the place of something by way of a reason."""
    told, said = clauses(case), _named(message)
    reason = _reason(message)
    kept = [p for p in found if p.new is None or reason is None or p.new[0] < reason]
    replaced_in = {n for p in kept if p.new is not None for n, c in enumerate(told) if c.start <= p.old[0] < c.end}
    kept = [
        p for p in kept if p.new is not None
        or not any(c.start < p.old[1] and p.old[0] < c.end and n in replaced_in for n, c in enumerate(told))
    ]  # fmt: skip
    frame = quiet_sorts() | {sort_names().index(name) for name in FRAME}
    if replaced_in:  # what another allergy or medicine is told of stays
        kept = [p for p in kept if p.new or any(frame.isdisjoint(w.sorts) for w in words_of(case[slice(*p.old)]))]
    kept = [p for p in kept if p.new is None or _of_one_sort(case[slice(*p.old)], message, p.new)]
    named = [p for p in kept if p.new is not None or said & _named(case[slice(*p.old)])]
    return named or kept


def _of_one_sort(old: str, message: str, new: Characters) -> bool:
    """Whether a person stands for a person ("my son", "the chap"), and not for whoever tells it ("my mum says")."""
    texts, quiet = (words_of(old), words_of(message[slice(*new)])), quiet_sorts()
    for name in ("relation", "sex"):
        sort = sort_names().index(name)
        told = [any(sort in w.sorts and quiet.isdisjoint(w.sorts) for w in words) for words in texts]
        if told[0] != told[1] or (name == "relation" and told[1] and _forms()["says_so"].match(message, new[1])):
            return False
    return True


def _named(text: str) -> frozenset[str]:
    """Stems of what a text speaks of."""
    quiet = quiet_sorts() | {sort_names().index(name) for name in ("back", "not")}
    return frozenset(w.stem for w in words_of(text) if not quiet & set(w.sorts))


def _reason(message: str) -> int | None:
    """Where a message begins to tell why it takes something back ("scrap the rash, that was my other son")."""
    form = _forms()["taken_back"].search(message)
    stop = STOP.search(message, form.end(form.lastindex or 0)) if form is not None else None
    return stop.end() if stop is not None and _forms()["reason"].match(message, stop.end()) else None


def _last_value(case: str, message: str) -> list[Pair]:
    """What a message that corrects and tells one number or date alone ("no, 2019") puts in the place of the only one
    like it in the case's last sentence."""
    correcting = {sort_names().index(name) for name in ("back", "not")}
    sorts = {sort_names().index(name) for name in ("number", "date", "count")}
    said = [w for w in words_of(message) if not (correcting & set(w.sorts) or quiet_sorts().issuperset(w.sorts))]
    if len(said) != 1 or not sorts & set(said[0].sorts) or not _forms()["puts_right"].search(message):
        return []
    (new,), begun = said, case.rindex(parts(case)[-1]) if parts(case) else 0
    alike = [w for w in words_of(case) if w.start >= begun and w.sorts == new.sorts and _shape(w) == _shape(new)]
    return [Pair(alike[0][:2], new[:2], SURELY)] if len(alike) == 1 and alike[0].text != new.text else []


def _shape(word: Word) -> str:
    return NUMBER.sub(lambda m: "0" * len(m[0]), word.text) if NUMBER.search(word.text) else ""


def _whole(case: str, message: str, old: Characters) -> Characters:
    """What goes with what is taken back: a clause of which nothing is left, the dose of a medicine, and where nothing
    is told instead, how, where and since when it was."""
    form = _forms()["taken_back"].search(message)
    alone = form is not None and (
        _reason(message) is not None or not STOP.search(message, form.end(form.lastindex or 0))
    )
    clause = next((c for c in clauses(case) if c.start <= old[0] and old[1] <= c.end), None)
    if clause is None:
        return old
    details = quiet_sorts() | {sort_names().index(name) for name in DETAILS}
    words, quiet = words_of(case[clause.start : clause.end]), quiet_sorts()
    behind = [w for w in words if clause.start + w.start >= old[1]]
    before = [w for w in words if clause.start + w.end <= old[0]]
    if not alone and not named_in(case[slice(*old)]):
        details = quiet
    medicine, joined = bool(named_in(case[slice(*old)])), JOINED.match(case, clause.end)
    whole = not any(details.isdisjoint(w.sorts) for w in behind) or (medicine and behind[0].text == "for")
    (start, end), listed = (old[0], clause.end if whole else old[1]), False
    if joined and end == clause.end:  # another of a row, or what else the same person does
        listed = any(m.start == joined.end() for m in named_in(case))
        end = joined.end() if before else end
    if medicine and whole and not listed:
        quiet = quiet | {sort_names().index("taking")}
        for word in reversed(before):
            subject = word.text in SUBJECTS or _forms()["says"].fullmatch(word.text)
            if not (quiet & set(word.sorts) or subject) or (joined and subject):
                break
            start = clause.start + word.start
    elif whole and all(quiet & set(w.sorts) for w in before) and not listed:
        start = clause.start
    return start, end


def other_medicine(told: str, message: str) -> Pair | None:
    """A medicine by which a message puts right another that was told: "Actually metformin" of gliclazide. That is the
    only one there, or the one that is given for most of the same; None where it cannot be told."""
    named = named_in(message)
    rest = message
    for medicine in sorted(named, key=lambda m: -m.start):
        rest = rest[: medicine.start] + rest[medicine.start + len(medicine.written) :]
    if len({m.generic for m in named}) != 1 or not named[0].generic or not _forms()["only_corrects"].fullmatch(rest):
        return None
    before = [m for m in named_in(told) if m.generic]
    if any(m.generic == named[0].generic for m in before):
        return None
    shared = {m.generic: len(_given_for(m) & _given_for(named[0])) for m in before}
    most = [name for name, n in shared.items() if n == max(shared.values())]
    if len(most) != 1 or (len(shared) > 1 and not shared[most[0]]):
        return None
    old, new = next(m for m in before if m.generic == most[0]), named[0]
    return Pair((old.start, old.start + len(old.written)), (new.start, new.start + len(new.written)), 1.0)


def _given_for(medicine: Medicine) -> frozenset[str]:
    """The class of a medicine, and what it is for by its record."""
    record = record_of(medicine)
    uses = tokens(" ".join(record.uses)) if record is not None else ()
    return frozenset((medicine.family.lower(), *(t for t in uses if t not in _generic() and t not in ANY_USE)))


def _adds(case: str, message: str, pair: Pair) -> bool:
    """Whether what a message would put in the place of something is told beside it: as an addition ("too"), a medicine
    by itself ("He's on X"), a value of something else, or what it asks, where no word says that anything is put
    right."""
    if pair.new is None:
        return False
    said = next((p for p in parts(message) if message[slice(*pair.new)] in p), message)
    if _forms()["puts_right"].search(message):
        return False
    if said.endswith(("?", "？")) or _forms()["adds"].search(said) or _of_another_measure(case, message, pair):
        return True
    old, new = case[slice(*pair.old)], message[slice(*pair.new)]
    return bool(_forms()["takes"].search(said) and named_in(old) and named_in(new))


def _unlike(case: str, message: str, pair: Pair) -> bool:
    """Whether words of a message cannot stand for words of a case: they are told of as still so or denied, say why
    something was not so, are told there by themselves, or count something else."""
    if pair.new is None:
        return False
    said = next((c for c in clauses(message) if c.start <= pair.new[0] < c.end), None)
    new, forms = message[slice(*pair.new)], _forms()
    if said is not None:
        denied = said.present is False and forms["denial"].search(message, said.start, pair.new[0])
        if denied or any(forms[name].search(said.text) for name in ("still", "belongs")):
            return True
        before = [c.present for c in clauses(message) if c.end <= said.start]
        if before and before[-1] is False and forms["reason"].match(message, said.start):
            return True
    details = quiet_sorts() | {sort_names().index(name) for name in (*DETAILS, *FRAME, "not", "back")}
    rest = case[: pair.old[0]] + " " + case[pair.old[1] :]
    told = [w for w in words_of(new) if details.isdisjoint(w.sorts)]
    if told and {w.stem for w in told} <= {w.stem for w in words_of(rest)}:
        return True
    there, here = _counted(case, pair.old), _counted(message, pair.new)
    return bool(there and here) and there != here


def _counted(text: str, at: Characters) -> str:
    """What the number of a stretch counts, by the word in or behind it: a unit's sort or a noun; "" for no number."""
    number = sort_names().index("number"), sort_names().index("count")
    words = [w for w in words_of(text) if w.start >= at[0]]
    for word, behind in pairwise(words):
        if word.start >= at[1]:
            break
        if set(number) & set(word.sorts):
            named = _forms()["noun"].match(text, behind.start)
            return next((kind for kind, m in (named.groupdict() if named else {}).items() if m), "") or (
                behind.stem if named else ""
            )
    return ""


def _of_another_measure(case: str, message: str, pair: Pair) -> bool:
    """Whether a message tells a value of something else than the value in whose place it would stand."""
    there, here = (
        {v.measure for v in values(text) if v.start < at[1] and at[0] < v.end}
        for text, at in ((case, pair.old), (message, pair.new or (0, 0)))
    )
    return bool(there and here) and there.isdisjoint(here)


def _taken_back(case: str, message: str) -> list[Pair]:
    """The words of the case that a message says to leave out or calls wrong, wherever they are stated."""
    form = _forms()["taken_back"].search(message)
    if form is None or any(map(is_question, parts(message))):
        return []
    what = form[form.lastindex or 0]
    named = {sort_names().index(name) for name in ("side", "sex", "number", "age")}
    if any(named.intersection(word.sorts) for word in words_of(what)) or not _named(what):
        return []  # what is so instead, or what is meant, is not told
    edge = "" if language_of(what) == "zh" else r"\b"
    return [Pair(m.span(), None, 1.0) for m in re.finditer(edge + re.escape(what) + edge, case, re.IGNORECASE)]


def _stopped(case: str, message: str) -> list[Pair]:
    """The medicines of the case that a message says are no longer taken, by whatever name."""
    if any(map(is_question, parts(message))):
        return []
    ended = {m.generic for c in clauses(message) if _forms()["stopped"].search(c.text) for m in named_in(c.text)}
    return [Pair((m.start, m.start + len(m.written)), None, 1.0) for m in named_in(case) if m.generic in ended - {""}]


def _not_so(case: str, message: str) -> list[Pair]:
    """The words of the case for how something was that a message says it was not: "it wasn't sudden"."""
    forms, found = _forms(), []
    for said in clauses(message):
        if said.present is not False or said.other or not forms["was_not"].search(message, said.start, said.end):
            continue
        how, named = _qualities(said.text), frozenset(tokens(forms["begins"].sub(" ", said.plain)))
        for told in clauses(case) if how else ():
            if told.present and not told.other and named - how <= frozenset(tokens(told.plain)):
                found += [
                    Pair((told.start + w.start, told.start + w.end), None, 1.0)
                    for w in words_of(told.text)
                    if _qualities(w.text) & how
                ]
    return found


def _qualities(text: str) -> frozenset[str]:
    """Stems of the words that say how something is, adverbs as adjectives: ``suddenly``, ``sudden``."""
    quality = sort_names().index("quality")
    return frozenset(stem(w.text.removesuffix("ly")) for w in words_of(text) if quality in w.sorts)


def _written_like(put: str, old: str) -> str:
    """What is put into the case in the letters of what it replaces: ``L`` for ``R``, ``left`` for ``right``."""
    if old in ("L", "R") and put.lower() in ("left", "right"):
        return put[0].upper()
    return put[:1].lower() + put[1:] if old[:1].islower() and put[1:].islower() else put


def _tells(message: str, found: Sequence[Pair], before: str, case: str, turn: int) -> list[Fact]:
    """What a correction tells beside what it puts right, without the words by which it begins.

    ``before`` is the case before it, ``case`` the one in which the old is replaced.
    """
    quiet = quiet_sorts() | {sort_names().index(name) for name in ("back", "not", "sex")}
    known = {w.stem for text in (before, case) for w in words_of(text)}
    put = [p.new for p in found if p.new is not None]
    kept, start = [], 0
    for part in parts(message):
        start = message.index(part, start)
        back = _forms()["taken_back"].search(part)
        rest = back.end(back.lastindex or 0) if back is not None else 0
        stop = STOP.search(part, rest) if rest else None
        if stop is not None and _forms()["reason"].match(part, stop.end()):
            stop = None
        words = [w for w in words_of(part) if not rest or (stop is not None and w.start >= stop.end())]
        right = rest or any(start <= a < start + len(part) for a, _ in put)
        denies = not right and any(c.present is False and _named(c.plain) for c in clauses(part))
        if denies or any(
            not quiet & set(w.sorts) and w.stem not in known and not _forms()["says"].fullmatch(w.text)
            and not any(a <= start + w.start < b for a, b in put)
            for w in words
        ):  # fmt: skip
            begun = _begins(words) or (words[0].start if rest else 0)
            kept.append(fact_of(message, turn, at=(start + begun, start + len(part))))
    says = clauses(message)
    for text in (before[slice(*p.old)] for p in found if p.new is None):
        if len(text.split()) > MOST_DENIED:
            continue
        if any(c.present is False and set(tokens(text)) & set(tokens(c.plain)) for c in says):
            kept = kept or [fact_of(message, turn, at=(_begins(words_of(message)), len(message)))]
        else:
            denial = f"没有{text}。" if language_of(text) == "zh" else f"No {text}."
            kept.insert(0, fact_of(message, turn, denial))
    return kept


def _begins(words: Sequence[Word]) -> int:
    """Where a sentence begins behind what only says that something is put right: ``No, wait, the rash itches``."""
    empty, start = {sort_names().index(name) for name in ("empty", "stop", "back", "not")}, 0
    for word, behind in pairwise(words):
        if not empty.issuperset(word.sorts):
            break
        start = behind.start if sort_names().index("stop") in word.sorts else start
    return start


def _tidy(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """The case without stops that stand by themselves since something went."""
    for pattern, into in TIDY:
        matches = pattern.finditer(text_of(facts))
        edits = [Edit(m.span(), Fact(text=m.expand(into))) for m in matches if m[0] != m.expand(into)]
        facts = supersede(facts, edits, None)
    return facts


def same(text: str) -> str:
    """A text as it is compared: lower case, without spaces and closing marks."""
    return re.sub(r"[\s.!?;,。！？；，]+", "", text).lower()


def _without(facts: tuple[Fact, ...], statement: str, turn: int, findings: Findings | None) -> tuple[Fact, ...]:
    """The case with the clauses superseded that the statement contradicts.

    Only the denial of the wider contradicts (``no cough`` and ``cough at night``); where words say that something is
    put right, the narrower contradicts the wider too, and what is so now what was before. Of a clause that tells
    another finding besides ("itchy rash") only the denied word goes.
    """
    case, back = text_of(facts), sort_names().index("back")
    corrects = [set(word.sorts) for word in words_of(statement) if back in word.sorts]
    by_meaning = findings if {back} in corrects else None
    now = [(_stems(c), c) for c in clauses(statement)]
    said, stop = statement.rstrip(".。"), Fact(text="，" if language_of(case) == "zh" else ",")
    edits: list[Edit] = []
    for clause in clauses(case):
        against = next((n for n in now if _contradicts(*n, clause, bool(corrects), by_meaning)), None)
        if against is None:
            continue
        if words := _denied_words(against, clause, findings):
            edits += [Edit(at, now=said) for at in words]
            continue
        person = _forms()["person"].search(case, clause.start, clause.end)
        start, end = person.span() if person else (clause.end, clause.end)
        edits += [Edit((clause.start, start), now=said)]
        edits += [Edit((end, clause.end), stop, said)] if person else []
    return _tidy(supersede(facts, edits, turn)) if edits else facts


def _denied_words(denial: tuple[frozenset[str], Clause], clause: Clause, findings: Findings | None) -> list[Characters]:
    """The words of a stated clause that a denial names, where the rest of it states something else by itself."""
    stems, said = denial
    if findings is None or said.present is not False:
        return []
    named = [w for w in words_of(clause.text) if frozenset(t.rstrip("i") for t in tokens(w.text)) & stems]
    left = clause.text
    for word in reversed(named):
        left = left[: word.start] + left[word.end :]
    rest = set(findings(left))
    if not named or not rest or rest & set(findings(said.plain)):
        return []
    return [(clause.start + w.start, clause.start + w.end) for w in named]


def _contradicts(
    words: frozenset[str], said: Clause, clause: Clause, loose: bool, findings: Findings | None = None
) -> bool:
    """``loose``: words say that something is put right; ``findings``: then also what is told in other words."""
    if said.present is None or clause.present is None or said.present == clause.present:
        return False
    if clause.normal or clause.other or said.other or said.normal:
        return False
    if not loose and (said.past != clause.past or (said.reading and clause.reading)):  # values are each of their time
        return False
    told = _stems(clause)
    if not words or not told:
        return False
    denied, stated = (told, words) if said.present else (words, told)
    if denied <= stated or (loose and stated <= denied):
        return True
    if findings is None:
        return False
    was, now = set(findings(clause.plain)), set(findings(said.plain))
    return bool(was and now) and (was <= now if said.present else now <= was)


def _stems(clause: Clause) -> frozenset[str]:
    """What a clause tells, its nouns and adjectives alike: ``allergies``, ``allergic``."""
    return frozenset(t.rstrip("i") for t in tokens(clause.plain)) - _generic()


@lru_cache(maxsize=1)
def _forms() -> dict[str, re.Pattern[str]]:
    return read_patterns(Path(__file__).with_name("revisions.yaml"))


@lru_cache(maxsize=1)
def _generic() -> frozenset[str]:
    return frozenset(t.rstrip("i") for t in tokens(GENERIC))  # when first asked: its Chinese words load a dictionary
