"""Forms of a reply to a question of ours: yes, no, not sure, a value; the whole message or its head. All ours."""

from __future__ import annotations

import re

WHO = r"(?:i|we|he|she|it|they|there|that)"
JOINED = (
    r"and|but|though|since|for \w+ (?:minutes?|hours?|days?|weeks?|months?|years?)|when|after|during|only|"
    r"especially|too|thanks?"
)
TIMED = JOINED + r"|at|in|on|before|while|just|if|every|now|today|yesterday|this|last|with"
PARTICLE = r"(?:的|了|呀|啊|吧|哦|呢)*(?=\W*$|[\s,，。；;！!])"


def _then(words: str) -> str:
    """What may stand behind the head of a reply: nothing, a stop, or one of the words."""
    return rf"(?=\W*$|\s*[,.;:!，。；！-]|\s+(?:{words})\b)"


UNSURE = re.compile(
    r"^\W*(?:i(?:'m| am)? (?:don't know|do not know|dont know|not sure|can't (?:say|tell|remember)|haven't noticed|"
    r"cannot (?:say|tell|remember)|have no idea)|(?:not|un)\s?(?:sure|certain)|no idea|maybe|perhaps|possibly|dunno|"
    r"hard to say|don't know|do not know|can(?:'t|not) (?:say|tell|remember)|(?:un|not )known|unclear|no clue)"
    + _then(r"but|maybe|really|about (?:that|it)|if|whether|yet|sorry|exactly|honestly|to be honest|for sure|i")
    + r"|^\W*(?:我)?(?:也)?(?:不知道|不清楚|不确定|说不清楚?|不太清楚|没注意|记不清|可能吧|也许)"
    + PARTICLE,
    re.IGNORECASE,
)
NO = re.compile(
    r"^\W*(?:no|nope|nah)"
    + _then(rf"{WHO}(?:'s)?|not|never|nothing|but|thanks?|just|only|sir|doctor")
    + r"|^\W*(?:(?:never|none|negative|neither|nothing)(?: (?:that|had it|so far|like that))*|"
    r"(?:absolutely|definitely) not|"
    r"not (?:really|at all|that i(?: know(?: of)?|'m aware of|'ve noticed| noticed)|now|any ?more|yet|so far)|"
    rf"{WHO} (?:(?:does|do|did|has|have|had|is|are|was|were)(?:n't| not)|don't think so|do not think so)|i'm not|"
    r"there (?:is|are|was) (?:no|none))"
    + _then(rf"{TIMED}|really|at all|any ?more|yet")
    + r"|^\W*(?:从来)?(?:都|完全|并|也)?(?:没有?过?|不是|不会|不|否|无)"
    + PARTICLE,
    re.IGNORECASE,
)
YES = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|yea|ya)\b|^\W*(?:correct|right|true|indeed|exactly|definitely|absolutely|sure|of course|"
    rf"positive|i think so|afraid so|{WHO} (?:is|are|has|have|had|was|were|am))"
    + _then(JOINED)
    + r"|^\W*(?:always|often|sometimes|occasionally|slightly|somewhat|mostly|usually|a (?:little|bit|lot)|"
    rf"quite(?: a (?:bit|lot))?|{WHO} (?:does|do|did))" + _then(TIMED) + r"|^\W*only (?:at|when|on|in|after)\b|"
    r"^\W*(?:是的?|有(?:的|过|一点|点)?|对(?:的)?|嗯+|会的?|确实(?:有|是)?|偶尔(?:会|有)?|有时候?(?:会|有)?|经常|轻微|一点|"
    r"稍微(?:有点)?|当然|没错)" + PARTICLE,
    re.IGNORECASE,
)
# The first of several numbered answers.
FIRST = re.compile(
    r"^\W*1\s*[.)、:：．](?!\d)\s*(?P<first>.+?)\s*[,，;；]?\s*(?:\b2\s*[.)、:：．](?!\d).*)?$", re.DOTALL
)

SIDES = re.compile(r"\b(?:left|right|both|middle|centre|center)\b|[左右]|两[侧边]|中间", re.IGNORECASE)
TIMES = re.compile(
    r"\b(?:minutes?|hours?|days?|nights?|weeks?|months?|years?|yesterday|today|tonight|morning|afternoon|evening|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|suddenly|gradually)\b|分钟|小时|天|日|周|星期|月|年|昨|今|刚才|突然|逐渐",
    re.IGNORECASE,
)
NUMBERS = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|half|dozen|once|twice|mild|moderate|severe)\b|"
    r"[一二两三四五六七八九十半]",
    re.IGNORECASE,
)
# A word that only courtesy holds; short answers of another sort look like courtesy without one.
COURTEOUS = re.compile(
    r"\b(?:hi|hello|hey|good (?:morning|afternoon|evening|night|day)|thanks?|thank you|thx|cheers|bye|goodbye|see you|"
    r"how are you|meet you|ok(?:ay)?|great|perfect|nice|lovely|brilliant|helpful|welcome|sorry|got it|i see|understood|"
    r"take care|appreciate\w*)\b|你好|您好|谢|再见|拜拜|辛苦|嗨|早上好|下午好|晚上好|晚安|早安|好的|明白|知道了|在吗|"
    r"嗯|太好了|不客气|麻烦",
    re.IGNORECASE,
)
ASKS_SIDE = re.compile(r"\b(?:which|what) side\b|哪(?:一)?[侧边]", re.IGNORECASE)
ASKS_TIME = re.compile(r"^\W*(?:how long|when|since when)\b|多久|多长时间|何时|什么时候|几天", re.IGNORECASE)
ASKS_VALUE = re.compile(
    r"^\W*(?:how|when|which|what|where|since when)\b|多少|多久|多长|多大|哪|几|何时|什么时候", re.IGNORECASE
)


def asks_value(question: str) -> bool:
    """Whether a number, side or time answers a question, rather than yes or no."""
    return ASKS_VALUE.search(question) is not None


def gives_value(text: str, question: str) -> bool:
    """Whether a text holds a value of the sort that the question asks for."""
    if ASKS_SIDE.search(question):
        return SIDES.search(text) is not None
    if ASKS_TIME.search(question):
        return TIMES.search(text) is not None
    return any(p.search(text) for p in (NUMBERS, SIDES, TIMES))
