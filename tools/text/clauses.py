"""A case cut into clauses with exact offsets, and what each says: present or absent, of whom, where, when."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tools.spelling import mended
from tools.text import negation
from tools.text.abbreviations import expand, is_short_form
from tools.text.allergies import allergens_told, reactions_told
from tools.text.body_sites import is_only_a_part, side, sites
from tools.text.demographics import Person, read_person
from tools.text.language import HAN, language_of
from tools.text.measures import readings
from tools.text.sentences import Span, sentences

# A sentence cut into pieces at commas, conjunctions and negations, and which of the pieces are denied.

# Where ``with`` opens a list of further complaints: ``chest pain for 2 hours with sweating, nausea and vomiting``.
# ours: words that name a complaint; only between two of them does ``with`` add one to the other
_COMPLAINT = re.compile(
    r"\b(?:\w*aches?|aching|pains?|painful|hurts?|sore|soreness|discomfort|cramps?|cough|fever\w*|"
    r"chills|rigors|shivering|sweats?|sweating|sweaty|clamm\w+|nausea\w*|vomit\w*|diarrh\w+|constipation|bloating|"
    r"heartburn|breathless\w*|(?:short(?:ness)?|out) of breath|dyspn\w+|wheez\w+|palpitations|dizz\w+|light-?headed\w*|"
    r"vertigo|faint\w*|syncope|collapse\w*|blackouts?|confusion|confused|drows\w+|seizures?|fits|weak|weakness|numb\w*|"
    r"tingling|pins and needles|stiff|stiffness|rash\w*|itch\w*|hives|blisters|swelling|swollen|jaundice|bleeding|"
    r"discharge|photophobia|blurr\w+|double vision|slurr\w+|tremor|tired\w*|fatigue|malaise|pallor|pale|hoarse\w*|"
    r"haematuria|hematuria|dysuria|(?:weight|appetite|hair|hearing|visual|memory) loss|loss of \w+)\b",
    re.IGNORECASE,
)
# ours: words that are a complaint in front of ``with`` and may be a cause after it
_LEADING = re.compile(r"\b(?:tightness|pressure|heaviness)\b", re.IGNORECASE)
_OPENING = re.compile(
    r"(?<=\w)\s+(?:(?:(?:associated|along|together) )?with|accompanied by)\s+(?=\w)(?!(?:no|nothing)\b)", re.IGNORECASE
)
# ours: a verb or comparison that takes the words after ``with`` as its own: cause, company or what it is full of
_BOUND = re.compile(
    r"\b(?:worse\w*|better|reliev\w+|eas(?:es|ed?|ing)|improv\w+|help\w*|aggravat\w+|trigger\w*|"
    r"comes?(?: on)?|came(?: on)?|brought on|"
    r"made \w+|mix\w+|fill\w+|cover\w+|streak\w+|ting\w+|fleck\w+|starts?|started|starting|begins?|began|"
    r"treat\w+|diagnos\w+|manag\w+|cop(?:e|es|ed|ing)|liv(?:es|ed?|ing)|woken?|wakes?|wak(?:es|ing) up|only|off|"
    r"trouble|problems?|bothered|consistent|deal\w*|always|except)\W*$",
    re.IGNORECASE,
)

NEAR = 200  # ours: characters on either side of ``with`` in which a complaint is looked for


def openings(sentence: str, barriers: list[tuple[int, int]]) -> Iterator[re.Match[str]]:
    """Where in an English sentence ``with`` stands between one complaint and a further one, white space included.

    Args:
        barriers: characters of the joints of the sentence: no complaint is looked for beyond them.
    """
    for match in _OPENING.finditer(sentence):
        start = max((end for _, end in barriers if end <= match.start()), default=0)
        end = min((begin for begin, _ in barriers if begin >= match.end()), default=len(sentence))
        start, end = max(start, match.start() - NEAR), min(end, match.end() + NEAR)
        before, after = expand(sentence[start : match.start()]), expand(sentence[match.end() : end])
        if _tells(before) and _COMPLAINT.search(after):
            yield match


def _tells(before: str) -> bool:
    """Whether words name a complaint of today, stated, that ``with`` may add to."""
    if not (_COMPLAINT.search(before) or _LEADING.search(before)) or _BOUND.search(before):
        return False
    return not (negation.negations(before) or negation.verbal_negation(before) or negation.is_past(before))


@dataclass(frozen=True)
class Piece:
    """A clause before it is understood: its characters, and the delimiter in front of it."""

    start: int
    end: int
    joint: str


# ours: what is said behind a heading of all that it names, and by itself tells nothing: "Resp: clear", "MSK - NAD"
_OF_HEADING = (
    r"\s*(?:(?:all|both|entirely|grossly)\s)?"
    r"(?:none|nil|no|neg(?:ative)?|absent|denied|normal|NAD|N|clear|intact|soft|unremarkable|OK|fine|WNL)\s*(?:[,;.]|$)"
)
_JOINT = re.compile(
    rf"[;()\[\]]|:(?!\d|{_OF_HEADING})|,(?!\d{{3}}\b)|\.{{2,}}|\.(?=\s)|\s[-–—]+\s(?!{_OF_HEADING})|"
    r"(?<=\w)\s[+&]\s(?=[A-Za-z])|\b(?:but|however|although|though|whereas|while|except|yet|then|"
    r"because|and(?!(?<=over and) over\b)(?!(?<=again and) again\b)|or|nor|plus)\b|"
    r"\bas(?=\W+(?:not|unable|no longer)\b)|"
    r"\bdespite(?=\W+(?:an? )?(?:good|normal|increased|great|eating|adequate|healthy|big)\b)",
    re.IGNORECASE,
)
_JOINT_ZH = re.compile(
    r"[，,；;、（）()。]|[：:](?!\s*(?:无|没有|阴性|否认)\s*(?:[，,；;、。]|$))|(?<![以涉普波不])及(?!时)|或(?!者?许)|(?<![缓温饱平])和(?!缓)|伴有?|但是?|(?<=\s)\s*"
)
# ours: items of a list of notes, written without spaces: "SOB/palps/syncope", "N+V"; forms of one word are none
_SLASHED = re.compile(r"(?<![\w/+&.])[A-Za-z]+(?:[/+][A-Za-z]+)+(?![\w/+&])")
_NO_LIST = re.compile(
    r"(?:\w+/)?(?:and/or|s/he|he/she|she/he|his/hers?|hers?/his|him/her|on/off|yes/no|y/n|night/day|day/night|"
    r"\w{1,4}/(?:d|h|hr|day|wk|week|m|min|month|ml|dl|l|kg|mol))",
    re.IGNORECASE,
)
_LETTERS = frozenset("NVD")  # ours: nausea, vomiting, diarrhoea
_LISTED = ("/", "+", "&")
_SOFT = frozenset({",", "and", "or", "nor", "、", "及", "或", "和", *_LISTED})
_COMPANION = ("with", "by")  # joints of `tools.text.companions`: what follows is told as what goes before
# ours: a piece that begins or holds one of these says something of its own, and ends the scope of a negation
_OWN_START = re.compile(
    r"^\W*(?:I|I'm|he|she|it|we|they|you|there|my|his|her|the|an?|some|has|have|had|is|was|now|mild(?:ly)?|"
    r"slight(?:ly)?|severe(?:ly)?|minimal(?:ly)?|diffuse(?:ly)?|also|just|only|"
    r"still|feels?|with|since|after|when|on|for|takes?|taking|smokes?|drinks?|lives?|works?|PMH|O/E|had|got|getting)\b",
    re.IGNORECASE,
)
_LACKS, _NO = re.compile(r"\W*(?:without|w/o|no)\b", re.IGNORECASE), re.compile(r"\W*no\b", re.IGNORECASE)
# ours: a finding with an adjective, which may be told and not denied
_DESCRIBED = re.compile(
    r"\W*(?:\w{2,}(?:ed|ing)|swollen|red|sore|stiff|dry|pale|cold|hot|itchy|painful|tender|high|low|bloody|black|blue|"
    r"yellow|weak|puffy|rectal|vaginal|hoarse|blurry|cloudy|dark|loose|tight|thick|raw|scaly|bright|purple|white)\s+[a-z]|"
    r"\W*[a-z]+ (?:hoarse|swollen|red|sore|stiff|tender|painful|dry|numb|weak|itchy|blurr(?:y|ed)|pale)\W*$",
    re.IGNORECASE,
)
# ours: how one of two parts looks: who denies it says "swollen joints", so "no fever, swollen knee" tells of a knee
_ONE_OF_TWO = re.compile(
    r"\W*(?:(?:very|hot|red|acutely)\W+)*(?:swollen|red|hot|painful|tender|stiff|sore|puffy|itchy|bruised|weak|numb) "
    r"(?:(?:left|right|l|r|lt|rt) )?(?:knee|ankle|elbow|wrist|hip|shoulder|calf|leg|arm|thigh|foot|hand|toe|finger|"
    r"thumb|eye|eyelid|ear|testicle|testis|breast|cheek)(?:\W+(?:left|right|l|r|lt|rt))?\W*$",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"\W*(?:an?|any)\b", re.IGNORECASE)
_OWN_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|feels?|came|comes|started|began|keeps?|hurts?|says|all|gone|very|really|quite|"
    r"getting)\b|\d",
    re.IGNORECASE,
)
# a clause of its own within another: what it denies is not what it stands by (``ulcers that don't hurt``)
_RELATIVE = re.compile(
    rf"(?<=\w)\s+(?!{negation.NOT_THERE})"
    r"(?=(?:that|which|who)(?:'s|\s+(?:is|are|was|were|has|have|had|do|does|did))?(?:\s+not|n[’']t|\s+never|"
    r"\s+(?:do|does|did|is|are|was|were|has|have|had|wo|ca|could|would)n[’']?t)\b)",
    re.IGNORECASE,
)
# a lack ("no appetite"), or a denial for a time ("no periods for six months"): what "and" adds to it is told
_LACKED = re.compile(rf"\W*no {negation.FUNCTION.pattern}\b", re.IGNORECASE)
_FOR_A_TIME = re.compile(
    r"\b(?:for|since|in)\b[^,;]*\b(?:hours?|days?|nights?|weeks?|months?|years?|yesterday|last|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.IGNORECASE,
)
# ours: what is examined or measured, as an item of a list of which the last alone says how all are: "power, reflexes
# and sensation normal", "prolactin and TSH raised"
_EXAMINED = re.compile(
    r"\W*(?:(?:the|his|her|my|serum|plasma|free|peripheral|foot|deep tendon|visual|cranial|muscle|renal|kidney|liver|"
    r"thyroid|bone|urine|blood|heart|chest|vital|bowel|breath)\s)*"
    r"(?:power|strength|tone|reflex(?:es)?|sensation|coordination|gait|pulses?|perfusion|pupils?|fundi|fields|acuity|"
    r"vision|hearing|drums?|eardrums?|nerves?|movements?|function(?: tests?)?|sounds?|signs?|obs|observations|CXR|ECG|"
    r"EEG|echo|CT|MRI|x-?rays?|ultrasound|USS|dipstick|urine|bloods?|FBC|CBC|U&?Es?|LFTs?|TFTs?|TSH|T3|T4|B12|folate|"
    r"vitamin B12|ferritin|iron|Hb|ha?emoglobin|platelets|WCC|CRP|ESR|sodium|potassium|calcium|phosphate|magnesium|"
    r"urea|creatinine|glucose|HbA1c|albumin|bilirubin|ALT|AST|ALP|GGT|amylase|lipase|CK|troponin|D-?dimer|lactate|"
    r"prolactin|LH|FSH|oestradiol|estradiol|testosterone|cortisol|PTH|uric acid|urate|lipids|cholesterol|clotting|INR|"
    r"APTT|ANA|dsDNA|RF|ANCA|throat|ears?|lungs|abdomen|skin|speech|memory|appetite|sleep|bowels|weight|temperature|"
    r"BP|blood pressure|joints|INR|clotting|"
    r"nit(?:rites?)?|leu[ck]?\w*|ket(?:ones)?|prot(?:ein)?|tone|fundi|discs|plts|HS|TMs?|VA|CVS|CNS|PNS|GI|GU|ENT|MSK|resp|neuro|abdo|"
    r"chest|heart|PR|PV|LNs?|thyroid)\W*",
    re.IGNORECASE,
)
_SAID_OF_ALL = re.compile(
    r"(?<=\w)\s((?:(?:is|are|was|were|all|both|otherwise|entirely|completely|within|also|then|still)\s)*"
    r"(?:normal|unremarkable|intact|negative|ok|fine|NAD|limits|raised|elevated|high|low|reduced|absent))\W*$",
    re.IGNORECASE,
)
BARE_SITE = 4  # Chinese characters in front of a negation that only say where; ours
SHORT = 4  # words of a bare item in a list of denials; ours


def pieces(sentence: str, chinese: bool) -> list[Piece]:
    """The pieces of a sentence in order, trimmed of white space and punctuation."""
    return list(_pieces(sentence, chinese))


def denied(sentence: str, found: list[Piece], chinese: bool) -> Sequence[bool | None]:
    """For each piece whether it is denied; the scope of a denial is followed over lists. None: it may be or not."""
    return _denied_zh(sentence, found) if chinese else _denied(sentence, found)


def _pieces(sentence: str, chinese: bool) -> Iterator[Piece]:
    at, joint = 0, ""
    joints = [*(_JOINT_ZH if chinese else _JOINT).finditer(sentence), *_RELATIVE.finditer(sentence)]
    if not chinese:
        joints += [*openings(sentence, [m.span() for m in joints]), *_slashes(sentence)]
    joints.sort(key=lambda m: m.start())
    for match in joints:
        yield from _cut_at_triggers(sentence, at, match.start(), joint, chinese)
        at, joint = match.end(), match[0].strip().lower()
    yield from _cut_at_triggers(sentence, at, len(sentence), joint, chinese)


def _slashes(sentence: str) -> Iterator[re.Match[str]]:
    """Where an English sentence has one item of a list joined to the next without a space."""
    for match in _SLASHED.finditer(sentence):
        items = re.split(r"[/+]", match[0])
        worded = all(len(item) > 1 for item in items) and not _NO_LIST.fullmatch(match[0])
        known = is_short_form(match[0]) or any(map(is_only_a_part, items[:-1]))
        if (worded or _LETTERS.issuperset(items)) and not known:
            yield from re.compile(r"[/+]").finditer(sentence, match.start(), match.end())


def _cut_at_triggers(sentence: str, start: int, end: int, joint: str, chinese: bool) -> Iterator[Piece]:
    """The stretch as pieces: a leading trigger (``red throat without exudate``) begins a piece of its own."""
    stretch = sentence[start:end]
    cut = negation.chinese_negation(stretch) if chinese else None
    triggers = (
        ([cut] if cut and sentence[start + cut.start] not in "不未" else []) if chinese else negation.negations(stretch)
    )
    at = start
    for trigger in triggers:
        here = start + trigger.start
        before = sentence[at:here].strip()
        if chinese and len(before) <= BARE_SITE and sites(before):
            continue
        answers = not any(c.isalnum() for c in stretch[trigger.end :])  # ``发热：无``
        if len(before) >= (2 if chinese else 4) and not answers and not negation.TRAILING.search(stretch):
            yield from _trimmed(sentence, at, here, joint)
            at, joint = here, " "
    yield from _trimmed(sentence, at, end, joint)


def _trimmed(sentence: str, start: int, end: int, joint: str) -> Iterator[Piece]:
    while start < end and not sentence[start].isalnum() and sentence[start] not in "?↑↓":
        start += 1
    while end > start and not sentence[end - 1].isalnum() and sentence[end - 1] not in "%+↑↓":
        end -= 1
    if start < end:
        yield Piece(start, end, joint)


def _denied(sentence: str, pieces: list[Piece]) -> list[bool | None]:
    """For each piece of an English sentence, whether it is denied, scopes followed over lists.

    "Without pus, cracked lips" may deny the lips or not; "sore throat, no cough, tender glands" tells of the glands.
    """
    out: list[bool | None] = []
    scope: bool | None = False
    lacks, bare, ended = False, False, -2
    for i, piece in enumerate(pieces):
        words = expand(sentence[piece.start : piece.end])
        leading = negation.negations(words)
        own = bool(leading) or negation.verbal_negation(words) is not None or bool(negation.TRAILING.search(words))
        if own:
            lacks, bare = _LACKS.match(words) is not None, _NO.match(words) is not None
        if own and (_LACKED.match(words) or _FOR_A_TIME.search(words)):
            ended = i
        goes_on = scope is not False and _goes_on(sentence, pieces, i)
        goes_on = goes_on and not (i and piece.joint == "," and not _listed(pieces, i) and _FOR_A_TIME.search(words))
        if not own and goes_on and i == ended + 1 and piece.joint in ("and", ",") and not _listed(pieces, i):
            goes_on = False
        if own or not goes_on:
            scope = own
        elif lacks and piece.joint == "," and _DESCRIBED.match(words) and not _listed(pieces, i):
            scope = False if bare and (False in out or _ONE_OF_TWO.match(words)) else None
        out.append(scope)
    return out


def _goes_on(sentence: str, pieces: list[Piece], i: int) -> bool:
    """Whether the scope of a denial reaches piece ``i``: an item of the same list."""
    piece = pieces[i]
    words = sentence[piece.start : piece.end]
    if piece.joint.endswith(_COMPANION):
        return True
    if piece.joint in ("or", "nor") and _ARTICLE.match(words) and not _OWN_VERB.search(words):
        return True  # "without fever or a rash"
    if piece.joint not in _SOFT or _OWN_START.match(words) or negation.NORMAL.search(words):
        return False
    if piece.joint in ("or", "nor", *_LISTED):
        return True
    return not _OWN_VERB.search(words) and (_listed(pieces, i) or len(words.split()) <= SHORT)


def _listed(pieces: list[Piece], i: int) -> bool:
    """Whether a piece is an item of a list that "or" closes."""
    return next((p.joint for p in pieces[i + 1 :] if p.joint != ","), "") in ("or", "nor")


def _said_of_all(sentence: str, pieces: Sequence[Piece]) -> list[str]:
    """For each piece of an English sentence the words that the last item of its list says of all; "" for none."""
    out = [""] * len(pieces)
    for last in range(len(pieces) - 1, 0, -1):
        said = _SAID_OF_ALL.search(sentence[pieces[last].start : pieces[last].end])
        if said is None or pieces[last].joint not in ("and", "or", ",", *_LISTED):
            continue
        for n in range(last - 1, -1, -1):
            if not _EXAMINED.fullmatch(sentence[pieces[n].start : pieces[n].end]):
                break
            out[n] = said[1]
            if pieces[n].joint not in (",", *_LISTED):
                break
    return out


def only_examined(clause: Clause) -> bool:
    """Whether a clause names what was examined or measured, and does not say how it is (``Gait``)."""
    return _EXAMINED.fullmatch(clause.text) is not None and _SAID_OF_ALL.search(clause.told) is None


def _as_it_should_be(words: str) -> bool:
    """Whether a Chinese piece says that something is normal or negative, and of nothing else that it is not."""
    return words.endswith(("阴性", "正常")) and "而" not in words


def _denied_zh(sentence: str, pieces: list[Piece]) -> list[bool]:
    out: list[bool] = []
    scope = denial = False
    for piece in pieces:
        words = sentence[piece.start : piece.end]
        cut = negation.chinese_negation(words)
        goes_on = scope and (piece.joint in "、及或和" or (denial and piece.joint in "，,"))
        if cut:
            denial = words[cut.start : cut.end] == "否认"
        scope = cut is not None or (goes_on and not re.match(r"[有伴现今近自]", words)) or _as_it_should_be(words)
        denial = denial and scope
        out.append(scope)
    return out


@dataclass(frozen=True)
class Clause:
    """One clause of a case.

    Attributes:
        text: the characters ``start`` to ``end`` of the case, exactly.
        told: the clause with abbreviations written out, negating words kept.
        plain: the same without the words that negate it: what is looked for in the graph.
        present: True stated, False denied or said to be normal, None uncertain.
        normal: it says that something is as it should be.
        other: it is about somebody else. past: it tells plainly of the past.
        side, sites: as `tools.text.body_sites` reads them.
        sentence: number of its sentence, from 0.
        reading: it is a vital sign or a laboratory value, read from a number.
        allergy: it tells what an allergy is to, in a list, or what it once did.
        heading: it is the heading of a section or a system (``Resp:``), which tells of no finding.
        background: it stands in a section on what was before, on the family, medicines or habits (``PMH: ...``), where
            all of them are listed, whatever the complaint.
    """

    text: str
    start: int
    end: int
    told: str
    plain: str
    present: bool | None = True
    normal: bool = False
    other: bool = False
    past: bool = False
    side: str | None = None
    sites: frozenset[str] = frozenset()
    sentence: int = 0
    reading: bool = False
    allergy: bool = False
    heading: bool = False
    background: bool = False


_PAST_SECTION = re.compile(r"^\W*(?:PMHx?|PSH|past (?:medical|surgical) history|background|既往史?)\b", re.IGNORECASE)
_FAMILY_SECTION = re.compile(r"^\W*(?:FHx?(?!\W{0,3}\d)|family history|家族史)\b", re.IGNORECASE)
# ours: short forms and, with a colon or a dash, words that are headings; FH with a number is a fetal heart rate
_OF_NOW = re.compile(r"\b(?:now|today|tonight|presents?|presenting)\b|\bc/o\b", re.IGNORECASE)
_BACKGROUND = re.compile(
    r"^\W*(?:(?:PMHx?|PSHx?|FHx?|DHx?|SHx?)\b(?!\W{0,3}\d)|(?:PPH|POH|past (?:medical|surgical|psychiatric|obstetric) "
    r"history|medical history|background|comorbidit(?:y|ies)|family history|drug history|social history|"
    r"(?:(?:current|regular|home) )?(?:medications?|meds)|drugs|既往史?|家族史|个人史|用药史)\s*[:：–—-])",
    re.IGNORECASE,
)
# ours: headings of notes, by the system or the section that they name: they tell of no finding
_HEADING = re.compile(
    r"\W*(?:on )?(?:GP|ED|A&E|triage|P?/?C|C/?C|P/C|HPC|HPI|PMHx?|PSH|PPH|POH|"
    r"DHx?|FHx?|SHx?|SE|ROS|systems? review|O/?E|exam(?:ination)?|"
    r"obs|observations|vitals|I[xn]x?|investigations|bloods?|imaging|imp(?:ression)?|plan|MSE|risk|insight|mood|"
    r"affect|"
    r"thoughts?|perc(?:eptions?)?|cog(?:nition)?|app(?:earance)?|A&B|general(?:ly)?|gen|airway|[A-E]|"
    r"resp(?:iratory)?(?: system)?|CVS?|cardio(?:vascular)?|CNS|PNS|neuro(?:logy|logical(?:ly)?)?|GIT?|GU|gynae|"
    r"O&G|ENT|"
    r"HEENT|derm(?:atology)?|MSK|musculoskeletal|ortho|rheum|tox(?:icology)?|psych(?:iatry|iatric)?|endo(?:crine)?|"
    r"drugs|meds|medic(?:ations?|ines?)|allergies|social|occupation|"
    r"haem(?:atology)?|onc(?:ology)?|renal|uro(?:logy)?|ophth|vasc(?:ular)?|UL|LL|CN)"
    r"(?: exam(?:ination)?)?\W*",
    re.IGNORECASE,
)
_BEHIND_HEADING = re.compile(r"\s*:|\s+[-–—]+\s")
_PATIENT = re.compile(
    r"^\W*(?:.{0,30}\b(?:writing|asking|calling|worried|here|came) (?:for|about|on behalf of|with) )?"
    r"(?:(?:my|our|this|a|the(?=(?: \w+){0,2} (?:child|kid|boy|girl|baby|toddler)\b))"
    rf"(?: \w+){{0,3}}? ({negation.RELATIVE})|"
    r"(mum|mummy|mom|dad|daddy|nan|granny|grandad|husband|wife|son|daughter))\b",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"^\W*(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day)|hope|sorry|thanks?|thank you|quick|just a)\b"
    r"(?:\W+\w+){0,6}\W*$",
    re.IGNORECASE,
)  # ours: an opening sentence that tells of nobody
# ours: who tells of oneself: not of worry, nor of what one did for somebody; of a part of one's own body
_TELLER = re.compile(
    r"\bI(?:'m|’m|'ve|’ve| (?:(?:just|only|also|now|still) )?(?:am|have|had|feel|get))\b"
    r"(?! (?:\w+ly |not |so |very |a bit |also |already |just |now |been |had )*"
    r"(?:writing|asking|calling|here|worr\w+|concerned|afraid|scared|wondering|sure|told|giv\w+|tried|trying|notic\w+|checked|"
    r"called|took|taken|put|seen|rung|phoned|spoken|asked|looked|kept|brought|to|read|googled|used|using|"
    r"an? (?:question|son|daughter|child|baby)|s?he|they|it|that|h(?:er|im|is)|their|them|my)\b)|"
    r"\b(?:hurt\w*|kill\w*|bother\w*|wak(?:es?|ing)) me\b",
    re.IGNORECASE,
)
_MINE = re.compile(r"\bmy\s+((?:[a-z]+\b(?!['’])[ ]?){1,3})", re.IGNORECASE)
_OF_RELATIVE = re.compile(rf"\b{negation.RELATIVE}\b", re.IGNORECASE)
_JOINED = re.compile(r"\W*(?:,|&|and|or)\W*", re.IGNORECASE)
_PLACED = re.compile(
    r"(?:\w+ )?\w+ (?:of|in|over|around|on) (?:the|my|his|her|their|one|both|left|right)\b", re.IGNORECASE
)
# ours: complaints that are of a place, told without it: "redness", "sudden pain"
_LOCAL = re.compile(
    r"(?:(?:no|the|some|sudden|severe|mild|marked|painful) )*"
    r"(?:redness|pains?|swelling|itch(?:ing|iness)?|burning|tenderness|numbness|tingling|stiffness|warmth|heat|soreness|"
    r"aching|aches?|bruising|erythema|oedema|edema)",
    re.IGNORECASE,
)
# ours: how a place looks or feels, told without it after the place: "my calf, sore and warm"
_FELT = re.compile(
    r"\W*(?:(?:and|also|is|are|it(?:'s)?|feels?|looks?|very|really|quite|so|a|bit|all|bright|dark|slightly|mildly|minimally|"
    r"generally|red(?:d?ish)?|pink(?:ish)?)\W+)*"
    r"(?:sore|warm|hot|red(?:d?ish)?|swollen|tender|tight|itchy|scaly|painful|hurts?|aching|achy|throbs|throbbing|puffy|"
    r"bruised|hard|firm|shiny|numb|stiff|inflamed|crusty|flaky|weeping|oozing|blistered|peeling)"
    r"(?:\W+(?:edges?|borders?|margins?|rim|skin|to (?:the )?touch|(?:since|for) .{1,20}|now|today|like hell))*\W*",
    re.IGNORECASE,
)
# ours: what is denied without a place is looked for where the complaint before it is: "my breast aches, no lump"
_LUMP = re.compile(r"\b(?:lumps?|bumps?|mass(?:es)?|nodules?|discharge|pus)\b", re.IGNORECASE)
_NEW_SUBJECT = re.compile(r"^\W*(?:I|I'm|I’m|I've|my|mine|me)\b|^我|患者")


def clauses(text: str, person: Person | None = None) -> list[Clause]:
    """The clauses of a case in order; ``text[c.start:c.end] == c.text`` for each.

    Args:
        text: the case, in English or Chinese.
        person: the patient, for reading numbers; None for an adult of unknown sex.
    """
    return list(_read(text, person))


@lru_cache(maxsize=64)  # ours: gate, tools, answer and review read the same case in one turn
def _read(text: str, person: Person | None) -> tuple[Clause, ...]:
    found: list[Clause] = []
    patient = patient_in(text)
    for number, sentence in enumerate(sentences(text)):
        where = next((c.sites for c in reversed(found) if c.sites), frozenset[str]())
        found += _of_sentence(text, sentence, number, person, patient, where)
    return tuple(found)


def affirmed(text: str) -> str:
    """A case without what it denies (``no fever``)."""
    for clause in reversed(clauses(text)):
        if clause.present is False and not clause.reading:
            text = text[: clause.start] + text[clause.end :]
    return text


def _of_sentence(
    text: str, sentence: Span, number: int, person: Person | None, patient: str, where_before: frozenset[str]
) -> list[Clause]:
    told = sentence.of(text)
    found: list[Clause] = []
    masked = _signs(told)
    background = False
    reactions = [*reactions_told(told), *allergens_told(told)]
    for r in readings(told, person, patient):
        start, end = sentence.start + r.start, sentence.start + r.end
        masked = masked[: r.start] + ";" * (r.end - r.start) + masked[r.end :]
        if r.words:
            found.append(
                Clause(text[start:end], start, end, r.words, r.words, r.present, sentence=number, reading=True)
            )
    chinese = language_of(told) == "zh"
    found_pieces = pieces(masked, chinese)
    past = other = False
    shared = [""] * len(found_pieces) if chinese else _said_of_all(masked, found_pieces)
    for piece, said, absent in zip(found_pieces, shared, denied(masked, found_pieces, chinese), strict=True):
        words = masked[piece.start : piece.end]
        if absent is None:
            continue
        past = past or _PAST_SECTION.match(words) is not None
        background = background or _BACKGROUND.match(masked[piece.start :]) is not None
        if _OF_NOW.search(words):  # "PMH: asthma, now crushing chest pain"
            past = background = False
        other = (
            negation.is_other_person(words, patient)
            or _FAMILY_SECTION.match(words) is not None
            or (other and not _NEW_SUBJECT.match(words))
        )
        where = Span(sentence.start + piece.start, sentence.start + piece.end)
        clause = _understand(text, where, number, absent or bool(negation.TRAILING.search(said)), past, other, said)
        if not chinese and _HEADING.fullmatch(words) and _BEHIND_HEADING.match(masked, piece.end):
            clause = replace(clause, heading=True)
        clause = replace(clause, background=background)
        noted = any(start <= piece.start and piece.end <= end for start, end in reactions)
        found.append(replace(clause, past=True, allergy=True) if noted else clause)
    return _with_sites(text, sorted(found, key=lambda c: (c.start, c.end)), where_before)


def _with_sites(text: str, found: list[Clause], before: frozenset[str]) -> list[Clause]:
    """Clauses with the place that they share with the next ("redness and swelling of the toe" is redness of the toe),
    or that was told before how it looks or feels, or that no lump or discharge is there; ``before``: the place
    of the sentences before."""
    for at in range(len(found) - 2, -1, -1):
        clause, following = found[at], found[at + 1]
        joined = _JOINED.fullmatch(text, clause.end, following.start) and _PLACED.match(following.text)
        if joined and following.sites and not clause.sites and _LOCAL.fullmatch(clause.text):
            found[at] = replace(clause, sites=following.sites)
    for at in range(len(found)):
        if at and not found[at].sites and found[at - 1].sites and _FELT.fullmatch(found[at].text):
            found[at] = replace(found[at], sites=found[at - 1].sites)
        elif found[at].present is False and not found[at].sites and _LUMP.search(found[at].text):
            found[at] = replace(found[at], sites=before)
        before = found[at].sites or before
    return found


def _signs(sentence: str) -> str:
    """The sentence with (+) and (-) as words of the same length, so that no bracket cuts them off."""
    nil, there = ("阴性 ", "阳性 ") if language_of(sentence) == "zh" else ("nil", "   ")
    sentence = re.sub(r"[（(][-－—–][)）]", nil, sentence)
    return re.sub(r"[（(][+＋][)）]", there, sentence)


def _understand(text: str, where: Span, number: int, absent: bool, past: bool, other: bool, said: str = "") -> Clause:
    """The clause of some characters; ``said`` is what the end of their list says of all (`_said_of_all`)."""
    words = where.of(text)
    told = expand(mended(f"{words} {said}".rstrip()), text)
    lasting = negation.as_going_on(told)
    if lasting != told:
        told, absent = lasting, False
    plain, normal = _without_negation(told, absent)
    if absent and (negation.FUNCTION.fullmatch(_FOR_A_TIME.sub("", plain).strip()) or negation.DISABILITY.search(told)):
        plain, absent = told, False
    uncertain = negation.UNCERTAIN.search(words) is not None or text.endswith("?", 0, where.start)
    present: bool | None = not (absent or normal)
    return Clause(
        text=words,
        start=where.start,
        end=where.end,
        told=told,
        plain=plain,
        present=None if present and uncertain else present,
        normal=normal,
        other=other,
        past=past or negation.is_past(told),
        side=side(told),
        sites=sites(told) or sites(words),
        sentence=number,
    )


def _without_negation(told: str, absent: bool) -> tuple[str, bool]:
    """The clause without what negates it, and whether it says that something is normal."""
    if absent:
        cuts = negation.negations(told)[:1] or [c for c in [negation.verbal_negation(told)] if c]
        cuts = cuts or [c for c in [negation.chinese_negation(told)] if c]
        plain = told
        for cut in cuts:
            joint = "" if HAN.match(told, cut.start) else " "
            plain = f"{told[: cut.start]}{joint}{told[cut.end :]}"
        plain = negation.EMPHASIS.sub("", negation.TRAILING.sub("", plain)).rstrip(" :：")
        return " ".join(plain.split()) or told, False
    match = negation.NORMAL.search(told)
    if match is None or negation.verbal_negation(told):
        return told, False
    return " ".join((told[: match.start()] + told[match.end() :]).split()) or told, True


def patient_in(text: str) -> str:
    """The word by which the teller names the patient (``my little boy is two``), "" when the teller is the patient."""
    lead = next((told for s in sentences(text) if not _GREETING.match(told := s.of(text))), "")
    match = _PATIENT.match(lead)
    if match is None or tells_of_oneself(lead):
        return ""
    return (match[1] or match[2]) if read_person(lead).age is not None or not tells_of_oneself(text) else ""


def tells_of_oneself(text: str) -> bool:
    """Whether who tells is ill: ``I have a cough``, ``lost my voice``."""
    mine = (m[1] for m in _MINE.finditer(text))
    return _TELLER.search(text) is not None or any(sites(what) and not _OF_RELATIVE.search(what) for what in mine)


# Clauses that tell of taking a medicine: what it is for was found before, and is not measured or felt now.

# ours: verbs of taking, forms of medicine
_TAKING = re.compile(
    r"\b(?:takes?|taking|took|taken|on|prescribed|start(?:s|ed|ing)?|given|gave|us(?:e|es|ing)|stopp(?:ed|ing))\b"
    r"[^.;]{0,40}\b(?:tablets?|pills?|capsules?|inhalers?|medicines?|medications?|injections?|antibiotics?|drops|"
    r"sprays?|patch(?:es)?|steroids?|painkillers?)\b|[服吃用].{0,6}药",
    re.IGNORECASE,
)
_EFFECT = re.compile(
    r"\b(?:help\w*|eas(?:e|es|ed|ing)|reliev\w*|relief|better|worse|work(?:s|ed)?|settl\w+|after|since)\b|"
    r"缓解|好转|有效|无效|加重|后",
    re.IGNORECASE,
)
# ours: that nobody takes anything, which is no lack and no lapse; "no tablets for ten days" goes on, and is one
_NONE = re.compile(
    r"^\W*(?:(?:he|she|they|i|and|but|who|the patient|patient|pt|otherwise|currently|usually|regularly|has|have|is|am|"
    r"are|was|[a-z]+'s|takes?|taking|uses?|using|on)\W+)*"
    r"(?:no|nil|none|without|not?\W+(?:(?:taking|using|on)\W+)?any|nothing)\W+"
    r"(?:(?:regular|current|usual|other|prescribed|daily|long-term|routine|known)\W+)*"
    r"(?:medicines?|medications?|meds|tablets?|pills?|drugs?|drug history)"
    r"(?:\W+(?:at present|currently|now|of note|regularly|at all))?\W*$|"
    r"^\W*(?:无用药史|(?:平素|平时)?(?:不|没有|无)长期(?:服|用)药\S?)\W*$",
    re.IGNORECASE,
)

# ours: how many medicines are taken and not which; "took" may tell of an overdose
_HOW_MANY = re.compile(
    r"^.{0,60}?\b(?:takes?|taking|on|uses?|using|has|prescribed)\W+(?:about\W+|over\W+|at least\W+)?"
    r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|several|many|multiple|numerous|"
    r"various|lots of|a lot of|a number of|loads of|a few|some)\W+"
    r"(?:(?:different|regular|long-?term|daily|other|prescribed|repeat|usual|prescription|of his|of her)\W+)*"
    r"(?:medicines?|medications?|meds|tablets?|pills?|drugs?)"
    r"(?:\W+(?:a|per|every|each) (?:day|morning|night)|\W+daily|\W+regularly|\W+long[- ]term)?\W*$|"
    r"^.{0,12}(?:长期|每天|平时|同时)?[服吃用]着?(?:\d+|[两二三四五六七八九十几多好]+)种药物?\W*$",
    re.IGNORECASE,
)


def tells_of_none(text: str) -> bool:
    """Whether a clause says that no medicine is taken (``takes no medicines``), or only how many, as far as it goes."""
    return _NONE.match(text) is not None or _HOW_MANY.match(text) is not None


def tells_of_medicine(text: str) -> bool:
    """Whether a clause says that a medicine is taken, and nothing of what it does (``tablets for blood pressure``)."""
    return _TAKING.search(text) is not None and _EFFECT.search(text) is None
