"""Negation, uncertainty, normality, other people and the past, in English and Chinese clauses.

The approach is that of NegEx and ConText (Chapman et al. 2001; Harkema et al. 2009): trigger phrases, phrases that look
like triggers and are none, and scopes that end at conjunctions. The lists and the rules of scope are ours.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Cut(NamedTuple):
    """A trigger: its characters in the clause."""

    start: int
    end: int


# What is a finding when it changes: "no change in vision" denies one, "no increase in the pain" denies no pain.
_OF_NOTE = (
    r" (?:in|of|to)(?: (?:my|his|her|their|your|the|body))* (?:bowels?|stools?|vision|sight|eyesight|hearing|weight|"
    r"appetite|thirst|urin\w+|taste|smell|voice|speech|sensation|sweating|sputum|phlegm|girth|memory|personality)\b"
)
_VERY = r"(?:(?:very|so|too|that|all that|really|particularly) )"
NOT_THERE = r"(?:that|which|who) (?:are|is|were|was)n[’']?t (?:really )?there\b"  # what is seen or heard so is told
# Phrases that hold a trigger word and negate no finding; what is not severe is there.
PSEUDO = re.compile(
    rf"\b(?:no (?:better|relief|improvement|idea|matter|worse|doubt|different|(?:changes?|increase)\b(?!{_OF_NOTE}))|"
    r"not (?:only|just|sure|"
    r"certain|quite|improv\w+|help\w*|better|settl\w+|go(?:ing|ne)? away|as (?:well|much))|"
    r"(?:will not|(?:wo|do|does|did|has|have|is|are)(?:n[’']?t| not)) "
    r"(?:(?:go|gone|going) (?:away|down|off)|stop\w*|settl\w*|improv\w*|help\w*|get(?:ting)? better|shift\w*|clear\w*|"
    r"disappear\w*|vanish\w*|fad(?:e|ed|ing)|subsid\w+|resolv\w+|eas(?:e|ed|ing)|heal\w*|let up|come down|g[eo]t rid)|"
    rf"{NOT_THERE}|without (?:relief|improvement|warning|trying|success)|cannot stop|can't stop|"
    r"nothing (?:helps|works|eases)|"
    rf"(?:not|(?:is|was|are)n[’']?t) (?:an? )?(?:{_VERY}?(?:severe|intense|terrible|awful|bad|excruciating)|"
    rf"{_VERY}(?:painful|sore|itchy|tender|swollen)))\b",
    re.IGNORECASE,
)
# A denial of a change is none of the thing that might have changed.
UNCHANGED = re.compile(r"^\W*no (?:changes?|increased?)\b", re.IGNORECASE)
# What follows these is absent; they begin a clause of their own.
LEADING = re.compile(
    r"\b(?:no(?! longer)|w/o|nor|neither|without|denie[sd]|denying|negative for|no (?:sign|evidence|history) of|"
    r"(?<!\w )negative(?= (?:\w+ ){0,2}(?:dip(?:stick)?|urinalysis|urine|swabs?|cultures?|antibod\w+|screen|serology|"
    r"smear|tests?|LFT)\b)|"
    r"absence of|absent|free (?:of|from)|nil|none of|never had|rather than|rules? out|"
    r"(?:can(?:no|[’']?)t|can not|could(?:n[’']?t| not)|(?:do|did|does)(?:n[’']?t| not)|unable to|not able to) "
    r"(?:feel|find|see|detect|notice|make out) any(?= (?:\w+ )?"
    r"(?:lumps?|bumps?|mass(?:es)?|swelling|nodules?|glands?|rash|spots?|bruis\w*|blood|"
    r"wounds?|marks?|cuts?|discharge|pus|redness)\b)|"
    r"ruled out|instead of|non(?=[- ]?(?:tender|smok\w*|drink\w*|diabetic|itchy|pruritic|radiating)\W*$))\b",
    re.IGNORECASE,
)
# A verb that is negated: the whole clause is absent.
VERBAL = re.compile(
    r"\b(?:not|never|(?:do|does|did|is|are|was|were|has|have|had|would|should)n[’']?t|ain[’']?t|no longer|"
    r"nobody|hardly any|(?:dont|doesnt|didnt|isnt|havent|hasnt|wasnt))\b",
    re.IGNORECASE,
)
TRAILING = re.compile(
    r"(?:\b(?:absent|nil|denied|negative|none|unlikely|excluded|ruled out|"
    r"not (?:present|seen|found|felt|heard)|0\s?(?:/|out of)\s?10)"
    r"(?: (?:throughout|bilaterally|distally|symmetrically|on both sides))?|[:=]\s*no)\W*$",
    re.IGNORECASE,
)
# Words that only strengthen a denial.
EMPHASIS = re.compile(r"\b(?:to speak of|at all|whatsoever|of any (?:kind|sort)|worth mentioning)\b\W*$", re.IGNORECASE)
# The part named is as it should be: every abnormal finding of it is absent.
NORMAL = re.compile(
    r"\b(?:normal|unremarkable|intact|ok|okay|"
    r"fine(?! (?:bi-?basal|basal|bilateral|end|inspiratory|creps?|crackles?|crepitations?|tremor|scal\w+|hairs?|rash|"
    r"papul\w+|red|motor|touch)\b)|"
    r"(?<!steer )(?<!steers )(?<!steering )(?<!keep )(?<!keeps )(?<!stay )clear|"
    r"symmetrical|supple|settled|nothing abnormal|within normal limits|"
    r"(?:good|healthy|hearty|great|excellent)(?= (?:appetite|sleep|energy|intake|urine output|hearing|vision|memory|"
    r"power|strength)\b)|(?:(?<=eating )|(?<=feeding )|(?<=sleeping )|(?<=drinking ))well|"
    r"(?:(?<=pulse )|(?<=pulses )|(?<=sounds )|(?<=reflexes ))(?:(?:is|are|all|easily|both|well) )*"
    r"(?:present|palpable|palp|felt|active)|"
    r"(?<=fields )full|"
    r"(?:(?<=appetite )|(?<=sleep )|(?<=mood )|(?<=energy )|(?<=weight )|(?<=periods )|(?<=period )|(?<=cycles )|"
    r"(?<=cycle )|(?<=bowels )|(?<=stools )|(?<=output )|(?<=intake )|(?<=memory )|(?<=feeding )|(?<=pulse ))"
    r"(?:(?:is|are|was|were|has been|have been|all|been|still|very|quite|remains?|always|fairly|pretty) )*"
    r"(?:good|regular|steady|stable|great|healthy|unchanged)(?! (?:fluid|pain))|"
    r"(?:(?<= is )|(?<= are ))(?:(?:still|very|really|pretty|all|perfectly) )*(?:good|great|perfect)(?=\W*$)|"
    r"normally(?=\W*$)|soft and non-?tender|up to date|all right|as usual)\b"
    r"(?! (?:fluid|watery|discharge|mucus|liquid|phlegm|sputum|runny))",
    re.IGNORECASE,
)
# ours: what somebody takes it for, who has not examined him: "the health visitor said reflux", "mum thinks it is gout"
_GUESSED = (
    r"\b(?:thinks?|thought|reckon(?:s|ed)?|wonder(?:s|ed)|guess(?:es|ed)?|assumed?) (?:that )?(?:it|this|that)"
    r"(?:[’']s| is| was| (?:might|could|may|must) be) (?!(?:\w+ )?(?:\w+ing|\w+ed|\w+en|red|sore|hot|worse|better)\b)|"
    r"\b(?:thinks|suspects|suspected|reckons|queries|queried) (?:an? )?"
    r"(?!(?:s?he|they|it|I|we|you|that|this|there|the|his|her|my|so|"
    r"about|of|not?|a lot)\b)(?=[a-z])|"
    r"\b(?:HV|health visitor|neighbou?r|pharmacist|chemist|friend|receptionist|google|internet|web ?site|forum)"
    r" (?:has )?(?:said|says|told (?:me|us)|suggest(?:s|ed)|mentioned|put) (?:that )?"
    r"(?:(?:it|this|that)(?:[’']s| is| was| (?:might|could|may|must) be)\b|(?=[a-z]{3})(?!(?:he|she|they|you|that|this|"
    r"the|his|her|him|them|its?|not?|when|about|how|what)\b))"
)
UNCERTAIN = re.compile(
    rf"{_GUESSED}|(?:^|\s)\?\s?(?=\w)|\b(?:possibl[ey]|perhaps|maybe|might|may be|may have|query|suspected|"
    r"suspicion of|not sure|unsure|uncertain|probably|equivocal|questionable)\b|可能|疑似|怀疑|或许|好像|也许|待排",
    re.IGNORECASE,
)
RELATIVE = (
    r"(?:brothers?|sisters?|siblings?|mother|mum|mom|father|dad|parents?|grand(?:mother|father|ma|pa|parents?)|uncles?|"
    r"aunts?|aunty|cousins?|nephews?|nieces?|sons?|daughters?|husband|wife|partner|boyfriend|girlfriend|child|children|kids?|boys?|girls?|"
    r"baby|twins?|toddler|relatives?|family|(?:house|flat|room|class|team|work)mates?|colleagues?|co-?workers?|friends?|"
    r"neighbou?rs?|pupils|residents)"
)
# ours: a relative and his illness, in notes: "mum asthma", "uncle TB"; one who does something may be the patient
_KIN = r"(?:mum|mother|mom|dad|father|brother|sister|sibs?|siblings?|uncle|aunt|gran|nan|grandfather|grandmother)"
_OF_KIN = (
    r"(?:is|was|has|had|have|can|cannot|can't|does|did|fell|feels?|felt|gets?|got|keeps?|kept|still|now|also|and|or|of|in|"
    r"on|at|with|who|says?|said|thinks?|worried|concerned|noticed|reports?|called|brought|to|not|no|\w+(?:ing|ed|ly|less))\b"
)
OTHER = re.compile(
    rf"\b(?:family history|runs? in (?:the|my|his|her) family|in (?:the|my|his|her|our) family|"
    rf"(?<!\bas )(?:my|his|her|our|their|the|a|one of (?:my|his|her|our)|two|three|"
    rf"several|both|other|close members of my|members of (?:my|the)|maternal|paternal)"
    rf"(?: (?:\w+ ){{0,2}})?{RELATIVE}|nobody else|no one else|"
    rf"(?<!when )(?<!while )(?<!than )everyone (?:else|at)|someone (?:at|in|with)|"
    rf"(?:mother|father|mum|mummy|mom|dad|daddy|brother|sister|uncle|aunt|cousin|son|daughter|wife|husband|nan|granny|grandad)"
    rf" (?:has|had|with|died|also))\b|"
    rf"^\W*(?:(?:mat(?:ernal)?|pat(?:ernal)?) )?{_KIN} (?!{_OF_KIN})[a-z]+(?: [a-z]+)?\W*$|"
    rf"家族|家人|父亲|母亲|爸爸|妈妈|哥哥|弟弟|姐姐|妹妹|爷爷|奶奶|同事|同学|室友|亲戚",
    re.IGNORECASE,
)
# What a mother tells of herself: "I had my baby nine days ago".
MOTHERS = re.compile(
    r"\b(?:had|have had|delivered|gave birth to|expecting|carrying|(?:breast-?)?feeding|nursing) (?:my|our|a|the|her) "
    r"(?:\w+ ){0,2}(?:baby|twins|child|son|daughter|boy|girl)\b",
    re.IGNORECASE,
)
REPORTS = re.compile(
    rf"{RELATIVE}(?:'s)? (?:\w+ )?(?:says?|said|tells?|told|notice[sd]?|thinks?|thought|reports?|reported|saw|"
    r"sees|found|brought|heard|called|worries|worried|drove|"
    r"(?:took|takes)(?= (?:me|him|her|us|them|it|the|my|his|a)\b))\b|"
    r"(?:妈妈|母亲|家人|家属|爸爸|父亲)(?:说|诉|发现|代诉|觉得)",
    re.IGNORECASE,
)
# ours: what is told of oneself and of another together is told of oneself
WITH_ME = re.compile(
    rf"\b(?:(?:me|I|myself|both of us) and (?:my|our)|(?:my|our) (?:\w+ )?{RELATIVE} and (?:I|me|myself))\b|"
    r"我(?:和|跟|与).{0,6}都",
    re.IGNORECASE,
)
PAST = re.compile(
    r"\b(?:as a (?:kid|child|teenager|baby|boy|girl)|in (?:my|his|her) (?:childhood|teens|twenties|youth)|in childhood|"
    r"years? ago|last year|in (?:19|20)\d\d|past (?:medical|surgical)? ?history|previous(?:ly)?|used to|"
    r"(?<!not )(?<!n't )(?<!n’t )resolved|"
    r"history of)\b|既往|曾经|以前|小时候|年前|病史",
    re.IGNORECASE,
)
LASTING = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|several|few)[- ](?:hour|day|week|month|year)s?\W+(?:history|of)\b", re.I
)

# Things one has or does when well: to lack them is a finding.
FUNCTION = re.compile(
    r"(?:(?:any|much|real|proper|his|her|my|the) )?"
    r"(?:appetite|energy|strength|sleep|sleeping|taste|smell|voice|"
    r"interest|concentration|pulse|reflexes|balance|eating|feeding|drinking|feeling|sensation|vision|hearing|hungry|"
    r"periods?|bowel movements?|urine|wee)",
    re.IGNORECASE,
)
# To be denied an ability is a finding: "hasn't been able to close his eye".
DISABILITY = re.compile(
    r"(?:\b(?:not|never|no longer)|n[’']?t)(?: \w+){0,2}? able to\b|\bcan no longer\b", re.IGNORECASE
)
DEFICIT = re.compile(
    r"\b(?:loss of|lost|lack of|lacking|absent|missing|reduced)\b|\b(?:hearing|hair|weight|visual) loss\b", re.I
)
# Wordings of findings that are negations themselves, or say that a test is normal.
NEGATIVE_WORDS = re.compile(
    r"\b(?:cannot|can't|unable|will not|won't|could not|nothing|normal|negative)\b|[无没未]|不|正常|阴性", re.I
)

ZH_NEGATION = re.compile(r"否认|没有|并无|未见|未诉|未再|未曾|从未|从不|不伴|不是|不觉|不会|无明显|均无|无|没|未|不")
# Words that hold a negating character and name a finding themselves, or no negation of one.
ZH_PSEUDO = re.compile(  # 来不及 and its like tell of what happens too soon
    r"来不及|等不及|赶不及|"
    r"无力|无汗|无法|无痛|无痰|无家|无保护|无症状|没劲|没力|没胃口|没精神|没食欲|没来|没打|没用|不适|不清|不振|不能|不规则|不齐|不足|不安|不畅|不宁|"
    r"不自主|不稳|不全|不明|不动|不通|不出|不下|不上|不开|不住|不停|不断|不尽|不好|不想|不敢|不遂|不集中|不愈|不褪|不着(?!急)|不舒|不缓解|不减|不好转|不消|不退|不止|不同|不吃|不到|不了|不洁|不痛的|"
    r"不痒的|不运动|不活动|不时|不久|不少|不得|未婚|未育|未愈|毫无|对不|不真实|不见|不定|无价值|不起"
)


# ours: a negation of an end, by which what was told goes on: "has not stopped smoking"
_GOES_ON = re.compile(
    r"\b(?:still )?(?:(?:have|has|had|do|does|did|is|am|are|will|would)(?:n[’']?t| not)|(?:ca|wo)n[’']?t|cannot|"
    r"'s not|[’']ve not|[’']s not|never|still not|not)"
    r"(?: (?:yet|really|ever|managed to|been able to|able to|fully|completely|even)){0,3} "
    r"(?:stop(?:ped|ping)?|quit(?:ting)?|g[ai]v(?:e|en|ing) up|kick(?:ed)?|come off|came off|pack(?:ed)? in|cut out)"
    r"(?: (?:taking|using|the))?\s+(?!(?:yet|since|for|until|despite|even|at|after|when|on|and|but)\b)"
    r"(?=[a-z])",
    re.IGNORECASE,
)
_GOES_ON_ZH = re.compile(
    r"(?:还|仍|一直|至今|尚)?(?:没有?|未|尚未)(?:能|成功)?戒[掉除断]?(?P<what>[烟酒])|戒不[掉了](?P<too>[烟酒])"
    r"|(?P<first>[烟酒])(?:还|仍|一直|至今|都)*(?:没有?|未|尚未)(?:能|成功)?戒[掉除断]?|(?P<still>[烟酒])戒不[掉了]"
)
_DOING = re.compile(r"\w+ing\b", re.IGNORECASE)


def as_going_on(clause: str) -> str:
    """A clause that denies an end as what goes on: ``has not stopped smoking`` is still smoking; else as it is."""
    match = _GOES_ON.search(clause)
    if match is not None:
        verb = "still" if _DOING.match(clause, match.end()) else "still uses"
        return f"{clause[: match.start()]}{verb} {clause[match.end() :]}"
    return _GOES_ON_ZH.sub(lambda m: "仍吸烟" if "烟" in m[0] else "仍饮酒", clause)


# Prose: what a sentence of a source or an option denies.
DENIES = re.compile(
    r"\b(?:little or (?:no|nothing)|not|no(?! longer)|never|neither|nor|nothing|no longer|cannot|fail(?:s|ed)? to"
    r"|lack(?:s|ed)?|withh[eo]ld\w*|rarely|seldom|poorly|advise against|ineffective"
    r"|unreliable|unhelpful|unnecessary|unlikely|[a-z]+n['’]t"
    r"|without (?:\w+ )?(?:benefit|effect|improvement))\b"
    r"|不|没有|未|无(?!菌)|并非",
    re.IGNORECASE,
)
PROSE_CLAUSE = re.compile(
    r"[,;:，；：。]|\b(?:but|because|although|though|whereas|while|so that|unless)\b|但|因为|虽然|而"
)


def denies(text: str) -> bool:
    """Whether a piece of prose holds an odd number of negations, so that it denies."""
    return len(DENIES.findall(text)) % 2 == 1


def prose_clauses(text: str) -> list[str]:
    """Prose cut at commas and conjunctions, empty pieces left out."""
    return [piece for piece in (p.strip() for p in PROSE_CLAUSE.split(text)) if piece]


def negations(text: str) -> list[Cut]:
    """Where an English clause is negated by a leading trigger (``no``, ``denies``, ``without`` ...), in order."""
    pseudo = [Cut(*m.span()) for m in PSEUDO.finditer(text)]
    found = [Cut(*m.span()) for m in LEADING.finditer(text)]
    return [c for c in found if not any(p.start <= c.start < p.end for p in pseudo)]


def verbal_negation(text: str) -> Cut | None:
    """The negated verb of an English clause, if it has one."""
    pseudo = [Cut(*m.span()) for m in PSEUDO.finditer(text)]
    for match in VERBAL.finditer(text):
        if not any(p.start <= match.start() < p.end for p in pseudo):
            return Cut(*match.span())
    return None


def chinese_negation(text: str) -> Cut | None:
    """The first negating word of a Chinese clause that is no part of a finding's own name."""
    pseudo = [Cut(*m.span()) for m in ZH_PSEUDO.finditer(text)]
    for match in ZH_NEGATION.finditer(text):
        if not any(p.start <= match.start() < p.end for p in pseudo):
            return Cut(*match.span())
    return None


def is_other_person(text: str, patient: str = "") -> bool:
    """Whether a clause is about somebody else. ``patient`` is the word by which the teller names the patient."""
    if REPORTS.search(text) or WITH_ME.search(text):
        return False
    match = OTHER.search(MOTHERS.sub("", text))
    return match is not None and not (patient and re.search(rf"\b{patient}\b", match[0], re.IGNORECASE))


def is_past(text: str) -> bool:
    """Whether a clause tells plainly of the past (``as a child``, ``PMH``), not of how long something has lasted."""
    return PAST.search(text) is not None and LASTING.search(text) is None


def is_negative_phrase(text: str) -> bool:
    """Whether a wording of a finding is itself a negation: ``no energy``, ``not hungry``, ``没胃口``."""
    return verbal_negation(text) is not None or bool(negations(text)) or NEGATIVE_WORDS.search(text) is not None


def says_no(text: str) -> bool:
    """Whether a clause holds a negating word, be it one that denies nothing: ``no energy``, ``not that bad``."""
    return is_negative_phrase(text) or PSEUDO.search(text) is not None


def is_deficit(text: str) -> bool:
    """Whether a wording says that something is missing: ``loss of appetite``, ``absent reflexes``."""
    return DEFICIT.search(text) is not None
