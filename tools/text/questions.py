"""Forms of questions: is it one, does yes or no answer it, which options."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import NamedTuple

# ours: ends of sentences; a stop between digits (37.5) is none
SENTENCE = re.compile(r"(?:[^.!?;\n。！？；]|(?<=\d)\.(?=\d)|\.(?=\w))+[.!?;\n。！？；]*")
AUXILIARY = r"(?:is|are|was|were|do|does|did|can|could|should(?! have (?:said|mentioned|added))|"
AUXILIARY += r"shall|will|would|has|have|had|may|might|must)"
WH = re.compile(r"\b(?:what|which|how|when|why|who|whom|whose|where)\b", re.IGNORECASE)
OPENING = re.compile(
    rf"^\W*(?:(?:so|and|but|also|well|ok|please|then|now|in|for|among|with|after|during|hi|hello)\b[^?]{{0,60}}?,\s*)?"
    rf"(?:so |and |but |also |please )*(?:what|which|how|when|why|who|where|{AUXILIARY})\b",
    re.IGNORECASE,
)
CLOSED = re.compile(
    rf"^\W*(?:(?:in|for|among|with|after|during|so|and|but)\b[^?]{{0,80}}?,\s*|so |and |but |"
    rf"also )?{AUXILIARY}(?:n't)?\b",
    re.I,
)
# A closed question behind what is told first, an open one there, and the short forms of speech; ours.
TURN = r"(?:[,;:]|\s[-–—]+)\s*(?:(?:and|but|so|then)\s+)?|\b(?:and|but|so|then)\s+"
CLAUSE = re.compile(rf"(?:{TURN}){AUXILIARY}(?:n't)?\s", re.IGNORECASE)
OPEN_CLAUSE = re.compile(
    rf"(?:^\W*(?:(?:at|by|for|from|in|of|to|with)\s+)?|{TURN})(?:what|which|how|when|why|who|whom|whose|where)\b", re.I
)
JOINED = re.compile(  # a question behind another
    rf"\s*,?\s+and\s+(?=(?:also\s+)?(?:(?:what|which|how|when|why|who|where)\s+{AUXILIARY}|"
    rf"{AUXILIARY}\s+(?:the|i|he|she|they|we|it|you|my|an?|there)\b))",
    re.IGNORECASE,
)
HAD = re.compile(r"\W*(?:had|have|has)\b", re.IGNORECASE)  # "Had a tooth out, when can I smoke?"
# "had the same in the other foot last year": told, without its subject
HAD_TOLD = re.compile(
    r"\W*(?:had|(?:have|has)(?! (?:the|my|his|her|your|our|their)\b))\b"
    r"(?! (?:i|he|she|they|you|we|it(?! (?:for|since|about|all|once|twice|on|a|\d+)\b)|any\w*)\b)",
    re.I,
)
# "can't close the eye", "is worse at night": told, without its subject; ours
SUBJECTLESS = re.compile(
    rf"\W*{AUXILIARY}(?:n?['’]?t (?!(?:i|he|she|they|you|we|it|this|that|these|those|there|the|an?|my|his|her|our|"
    r"your)\b)|"
    r" (?:not|now|also|still|only|just|very|really|quite|always|often|mostly|usually|sometimes|getting|feeling|worse|"
    r"better|fine|ok(?:ay)?)\b)",
    re.IGNORECASE,
)
LIST = re.compile(r"\W*(?:list|name|give|tell|explain|describe)\b", re.IGNORECASE)
SHORT = re.compile(
    rf"\b{AUXILIARY}(?:n't)?\b|^\W*any\b|\b(?:ok|okay|safe|fine|allowed|necessary|worth|true|right|yes or no)\b",
    re.IGNORECASE,
)
ALTERNATIVES = re.compile(
    r"\b(?:is|are) [^,?]{2,60} or [^,?]{2,60} (?:better|safer|best|preferred|preferable|more|superior|worse)\b|"
    r"\bor (?:can|should|do|is|are|does|would) (?:we|it|they|i|you|one)\b|\bor (?:instead|rather)\b",
    re.IGNORECASE,
)
# A headline that asks: "Aripiprazole: a new risk factor for gambling?"; ours
HEADLINE = re.compile(
    r"(?:[^?]*(?:\s?--+\s?|\s[–—]\s|:\s+)|[^,?]*,\s+)(?:an?|another)\s(?:[\w/'’-]+\s+){1,16}[\w/'’-]+\s?\?\W*$", re.I
)
# "Is flu contagious, for how long?" is answered by the time
ALSO_OPEN = re.compile(
    r"\band (?:(?:for|from|until|since|by) )?(?:what|which|how|when|why|who|where)\b"
    r"|,\s*(?:(?:for|from|until|since) (?:how|when|what)|how (?:long|often|much|many|soon|far))\b",
    re.IGNORECASE,
)
CLOSED_ZH = re.compile(
    r"(?:吗|么)\s*[?？。]?\s*$|是否|能否|可否|会否|有没有|是不是|能不能|需不需要|要不要|会不会|可不可以|有无|"
    r"应不应该|该不该"
)
OPEN_ZH = re.compile(r"什么|怎么|怎样|如何|为何|为什么|哪|多少|几|谁|何时|多久|多大")
TOPIC = re.compile(r":\s+|\s?--+\s?|\s[–—]\s")
# ours: "Is it higher, lower, or the same with one than with the other?"
WHICH_WAY = re.compile(
    r"\bhigher,? (?:or )?lower,?(?: or)? (?:the same|similar|no different|unchanged)\b", re.IGNORECASE
)
ENDS = ("?", "？")
# What a question asks for, a medicine, a test or another measure, and tells nobody to have; ours.
SOUGHT = (
    r"(?:antibiotics?|anti\w{1,20}|drugs?|medicines?|medications?|treatments?|therap(?:y|ies)|analgesics?|"
    r"pain ?killers?|opioids?|steroids?|statins?|inhalers?|insulins?|fluids?|vaccines?|diuretics?|laxatives?|"
    r"sedatives?|blockers?|inhibitors?|thinners?|heparins?|doacs?|noacs?|nsaids?|ssris?|contracepti\w{1,5}|creams?|tablets?|doses?|dosage|tests?|scans?|imaging|"
    r"investigations?|bloods?|x-?rays?|operations?|surgery|procedures?|diets?|regimens?|agents?|options?)"
)
TOLD_BESIDE = (
    r"(?=[,;.?]|$|\b(?:given|since|because|as|with|who|whose|if|when|while|despite|although|after|for|in|at|on|but|"
    r"and (?:he|she|they|i|we|his|her|my)|should|would|can|could|is|are|do|does|to)\b)"
)
ASKED_FOR = re.compile(
    rf"\b(?:which|what|what kind of|what type of|any)(?: [\w-]{{1,20}}){{0,2}}? {SOUGHT}\b[^,;.?]{{0,60}}?"
    rf"{TOLD_BESIDE}|"
    r"\b(?:can|could|should|shall|may|would|do|must) (?:i|we|you|he|she|they|(?:the|this|my) \w{1,20}) "
    r"(?:now |also |still |just )?(?:be (?:given|started on|offered|put on)|give|start|use|prescribe|try|add|offer|"
    rf"order|take|(?:have|get)(?= (?:[\w-]{{1,20}} ){{0,2}}{SOUGHT}\b))\b"
    rf"(?: (?:him|her|them))?[^,;.?]{{0,60}}?{TOLD_BESIDE}|"
    r"[^，,。；？?]{0,30}(?:哪[种个类些]|什么|何种)(?:样的)?(?:抗[\u4e00-\u9fff]{1,4}|\w{0,3}药物?|治疗|检查|疫苗|激素)[^，,。；？?]{0,30}|"
    r"(?:能不能|可不可以|可以|能否|能|可否|是否可以|该不该|应该)(?:吃|用|服用?|打|给|加用|开始用)[^，,。；？?]{0,30}(?=[吗么]?[?？])",
    re.IGNORECASE,
)


def parts(text: str) -> list[str]:
    """The sentences of a message, without empty ones."""
    return [m[0].strip() for m in SENTENCE.finditer(text) if m[0].strip()]


def is_question(sentence: str) -> bool:
    """Whether a sentence asks; one that ends in a full stop tells (``Had one glass of wine.``)."""
    if sentence.endswith(ENDS):
        return True
    if CLOSED_ZH.search(sentence):
        return True
    told = sentence.endswith((".", "!")) or is_subjectless(sentence)
    return OPENING.match(sentence) is not None and not told


def is_subjectless(sentence: str) -> bool:
    """Whether a sentence tells what somebody has or does without naming him: ``has had gout``, ``can't sleep``."""
    return any(form.match(sentence) for form in (HAD_TOLD, SUBJECTLESS))


