"""What a text tells of an allergy as a fact: the reactions that it gave, which are of the past, not of today (ours)."""

from __future__ import annotations

import re
from collections.abc import Iterator

REACTION = re.compile(
    r"\b(?:anaphyla\w+|angio-?o?edema|rash\w*|hives|urticaria|wh?eals?|itch\w*|swell\w*|swollen|swelled|wheez\w*|throat|"
    r"tongue|lips?|breathless\w*|short(?:ness)? of breath|breathing|faint\w*|collaps\w*|dizz\w*|flush\w*|blister\w*|"
    r"peel\w*|shock|vomit\w*|stridor|sting|stung|sjs|stevens-johnson|dress|reaction|mouth|sneez\w*)\b|"
    r"休克|皮疹|荨麻疹|风团|瘙痒|发痒|红肿|水肿|肿|喘|呼吸困难|喉|胸闷|晕|水[疱泡]|脱皮",
    re.IGNORECASE,
)
_ALLERGY = (
    r"(?:\ballerg(?:ic to|y\b(?! (?:test|clinic))|ies\b)|\b(?:anaphylactic|hypersensitive|intolerant) to\b|过敏史?)"
)
ALLERGIC = re.compile(_ALLERGY, re.IGNORECASE)
# What a medicine that was not borne did, beside what an allergy does: "codeine (nausea)"
_SIDE_EFFECT = re.compile(
    r"\b(?:nause\w*|sick\w*|queas\w*|diarrh\w*|constipat\w*|headaches?|drows\w*|confus\w*|hallucinat\w*|stomach|tummy|"
    r"upset|cough\w*|palpitations|jitter\w*|cramps?)\b|恶心|呕吐|腹泻|便秘|头[痛疼]|嗜睡",
    re.IGNORECASE,
)
# A list of what allergies are to, and none of nothing: "Allergies: codeine, latex"
_LIST = re.compile(
    r"(?:(?:\b(?:drug|medicine|medication|food|known|other) )?\ballerg(?:y|ies)(?: history| status)?|过敏(?:史|药物))"
    r"\s?(?:[:：]|\s[-–—]\s)\s?(?P<said>(?!(?:no|none|nil|not|nkda|n/a|denie[sd]|unknown|0)\b|无|没有|否认|不详)"
    r"(?:(?!\b(?:takes?|taking|on|smokes?|drinks?|lives?|works?|has|have|had|is|was|now|presents?|came|comes)\b)[^.;。；\n]){1,120})",
    re.IGNORECASE,
)
_NO_VERB = r"(?:(?!\b(?:has|have|had|is|are|was|now|presents?|presenting|came|comes?|but)\b)[^.;()（）。；\n])"
_SAID = (
    # "allergic to penicillin (anaphylaxis)", "penicillin allergy (rash), codeine (vomiting)"
    re.compile(
        rf"{_ALLERGY}{_NO_VERB}{{0,60}}"
        rf"(?P<said>[(（][^()（）]{{1,80}}[)）](?:{_NO_VERB}{{1,40}}[(（][^()（）]{{1,80}}[)）]){{0,4}})",
        re.I,
    ),
    # "penicillin allergy: rash", "allergic to penicillin - anaphylaxis"
    re.compile(
        rf"{_ALLERGY}{_NO_VERB}{{0,40}}?(?:[:：]|\s[-–—]\s)\s?(?P<said>[^\s.;。；()（）][^.;。；()（）\n]{{1,80}})",
        re.I,
    ),
    # "allergic to penicillin, which gave him a rash"
    re.compile(
        rf"{_ALLERGY}{_NO_VERB}{{0,40}}?,? (?P<said>(?:which|that|it) (?:causes?|caused|gives?|gave|brings?|brought|"
        r"makes?|made)\b[^,.;\n]{1,60})",
        re.I,
    ),
    # "anaphylaxis to penicillin in 2015", "a rash with amoxicillin as a child"
    re.compile(
        r"(?P<said>\b(?:anaphyla\w{1,6}|reaction|rash|hives|urticaria|angio-?o?edema|swelling)\b[^.;\n]{0,20}?"
        r"\b(?:to|with|after|from|on)\b[^.;\n]{1,50}?\b(?:in (?:19|20)\d\d|(?:months?|years?) ago|last year|"
        r"as a (?:child|kid|baby|boy|girl|teenager)|in (?:the past|childhood)|previously))",
        re.I,
    ),
    # "previous anaphylaxis to penicillin"
    re.compile(
        r"(?P<said>\b(?:previous|prior|past|known|history of|documented|recorded) (?:\w{1,20} ){0,2}"
        r"(?:anaphyla\w{1,6}|reactions?|rash|hives|angio-?o?edema) (?:to|with|from|after)\b[^,.;\n]{1,40})",
        re.I,
    ),
    re.compile(
        r"(?P<said>(?:曾|既往|以前|(?<!\d)\d{1,2}\s?年前|(?:19|20)\d\d年)[^，,。；\n]{0,20}(?:过敏性?休克|过敏|皮疹|荨麻疹))"
    ),
)
_NOW = re.compile(
    r"\b(?:now|today|tonight|this (?:morning|evening|afternoon)|yesterday|(?:minutes?|hours?|days?) (?:ago|after)|just|"
    r"since|currently|again)\b|现在|今[天晨早晚]|昨|刚|分钟|小时|又",
    re.IGNORECASE,
)


def reactions_told(sentence: str) -> Iterator[tuple[int, int]]:
    """The characters of a sentence that tell what an allergy did, as a fact about the patient; none of a reaction that
    happens now."""
    for pattern in _SAID:
        for match in pattern.finditer(sentence):
            effect = REACTION.search(match["said"]) or _SIDE_EFFECT.search(match["said"])
            if effect and not _NOW.search(match["said"]):
                yield match.span("said")


def allergens_told(sentence: str) -> Iterator[tuple[int, int]]:
    """The characters of a sentence that list what allergies are to: "Allergies: codeine, latex"."""
    return (match.span("said") for match in _LIST.finditer(sentence))
