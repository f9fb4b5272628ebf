"""A follow-up about evidence as a question that stands alone: ``and in children?`` after a question about adults."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from tools.text.language import language_of
from tools.yaml_files import read_patterns

STATES = {
    "pregnancy": "pregnant women", "breastfeeding": "breastfeeding women", "lactation": "breastfeeding women",
    "old age": "older people", "childhood": "children", "the elderly": "older people", "elderly": "older people",
}  # fmt: skip
SUBJECT = ("of_treatment", "of_adding", "of_how", "of_what", "of_closed")
FEW = 8  # words; ours: a longer message that names an aspect names what it is of


@lru_cache(maxsize=1)
def _forms() -> dict[str, re.Pattern[str]]:
    return read_patterns(Path(__file__).with_name("standalone.yaml"))


def subject(question: str) -> str:
    """What a question is about, as far as its form shows it: the drug, test or disease it opens with; else ""."""
    names = ("of_chinese",) if language_of(question) == "zh" else SUBJECT
    found = (_forms()[name].match(question.strip()) for name in names)
    return next((match["s"].strip() for match in found if match), "")


def stand_alone(message: str, previous: str) -> str:
    """The message with what it needs from the previous question."""
    message, previous = message.strip(), previous.strip()
    if language_of(previous) == "zh":
        return _chinese(message, previous)
    forms, about = _forms(), subject(previous)
    onward = f"{previous} {message[:1].upper()}{message[1:]}"
    if forms["onward"].search(message):
        return onward
    leans = forms["pronoun"].search(message) is not None
    if about and not leans and forms["aspect"].search(message) and len(message.split()) <= FEW:
        return f"{message.rstrip(' ?.')} of {about}?"
    group = _group(forms["lead"].sub("", message, count=1)) if forms["lead"].match(message) else ""
    if group:
        return _for_group(previous, group)
    return forms["pronoun"].sub(lambda _m: about, message, count=1) if about and leans else onward


def _group(text: str) -> str:
    """The people whom ``in children under five?`` names; "" when it names none."""
    text = text.strip(" ?.!")
    return text if _forms()["people"].match(re.sub(r"^(?:the |my |an? )(?!elderly)", "", text)) else ""


def _for_group(previous: str, group: str) -> str:
    stated = _forms()["people"].search(previous)
    people = STATES.get(group.lower(), group)
    if stated:
        return previous[: stated.start()] + people + previous[stated.end() :]
    return f"{previous.rstrip(' ?.')} in {group}?"


def _chinese(message: str, previous: str) -> str:
    about, forms = subject(previous), _forms()
    if about and forms["pronoun_zh"].search(message):
        return forms["pronoun_zh"].sub(about, message, count=1)
    if about and forms["aspect_zh"].search(message) and len(message) <= 14:
        return f"{about}的{message.lstrip('那有么,，')}"
    group = forms["people_zh"].search(forms["lead_zh"].sub("", message))
    stated = forms["people_zh"].search(previous)
    if group and stated:
        return previous[: stated.start()] + group[0] + previous[stated.end() :]
    return f"对于{group[0]}，{previous}" if group else previous + message