# ours: what is supposed, or said of anybody, before a question
SUPPOSED = re.compile(
    r"^\W*(?:(?:and|but|so|or|also) )*(?:if|when|whether|in|for|among|with|during|what|how|which|suppose)\b|"
    r"如果|要是|假如"
)


def told_beside(text: str) -> list[tuple[int, int]]:
    """Characters of what a message tells beside what it asks: sentences, and what stands before the question in one
    ("he's on warfarin, can he take ibuprofen?")."""
    found, at = [], 0
    for part in parts(text):
        at = text.index(part, at)
        end = len(part)
        if is_question(part):
            opened = next((m for m in (CLAUSE.search(part), OPEN_CLAUSE.search(part)) if m and m.start()), None)
            end = opened.start() if opened else max(part.rfind("，", 0, -1), 0)
            if SUPPOSED.search(part) or is_question(part[:end]):
                end = 0
        if any(map(str.isalnum, part[:end])):
            found.append((at, at + end))
        at += len(part)
    return found


def asked_in(text: str) -> list[str]:
    """Every question of an English message, those apart that "and" joins: "What helps, and can he go to nursery?"."""
    asked = [part for part in parts(text) if is_question(part)]
    return [q.strip(" ,;") for part in asked for q in JOINED.split(part) if q.strip(" ,;?")]


