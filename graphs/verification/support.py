"""Whether quotes support a statement: its words, numbers and negations against theirs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from graphs.verification.absence import without_absence
from graphs.verification.conditions import reconditioned
from graphs.verification.opposites import limits, opposed, opposed_clause, told_apart
from tools.evidence import Evidence, Frozen, Statement
from tools.medicines.names import medicines_in
from tools.text.language import language_of
from tools.text.negation import DENIES, prose_clauses
from tools.text.tokens import tokens

# A figure that stands alone: not the digits of a code (J93.1) or of a name (CA19).
NUMBER = re.compile(r"(?<![A-Za-z\d.,])\d+(?:[.,]\d+)*")
NUMBER_WORDS = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14", "fifteen": "15",
    "sixteen": "16", "seventeen": "17", "eighteen": "18", "nineteen": "19", "twenty": "20", "thirty": "30",
    "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90", "half": "0.5",
    "twice": "2",
}  # fmt: skip
ORDINALS = {"second": "2", "third": "3", "fourth": "4", "fifth": "5", "sixth": "6", "seventh": "7", "tenth": "10"}
# Units that can be told in another: of what, and how many of it; those that cannot stand for themselves. Ours.
UNITS = {
    "min": ("minute", 1), "minute": ("minute", 1), "h": ("minute", 60), "hour": ("minute", 60), "day": ("minute", 1440),
    "week": ("minute", 10080), "month": ("month", 1), "year": ("month", 12), "mcg": ("mg", 0.001),
    "microgram": ("mg", 0.001), "mg": ("mg", 1), "milligram": ("mg", 1), "g": ("mg", 1000), "gram": ("mg", 1000),
    "kg": ("kg", 1), "ml": ("ml", 1), "millilitre": ("ml", 1), "litre": ("ml", 1000), "l": ("ml", 1000),
    "cm": ("cm", 1), "am": ("clock", 1), "pm": ("clock", 1), "%": ("%", 1), "mmhg": ("mmHg", 1), "mmol": ("mmol", 1),
    "bpm": ("bpm", 1), "tablet": ("tablet", 1), "time": ("time", 1), "unit": ("unit", 1),
}  # fmt: skip
# A figure with its unit, which may stand behind another that shares it: "6 to 8 hours", "9-year-old".
MEASURE = re.compile(rf"{NUMBER.pattern}(?=(?:\s?(?:to|or|and|-|–|/)\s?\d+(?:[.,]\d+)*)*[\s-]?(?P<unit>[A-Za-z]+|%)?)")
# "one" that counts a unit, which may stand behind another figure that shares it: "one to two hours"
ONE = re.compile(
    rf"\b(?:one|One)(?=(?:\s(?:to|or|and)\s[\w.]+)?[\s-](?:{'|'.join(u for u in UNITS if u.isalpha())})s?\b)"
)
# "The two together" counts nothing that a source must count, nor do the options that were given.
COUNTED_BACK = re.compile(
    r"\bthe two together\b|\bamong the (?:two|three|four|five) (?:medicines|drugs|options|choices)\b", re.IGNORECASE
)
HAN_DIGITS = "〇一二三四五六七八九"
# A Chinese numeral before a unit of time, dose or count; 两 is two.
HAN_NUMBER = re.compile(
    r"(?<![〇一二两三四五六七八九十百千万第])[一二两三四五六七八九十]+"
    r"(?=(?:个)?(?:天|日|周|星期|月|年|岁|小时|分钟|次|倍|片|粒|毫|微克|克)|[至到](?:\d|[二两三四五六七八九十]))"
)
# What denies in a clause: words of negation, what warns off or tells no difference, and what an entry of the graph says
# of a finding that speaks against.
DENIAL = re.compile(
    rf"(?:{DENIES.pattern})|\b(?:made |makes |make )?less likely\b"
    r"|\b(?:very )?(?:rare|rarely|uncommon|uncommonly)\b"
    # of what is unusual, not of an unusual thing
    r"|\b(?:very )?unusual\b(?!\s+(?!(?:in|for|to|at|after|before|among|and|but|with|when|if|unless|here)\b)[a-z])"
    r"|\b(?:avoid\w*|contra-?indicat\w*|prohibited|nobody|insufficient\w*|without)\b"
    r"|(?<!\ba )\blittle\b"
    r"|\b(?:exclu(?:de[sd]?|ding)|rul(?:e[sd]?|ing)(?: (?:it|them|this|that))? out)\b"
    r"|\b(?:similar|comparable|the same) (?:in|rates?|risks?|mortality|between|with|to)\b"
    r"|\b(?:is|are|was|were) (?:similar|comparable)\b"
    r"|不支持|避免|禁[用止忌]|忌用|勿|排除|除外|相近|相当|相似",
    re.IGNORECASE,
)
AUXILIARY = "is|are|was|were|has|have|had|can|may|must|should|will|do|does|did"
# Two denials that are none, words that sound like one, what something is preferred to, and who is spoken of.
AFFIRMS = re.compile(
    rf"\b[a-z]+-lack\b|\bwho cannot\b|\bwith (?:or|and) without\b|\bwithout (?:\w+ ){{1,3}}(?=(?:{AUXILIARY})\b)|"
    r"\b(?:not|no|never|cannot|[a-z]+n['’]t)\b(?: \w+){0,3}? (?:exclu\w+|rul\w+ out|(?:uncommon|unusual|rare)(?:ly)?"
    r"|unlikely|contra-?indicated|unreasonable|unknown|worse|inferior|less|fewer|only|without|until|before)\b"
    rf"|\bnon-?inferior\b|\b(?:no|not) (?:more|longer|later) than (?=\d|(?:{'|'.join(NUMBER_WORDS)})\b)"
    rf"|\b(?:rather than|instead of)\b.*?(?=\b(?:{AUXILIARY})\b|$)"
    r"|不(?:稳|全|足|良|适|明|典型|孕|耐受|宁|自主|规则|齐|完全)|不能(?:排除|除外)|(?:并非|不)(?:不|无|没有|少见|罕见)|无不",
    re.IGNORECASE,
)
# What holds under a condition alone: such a clause may be told with a denial or without.
# What is lacking is said by an affirmation or by a denial.
ABSENT = re.compile(r"\b(?:is|are|was|were)(?: \w+)? absent\b|缺如", re.IGNORECASE)
ONLY = re.compile(r"\b(?:only|unless|until|except|outside|before)\b|只有|仅|除非|才|以外|之前", re.IGNORECASE)
NOT = re.compile(r"\b(?:not|never|cannot|[a-z]+n['’]t)\b(?P<what>.*)", re.IGNORECASE)  # and what it denies
STOPS = frozenset(tokens("stop stopped discontinue pause 停用 停药"))  # to stop a thing is not to give it
ANSWERS = re.compile(r"^(?:yes|no)\b[,:;.]\s+", re.IGNORECASE)  # the answer before a statement denies nothing of it
# What is told of a thing by the way, between commas.
BY_THE_WAY = re.compile(r",\s(?:to|of) which [\w\s-]{1,30} belongs?,(?=\s\w)", re.IGNORECASE)
APART = re.compile(  # what begins a clause of its own
    rf"\s+(?=without\b(?! (?:\w+ ){{1,3}}(?:{AUXILIARY})\b))"
    rf"|\s+and\s+(?=(?:{AUXILIARY}|cannot|no|not|never|requires?|needs?|raise[ds]?|usually|often|sometimes|mostly)\b)",
    re.IGNORECASE,
)
PROVIDED = re.compile(r"\b\s+(?:when|if)\b.*", re.IGNORECASE)  # what a clause holds for: it may deny on its own
DENIED = 0.6  # ours: share of a clause's words that one of the other kind must hold to say the opposite
BOTH = frozenset((True, False))
# Clauses that tell when or for whom, asides that place a figure, and those that go on with a list; ours.
WHEN = re.compile(
    r"^(?:and |but )?(?:when|if|where|once)\b"
    r"|^(?:which|that) (?:is|was|are|were|lies) (?:above|below|over|under|within|beyond|more|less|higher|lower)\b"
    r"|(?:时|时候|者|后|前|的(?:人|患者|病人|儿童|孩子))$",
    re.IGNORECASE,
)
WHERE = re.compile(
    rf"(?:and |but )?(?:in|for|among|at|on|by|after|before|during|with|as|like|unlike|such as|especially|including)\b"
    rf"(?!.*\b(?:{AUXILIARY})\b)[A-Za-z\d%.\s'’-]+",
    re.IGNORECASE,
)
LISTED = re.compile(
    rf"(?!.*\b(?:{AUXILIARY}|it|they|this|these|which|who)\b)[A-Za-z'’-]+(?:\s+[A-Za-z'’-]+){{0,5}}\.?", re.IGNORECASE
)
LEAST = 2  # ours: words of a clause of which can be said what it denies: a longer one's share one more
# More and less in a comparison; which side is which is told by what stands behind `than`.
MORE = re.compile(
    r"\b(?:more|earlier|sooner|higher|greater|longer|larger|better|increased|older|often(?:er)?)\b|高于|多于|大于|长于|优于"
)
FEWER = re.compile(
    r"\b(?:less|later|fewer|lower|smaller|shorter|worse|reduced|younger|rarer)\b|低于|少于|小于|短于|劣于",
    re.IGNORECASE,
)
THAN = re.compile(
    rf"\b(?:than(?! (?:\d|once\b|(?:{'|'.join(NUMBER_WORDS)})\b))|compared (?:with|to)|versus|vs\.?)\b"
    r"|[高低多少大小长短优劣]于",
    re.IGNORECASE,
)
# Words that leave no doubt: a statement has them only where its quotes do; ours.
ABSOLUTE = re.compile(
    r"\b(?:always|(?<!who )(?<!who have )never|every(?! (?:(?:few|other|second|\d+|two|three|four|six|eight|twelve)\b|"
    r"(?:hour|day|week|month|year|morning|evening|night)\b))|certainly|definitely|(?<!until )proven|guarantees?|cures?"
    r"|(?<!not )all (?:of(?! (?:which|this|these|them)\b)|people|patients|children|adults|women|men|cases))\b"
    r"|总是|从不|一定|所有|必定|(?<!未)(?<!未得到)证实|根治",
    re.IGNORECASE,
)
EACH = re.compile(r"\b(?:each|every)\b", re.IGNORECASE)
STOP = re.compile(r"(?<=[.!?])\s+")
# An ICD-10 code, and the numbers of emergency services.
UNCOUNTED = re.compile(
    r"\b[A-Z]\d\d(?:\.\w+)?\b|(?<![\d.,/-])(?:999|911)(?![\d%]|[.,/]\d)"
    r"|(?:\b(?i:call|ring|dial|phone|than|NHS)(?:ing)?\s|拨打?|打|呼叫)\s*(?:112|111|000|108|119|120)\b"
)
# Words of the house's own frames around quotes; see graphs.answering.differential_answer.
FRAMES = {
    "en": "fits this case against watch also usual rare disease to consider",
    "zh": "符合本例 与本例不符 警示 通常还有",
}
# What a model says of a diagnosis and of the case itself: no claim about what it cites. Ours.
JUDGED = re.compile(
    r"\b(?:un|less |more |most )?likel(?:y|ier|iest)\b"
    r"|\b(?:here|you (?:(?:do|did|have) not )?(?:mention|say|tell|describe|report)\w*|(?:this|the) (?:case|patient)"
    r"|speaks?|tells?|argues?|against|fits?|favou?rs?|excluded?|ruled out|mentioned|reported|told|stated|described"
    r"|explains?|consistent|suggests?)\b"
    r"|不支持|不符|支持|可能|未提及",
    re.IGNORECASE,
)
JUDGING = frozenset(
    tokens(
        "likely likelier likeliest unlikely best most more less fit explain explained suggest point support speak argue"
        " favour against consistent typical probable possible diagnosis diagnoses patient here because since with and"
    )
)
CONCLUDES = re.compile(r"(?:and )?(?:so|thus|hence|therefore)\b|因此|所以", re.IGNORECASE)
LACKING = re.compile(
    r"\s+(?:and|but|or)\s+(?=not\s)|(?<!\bis)(?<!\bare)(?<!\bwas)\s+(?:(?:and|but|or|with)\s+)?"
    r"(?=(?:no|without|neither|nor)\s)",
    re.IGNORECASE,
)
# How the answer marks a diagnosis of the model's own, which the verifier does not read; as the catalogues have it.
MARKS = re.compile(r"\s*[(（](?:not in the knowledge graph|知识图谱中没有)[)）]")


class SupportSettings(Frozen):
    """Settings of the check. All ours.

    Attributes:
        words: share of a statement's words that its quotes must hold to support it outright.
        near: cosine that a statement in other words needs with its quotes whatever words they share: a long quote holds
            the words of much that it does not say. nearly: the same where they hold nearly all of them (``guessed``).
        least: share from which the embeddings may make up for other wording. dense: the cosine that this needs.
        guessed: share for quotes that were chosen by the words that they share. said: share from which the reader may
            find that they say it in other words.
    """

    words: float = 0.7
    guessed: float = 0.9
    near: float = 0.5
    nearly: float = 0.4
    least: float = 0.5
    dense: float = 0.6
    said: float = 0.4


@dataclass(frozen=True)
class Check:
    """The outcome of the checks that need no encoder.

    ``share`` of words held, what disagrees ("" nothing), and whether the statement is its quotes word for word, with
    nothing beside them but names and the house's own frames. ``unread``: it is in another language than its quotes, so
    that nothing was compared but figures and medicines. ``worded``: what disagrees are words of negation alone, which
    another wording has otherwise.
    """

    share: float
    disagrees: str
    quoted: bool = False
    unread: bool = False
    worded: bool = False


@lru_cache(maxsize=2)
def _frame(language: str) -> frozenset[str]:
    """Words of the frames in one language: the dictionary that cuts Chinese is not loaded for English."""
    return frozenset(tokens(FRAMES[language]))


def frame_words(text: str) -> frozenset[str]:
    """Words of the frames in the language of a text: they say nothing that a quote must hold."""
    return _frame(language_of(text))


def identical(statement: str, quotes: Sequence[str]) -> bool:
    """Whether a statement is one of its quotes, or its quotes in a row, white space and a final stop aside."""
    plain = _plain(statement)
    return any(plain == _plain(q) for q in quotes) or plain == _plain(" ".join(quotes))


def in_another_language(text: str, quotes: Sequence[str]) -> bool:
    """Whether a statement is in another language than one of its quotes, so that words cannot be compared."""
    return any(language_of(quote) != language_of(text) for quote in quotes)


def check(statement: Statement, evidence: Sequence[Evidence], told: str = "", asked: str = "") -> Check:
    """A statement against its quotes and the titles of what it cites.

    ``told`` is the case that a model answers: a statement may repeat its words and figures, and say what fits it.
    ``asked``: the asker's message, of which it may repeat figures and what the patient lacks.
    """
    quotes = [c.quote for c in statement.citations]
    whole = MARKS.sub("", statement.text)
    text = ANSWERS.sub("", without_absence(whole))
    rest = _without(text, quotes)
    names = {t for e in evidence for t in _names(e)}
    wanted = set(tokens(UNCOUNTED.sub(" ", rest))) - frame_words(rest) - (JUDGING if told else frozenset())
    if identical(whole, quotes) or (rest != text and wanted <= names):
        return Check(1.0, "", quoted=True)
    said = [*quotes, *([told] if told else [])]
    held = {t for s in said for t in tokens(s)} | names
    wanted -= numbers(asked) - held
    share = len(wanted & held) / len(wanted) if wanted else 1.0
    if _strange(rest, [*said, *(e.title for e in evidence)], asked):
        return Check(share, "numbers")
    if in_another_language(text, quotes):
        other = _other_medicine(rest, [*said, *(e.title for e in evidence)])
        return Check(share, "medicine" if other else "", unread=True)
    compared = _compared(rest, said)
    if compared or (compared is None and opposed(_cut(rest), [c for s in said for c in _cut(s)])):
        return Check(share, "negation")
    own = " ".join(s for s in STOP.split(rest) if not JUDGED.search(s)) if told else rest
    if (compared is None and opposed_clause(_cut(own), [c for q in quotes for c in _cut(q)])) or reconditioned(
        own, quotes, held, asked
    ):
        return Check(share, "negation")
    if _limits_crossed(own, quotes):
        return Check(share, "numbers")
    if _turned(rest, quotes, told, asked):
        return Check(share, "negation", worded=True)
    if _other_medicine(rest, [*said, *(e.title for e in evidence)]):
        return Check(share, "medicine")
    sure = " ".join(said)
    if {m[0].lower() for m in ABSOLUTE.finditer(EACH.sub(" ", rest) if EACH.search(sure) else rest)} - {
        m[0].lower() for m in ABSOLUTE.finditer(sure)
    }:
        return Check(share, "strength")
    return Check(share, "")


def numbers(text: str) -> set[str]:
    """The figures in a text, number words among them, thousands separators dropped; no number to call is one."""
    found = {m[0].replace(",", "").rstrip(".") for m in NUMBER.finditer(UNCOUNTED.sub(" ", text))}
    found |= {str(n) for m in HAN_NUMBER.finditer(text) if (n := _han(m[0])) is not None}
    return found | {NUMBER_WORDS[w] for w in re.findall(r"[a-z]+", text.lower()) if w in NUMBER_WORDS and w != "one"}


class Measure(NamedTuple):
    """A figure as written, what it counts ("" unknown), and how much of that."""

    figure: str
    unit: str
    size: float


def measures(text: str) -> list[Measure]:
    """The figures of a text with their units, number words among them."""
    words = NUMBER_WORDS | {"one": "one"}  # seldom a figure
    plain = re.sub(r"[A-Za-z]+", lambda m: words.get(m[0].lower(), m[0]), UNCOUNTED.sub(" ", text))
    out = []
    for m in MEASURE.finditer(plain):
        figure, unit = m[0].replace(",", ""), (m["unit"] or "").lower()
        name, each = UNITS.get(unit) or UNITS.get(unit.removesuffix("s")) or ("", 1)
        out.append(Measure(figure, name, float(figure) * each if figure.count(".") < 2 else 0.0))
    return out


class Limit(NamedTuple):
    """A figure that is the least or the most, and whether its clause denies."""

    measure: Measure
    least: bool
    denied: bool


def _limits(text: str) -> list[Limit]:
    """The figures of a text that are limits."""
    out = []
    for clause in _cut(ONE.sub("1", text)):
        words = re.sub(r"[A-Za-z]+", lambda m: NUMBER_WORDS.get(m[0].lower(), m[0]), clause)
        denies = len(DENIAL.findall(AFFIRMS.sub(" ", limits().words.sub(" ", words)))) % 2 == 1
        for m in MEASURE.finditer(words):
            before, behind = limits().before.search(words[: m.start()]), limits().behind.match(words[m.end() :])
            found = before or behind
            if found and (own := measures(words[m.start() : m.end() + 12])):
                out.append(Limit(own[0], found["least"] is not None, denies))
    return out


def _limits_crossed(text: str, quotes: Sequence[str]) -> bool:
    """Whether a figure that is the least in the quotes is the most in the text, or the reverse; one of the text's own
    that is compared with theirs tells nothing."""
    if numbers(text) - {n for q in quotes for n in numbers(q)}:
        return False
    same = [[h for q in quotes for h in _limits(q) if _of_one_figure(limit, h)] or [limit] for limit in _limits(text)]
    return any(
        all(h.least is not limit.least and h.denied is limit.denied for h in held)
        for limit, held in zip(_limits(text), same, strict=True)
    )


def _of_one_figure(left: Limit, right: Limit) -> bool:
    return left.measure.unit == right.measure.unit and math.isclose(left.measure.size, right.measure.size)


def _limits_agree(text: str, quote: str) -> bool:
    """Whether one of two clauses denies what is most where the other says what is least: "not within", "at least"."""
    return any(
        said.least is not held.least and said.denied is not held.denied and _of_one_figure(said, held)
        for said in _limits(text)
        for held in _limits(quote)
    )


def _strange(text: str, held: Sequence[str], asked: str) -> set[str]:
    """The figures of a text that nothing held has, in this unit or another.

    One that the asker told is none, unless it takes the place of a held one: of the same unit, or of an unknown one,
    that the text leaves out.
    """
    text = COUNTED_BACK.sub(" ", text)
    known, own = {n for s in held for n in numbers(s)}, measures(text)
    spelt = {ORDINALS[word] for s in held for word in re.findall(r"[a-z]+", s.lower()) if word in ORDINALS}
    known |= spelt - {m[0] for m in NUMBER.finditer(text)}  # "the third day" bears "day three", and no 3 mg
    given, told = [m for s in held for m in measures(ONE.sub("1", s))], numbers(asked)

    def borne(m: Measure) -> bool:
        if any(g.unit == m.unit != "" and math.isclose(g.size, m.size) for g in given):
            return True
        rivals = [g for g in given if g.unit == m.unit or not (g.unit and m.unit)]
        return m.figure in told and all(any(g.figure == o.figure for o in own) for g in rivals)

    def recounted(m: Measure) -> bool:
        """Whether all that has this figure counts something else by it: three weeks for three months."""
        same = [g for g in given if g.figure == m.figure]
        return bool(m.unit and same) and all(g.unit and (g.unit, g.size) != (m.unit, m.size) for g in same)

    recount = {m.figure for m in own if recounted(m) and not borne(m)}
    borne_out = {m.figure for m in own} - {m.figure for m in own if not borne(m)}
    return (numbers(text) - known - borne_out) | recount


def _han(numeral: str) -> int | None:
    """The value of a Chinese numeral up to 99; None for one, and for what is none (两三: two or three)."""
    tens, ten, ones = numeral.replace("两", "二").rpartition("十")
    if len(tens) > 1 or len(ones) > 1 or (ten and tens == "〇"):
        return None
    value = (HAN_DIGITS.index(tens) if tens else 1) * 10 * bool(ten) + (HAN_DIGITS.index(ones) if ones else 0)
    return value if value > 1 else None


def _kinds(clause: str) -> frozenset[bool]:
    """Whether a clause denies: both where it holds under a condition alone, denies more than one thing, or tells of
    what is absent."""
    count = len(DENIAL.findall(AFFIRMS.sub(" ", PROVIDED.sub(" ", clause))))
    return BOTH if count > 1 or ONLY.search(clause) or ABSENT.search(clause) else frozenset((count == 1,))


def _words(clause: str) -> set[str]:
    """What a clause speaks of, its denial aside."""
    return set(tokens(DENIAL.sub(" ", AFFIRMS.sub(" ", clause))))


def _turned(text: str, quotes: Sequence[str], told: str = "", asked: str = "") -> bool:
    """Whether a clause of the text affirms what a clause of the quotes denies, or denies what it affirms.

    That clause must hold more of its words than any of the same kind, most of the shorter one's, and something of what
    is denied. What a clause says of the case as it was told, or judges of a diagnosis, is not held against the quotes;
    nor what a patient lacks whom the asker tells of.
    """
    quoted = [(_words(piece), kinds, piece) for q in quotes for s in STOP.split(q) for piece, kinds in _pieces(s)]
    quoted = [told for told in quoted if told[0]]
    case = _clauses(LACKING.split(told)) if told else []
    plain = [s for s in STOP.split(asked) if not s.rstrip().endswith(("?", "？"))]
    case += [(words, kinds) for words, kinds in _clauses(p for s in plain for p in LACKING.split(s)) if kinds == {True}]
    for clause, kinds in _pieces(text, apart=bool(told)):
        words = _words(clause)
        if len(kinds) > 1 or CONCLUDES.match(clause) or (told and JUDGED.search(clause)):
            continue
        if any(len(words & held) >= DENIED * len(words) for held, kind in case if kind & kinds):
            continue
        alike = [held for held, kind, _ in quoted if kind & kinds]
        same = [(len(held), len(words & held)) for held in alike]
        if kinds == {True} and any(n >= max(LEAST, DENIED * size) for size, n in same):
            continue  # its denial is a quote's, whatever it affirms beside it
        most = max((n for _, n in same), default=0)
        for held, piece in ((held, piece) for held, kind, piece in quoted if not kind & kinds):
            denied = _denied(clause if True in kinds else piece)
            if (
                bool(words & STOPS) is not bool(held & STOPS)
                or told_apart(clause, piece)
                or _limits_agree(clause, piece)
            ):
                continue  # "avoid it" and "it is stopped" say the same
            if denied and not denied & words & held:
                continue  # it speaks of something else that the thing is not
            size, n = min(len(words), len(held)), len(words & held)
            if len(denied) >= LEAST and denied <= words & held and not any(denied <= other for other in alike):
                return True
            if n > most and n >= max(LEAST, min(size, LEAST + 1), DENIED * size):
                return True
    return False


def _denied(clause: str) -> set[str]:
    """What stands behind the word that denies in a clause; nothing where that is no plain "not"."""
    found = NOT.search(AFFIRMS.sub(" ", clause))
    return set(tokens(found["what"])) if found else set()


def _clauses(texts: Iterable[str]) -> list[tuple[set[str], frozenset[bool]]]:
    """The clauses of some texts: what each speaks of, and its kinds."""
    pieces = [pair for t in texts for s in STOP.split(t) for pair in _pieces(s)]
    return [(words, kinds) for piece, kinds in pieces if (words := _words(piece))]


def _pieces(text: str, *, apart: bool = False) -> list[tuple[str, frozenset[bool]]]:
    """The clauses of a sentence with their kinds; what is lacking is one of its own, ``apart`` what "no" stands before.

    A clause that tells where or when, and one that goes on with the list of a denial, is of both kinds.
    """
    clauses = _cut(BY_THE_WAY.sub("", text))
    out: list[tuple[str, frozenset[bool]]] = []
    for n, whole in enumerate(clauses):
        places = n + 1 < len(clauses) or NUMBER.search(whole)
        topic = WHEN.search(whole) or (places and WHERE.fullmatch(whole))
        for clause in LACKING.split(whole) if apart else [whole]:
            goes_on = out and True in out[-1][1] and LISTED.fullmatch(clause)
            out.append((clause, BOTH if topic or goes_on else _kinds(clause)))
    return out


def _cut(text: str) -> list[str]:
    """The clauses of a text."""
    return [c for s in STOP.split(text) for part in APART.split(s) for c in prose_clauses(part)]


def _compared(text: str, quotes: Sequence[str]) -> bool | None:
    """Whether the text compares two sides the other way round than a quote; None where they compare no same two."""
    said = _comparison(text)
    if said is None:
        return None
    for quote in (c for q in quotes for c in STOP.split(q)):
        held = _comparison(quote)
        if held is None:
            continue
        crossed = len(held.behind & said.before) + len(said.behind & held.before)
        straight = 2 * len(held.behind & said.behind)
        if crossed != straight:
            return (said.more != held.more) is not (crossed > straight)
    return None


class _Comparison(NamedTuple):
    """Two sides: the words that each has alone, and whether the first one has more."""

    before: set[str]
    behind: set[str]
    more: bool


def _comparison(text: str) -> _Comparison | None:
    """The comparison that a text makes; None where it makes none, or not one alone."""
    found = [*THAN.finditer(text)]
    if len(found) != 1:
        return None
    left, right = text[: found[0].end() if found[0][0][-1] == "于" else found[0].start()], text[found[0].end() :]
    more, fewer = MORE.search(left), FEWER.search(left)
    if bool(more) is bool(fewer) or _kinds(left) != {False}:
        return None
    before, behind = set(tokens(left)), set(tokens(right))
    return _Comparison(before - behind, behind - before, bool(more))


def _other_medicine(text: str, quotes: Sequence[str]) -> bool:
    """Whether the text names a medicine that the quotes name neither so nor by another of its names."""
    named = {m.generic or m.family for q in quotes for m in medicines_in(q)}
    body = " ".join(quotes).casefold()
    return any(
        (m.generic or m.family) not in named and not any(name.casefold() in body for name in m.names)
        for m in medicines_in(text)
        if not m.everyday
    )


def _without(text: str, quotes: Sequence[str]) -> str:
    """What a statement says beside its quotes."""
    for quote in sorted(quotes, key=len, reverse=True):
        text = text.replace(quote, " ")
    return text


def _names(evidence: Evidence) -> list[str]:
    """Words of the title, and of the first line, where an entry of the graph gives its names."""
    return tokens(evidence.title) + tokens(evidence.text.split("\n", 1)[0])


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip(".。").casefold()
