"""What stands around a diagnosis and is none: introductions, doubt, the past, denials, grades and sides.

The lists are ours, from how diagnoses are written in notes, English and Chinese.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tools.text.negation import TRAILING, chinese_negation, negations

_END = r"(?=$|[\s,.;:，。；：])"

LEAD_IN = re.compile(
    r"(?:(?:(?:final|main|primary|principal|secondary|admission|admitting|discharge|provisional|working|differential|"
    r"clinical|additional|other|most likely|leading|likely)\s+)*(?:diagnos[ei]s|diagnostic impression|impression|"
    r"assessment|differentials?|dx|ddx|comorbidities|problem list)\s*(?:[:：\-–—]|\b(?:is|are|was|were|"
    r"includes?|of)\b)\s*"
    r"|(?:this|the|my|he|she|patient|it)?\s*(?:patient|man|woman|boy|girl|child|picture|presentation|case|"
    r"diagnosis)?\s*"
    r"(?:(?:most\s+)?(?:likely|probably)\s+)?(?:has|is diagnosed with|was diagnosed with|is suffering from|"
    r"suffers from|diagnosed with)\s+"
    r"|(?:初步|入院|出院|临床|主要|次要|其他|最终|修正|补充|门诊|西医|中医|鉴别|可能的?)*诊断(?:[:：]|为|是|有)\s*|"
    r"(?:该?(?:患者|病人))?(?:患有?|确诊为?|诊断为|罹患)\s*)",
    re.IGNORECASE,
)
HEADING = re.compile(
    r"(?:\w+\s+)?(?:diagnos[ei]s|impression|assessment|differentials?|dx|ddx|comorbidities|problem list|"
    r"medical history)|"
    r"[\u4e00-\u9fff]{0,4}诊断|既往",
    re.IGNORECASE,
)
ARTICLE = re.compile(r"(?:an?|the|and|or|with|also|plus|of|on|known|new|newly diagnosed|以及|并|有)\s+", re.IGNORECASE)
SUSPECTED_BEFORE = re.compile(
    rf"(?:\?+|(?:highly\s+|strongly\s+|clinically\s+)?(?:suspected|suspect|suspicious for|suspicion of|"
    rf"possibl[ey]|probabl[ey]|"
    rf"presum(?:ed|ptive|ably)|questionable|query|likely|rule out|to exclude|r/o|concern(?:ing)? for|consistent with|"
    rf"compatible with|suggestive of|in keeping with|cannot exclude|may be|might be|could be|c/w|s/o){_END}"
    r"|疑似|疑为|可疑|怀疑|可能为?|考虑为?|拟诊|高度怀疑)\s*:?\s*",
    re.IGNORECASE,
)
SUSPECTED_AFTER = re.compile(
    r"\s*(?:\?+|？+|[,，]?\s*\b(?:suspected|possible|probable|likely|to be ruled out|not excluded|not ruled out)"
    r"|[,，]?\s*(?:待排除?|待查|待定|可能性?大?|可能|疑似|待诊))$",
    re.IGNORECASE,
)
PAST_BEFORE = re.compile(
    r"(?:(?:past|prior|previous|remote|personal|known)?\s*(?:medical\s+)?(?:history of|hx of|h/o)|status post|s/p|"
    r"previous|prior|past|old|healed|resolved|既往有?|曾患|陈旧性(?=\S{4}))\s*:?\s*",
    re.IGNORECASE,
)
PAST_AFTER = re.compile(
    r"\s*(?:,?\s*(?:in the past|by history|in remission|resolved)|病史|史|术后|治疗后|后遗症期)$", re.IGNORECASE
)
OTHERS = re.compile(
    r"\b(?:contact with|exposed to|exposure to|vaccinated against|immunised against|risk of|fear of)\b|接触|接种|"
    r"\b(?:family history|fhx?|in (?:his|her|the|my) (?:family|mother|father|brother|sister))\b|家族史|父亲|母亲",
    re.I,
)
DENIED_ZH = re.compile(r"^(?:已?排除(?!外)|除外)|(?:阴性|已?排除|已除外|不支持|可能性小|不考虑)\W*$")
DENIED_INSIDE = re.compile(
    r"\s(?=(?:without(?: (?:evidence|signs?) of)?|no evidence of|not)\s)|(?<=[\u4e00-\u9fff])(?=不伴有?|不合并|未伴)",
    re.IGNORECASE,
)
NOT_ACCOMPANIED = re.compile(r"(?:不伴有?|不合并|未伴有?)\s*")
# a piece of such words alone says more about the piece before it
GRADE = re.compile(
    r"(?:(?:type|stage|grade|class|nyha|group|phase|gold|level|degree|figo|ecog|pt?n?m?\d)?\s*"
    r"(?:\d{1,2}[a-d]?|[ivx]+[a-d]?)\b|acute|chronic|subacute|severe|mild|moderate|moderately|recurrent|active|"
    r"inactive|stable|"
    r"unspecified|nos|left|right|bilateral|unilateral|upper|lower|middle|lobes?|sided?|both|eyes?|ears?|knees?|hips?|"
    r"type|stage|grade|class|nyha|primary|secondary|early|late|advanced|metastatic|localized|localised|well|poorly|"
    r"controlled|uncontrolled|differentiated|remission|in|of|the|on|treatment|under|with|exacerbation|"
    r"community|hospital|acquired|healthcare|associated|post|pre|[\s\-/])+",
    re.IGNORECASE,
)
GRADE_ZH = re.compile(
    r"(?:左|右|双|单)?侧?(?:上|中|下)?(?:叶|肢|眼|耳|肺|膝|髋)?|(?:急|慢|亚急)性|[轻中重]度|"
    r"[ⅠⅡⅢⅣⅤIVX\d一二三四]+[型期级度]|"
    r"(?:心功能|NYHA)?[ⅠⅡⅢⅣIVX\d一二三四]+级|极?(?:高|中|低)危组?|活动期|稳定期|缓解期|急性加重期?|急性发作期?|"
    r"早期|中期|晚期|原发性|继发性",
)

_LAST_GRADE_ZH = re.compile(
    r"[\s,，、]*(?:(?:心功能|NYHA|Killip|GOLD)?\s*[ⅠⅡⅢⅣIVX\d一二三四]+[-~～]?[ⅠⅡⅢⅣIVX\d一二三四]*(?:级|期|度)|"
    r"[（(]?极?(?:高|中|低)危组?[)）]?)$",
    re.IGNORECASE,
)


class Core(NamedTuple):
    """The characters of the diagnosis itself, and what was said around it. ``told`` is False for what is denied."""

    start: int
    end: int
    suspected: bool = False
    past: bool = False
    told: bool = True


def read_core(source: str, start: int, end: int) -> Core:
    """What is left of ``source[start:end]`` without introductions, doubt, the past and denials."""
    suspected = past = False
    if OTHERS.search(source[start:end]):
        return Core(start, end, told=False)
    while True:
        start, end = trimmed(source, start, end)
        words = source[start:end]
        if _denied(words):
            return Core(start, end, told=False)
        before = [pattern.match(words) for pattern in (LEAD_IN, SUSPECTED_BEFORE, PAST_BEFORE, ARTICLE)]
        after = [pattern.search(words) for pattern in (SUSPECTED_AFTER, PAST_AFTER)]
        at = next((m for m in before if m and m.end()), None)
        tail = next((m for m in after if m and m.start()), None)
        if at is None and tail is None:
            return Core(start, end, suspected, past)
        suspected = suspected or (at is not None and at is before[1]) or (tail is not None and tail is after[0])
        past = past or (at is not None and at is before[2]) or (tail is not None and tail is after[1])
        if at is not None:
            start += at.end()
        elif tail is not None:
            end = start + tail.start()


def _denied(words: str) -> bool:
    """Whether a piece begins or ends with what denies the diagnosis."""
    chinese = chinese_negation(words)
    leading = [*negations(words), *([chinese] if chinese else [])]
    return any(cut.start == 0 for cut in leading) or bool(TRAILING.search(words) or DENIED_ZH.search(words))


def trimmed(source: str, start: int, end: int) -> tuple[int, int]:
    """The stretch without white space and stray punctuation at its ends; brackets that belong to it stay."""
    while start < end and not (source[start].isalnum() or source[start] in "?？"):
        start += 1
    while end > start and not (source[end - 1].isalnum() or source[end - 1] in "?？)]）】+"):
        end -= 1
    while end > start and source[end - 1] in ")]）】" and not any(c in source[start:end] for c in "([（【"):
        end -= 1
    return start, end


def only_grades(words: str) -> bool:
    """Whether a piece says nothing but a type, a stage, a side or a grade."""
    return bool(GRADE.fullmatch(words) or GRADE_ZH.fullmatch(words))


def without_grades(words: str) -> str:
    """A phrase without the types, stages, sides and grades behind it (``高血压病3级 极高危组``)."""
    while True:
        parts = re.split(r"[,，]\s*", words)
        match = _LAST_GRADE_ZH.search(words)
        if len(parts) > 1 and only_grades(parts[-1]):
            words = words[: len(words) - len(parts[-1])].rstrip(" \t,，")
        elif match is not None and match.start() > 1:
            words = words[: match.start()].rstrip(" \t,，、")
        else:
            return words