def is_closed(text: str) -> bool:
    """Whether yes, no or maybe answers the first question of a text."""
    asked = next((s for s in parts(text) if is_question(s)), "")
    if re.search(r"[\u4e00-\u9fff]", asked):
        return CLOSED_ZH.search(asked) is not None and not (
            OPEN_ZH.search(asked) and not asked.rstrip("?？。 ").endswith("吗")
        )
    if ALTERNATIVES.search(asked) or ALSO_OPEN.search(asked):
        return False
    headed = TOPIC.split(asked)[-1]  # "Statins in the old: are they safe?"
    opened = OPEN_CLAUSE.search(asked)
    if CLOSED.match(asked) or CLOSED.match(headed):
        return opened is None or HAD.match(asked) is None
    if HEADLINE.match(asked) and not WH.search(asked):
        return True
    spoken = asked.endswith("?") and SHORT.search(asked) and not WH.search(asked)  # "So I need not go?"
    return opened is None and not LIST.match(asked) and bool(CLAUSE.search(asked) or spoken)


# ours: what a question gives of a patient beside what it asks: "..., given his eGFR of 28"; no participle ("given to")
GIVEN = re.compile(
    r",? ?\b(?:given|considering|bearing in mind|in view of)"
    r" (?=(?:that|his|her|my|our|their|he|she|they|the patient|this patient|an? (?:allergy|history)|e?GFR)\b)[^?.;]*",
    re.IGNORECASE,
)


def without_given(question: str) -> str:
    """A question without what it gives of a patient, so that nothing is found on that; whole where little is left."""
    plain = GIVEN.sub("", question)
    return plain if len(plain.split()) > 2 else question


def without_asked(text: str) -> str:
    """A text with what its questions ask for as stops of the same length: ``Which antibiotic?`` tells of none."""
    for sentence in SENTENCE.finditer(text):
        if is_question(sentence[0].strip()):
            put = ASKED_FOR.sub(lambda m: ";" * len(m[0]), sentence[0])
            text = text[: sentence.start()] + put + text[sentence.end() :]
    return text


# The options of a multiple-choice question, read from its text.

LETTERS = "ABCDEFGHIJ"
UPPER = re.compile(r"(?:(?<=[\s,;。,;?？])|^|(?<=\())(?:\()?([A-J])\s?[\).:、．）：](?=\s*\S)", re.MULTILINE)
LOWER = re.compile(r"(?:(?<=[\s,;?？])|^)\(?([a-j])\)(?=\s*\S)", re.MULTILINE)
LINE = re.compile(r"^\s*(?:[-*•]\s*)?([A-J])\s+(?=\S)", re.MULTILINE)
OBJECT = re.compile(r"\{[^{}]*\}", re.DOTALL)
PAIR = re.compile(r"[\"']?\b([A-Ja-j])\b[\"']?\s*[:=]\s*[\"']([^\"']+)[\"']|\b([A-J])\b\s*[:=]\s*([^,{}\"']+)")
LABEL = re.compile(r"(?:\b(?:the )?(?:options?|choices?|answers?)(?: are)?|选项|答案)\s*[:：]?\s*$", re.IGNORECASE)


class Parsed(NamedTuple):
    """A stem and its options by letter; no options when the text has none."""

    stem: str
    options: dict[str, str]


def parse_options(text: str) -> Parsed:
    """Split a multiple-choice question. Fewer than two options, or letters out of order, are no options."""
    parsed = _object(text)
    if parsed is not None:
        return parsed
    for pattern in (UPPER, LOWER, LINE):
        parsed = _marked(text, pattern)
        if parsed is not None:
            return parsed
    return Parsed(text.strip(), {})


def _marked(text: str, pattern: re.Pattern[str]) -> Parsed | None:
    marks: list[re.Match[str]] = []
    for match in pattern.finditer(text):
        letter = match[1].upper()
        if letter == LETTERS[len(marks)] if len(marks) < len(LETTERS) else False:
            marks.append(match)
        elif letter == "A":  # a letter of the stem came first
            marks = [match]
    if len(marks) < 2:
        return None
    ends = [*(b.start() for _, b in pairwise(marks)), len(text)]
    values = [_tidy(text[m.end() : end]) for m, end in zip(marks, ends, strict=True)]
    if not all(values):
        return None
    return Parsed(_stem(text[: marks[0].start()]), dict(zip(LETTERS, values, strict=False)))


def _object(text: str) -> Parsed | None:
    match = OBJECT.search(text)
    if match is None:
        return None
    options = _json(match[0]) or {(m[1] or m[3]).upper(): _tidy(m[2] or m[4]) for m in PAIR.finditer(match[0])}
    if len(options) < 2 or list(options) != list(LETTERS[: len(options)]):
        return None
    return Parsed(_stem(text[: match.start()] + text[match.end() :]), options)


def _json(text: str) -> dict[str, str]:
    try:
        read = json.loads(text)
    except ValueError:
        return {}
    return {str(k).strip().upper(): _tidy(str(v)) for k, v in read.items()}


def _tidy(text: str) -> str:
    return " ".join(text.split()).strip(" ,;|，；（(")


def _stem(text: str) -> str:
    return LABEL.sub("", text.strip().rstrip("(（").strip()).strip()
