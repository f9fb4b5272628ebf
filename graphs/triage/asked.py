"""What a message asks of what was said before: to have it explained, or of the leading disease without its name.

A trained head (`tools/reading/messages.py`) tells what is meant; a question about the leading disease is asked with its
name, and one that goes on from another with what it needs of that ("and in children?"), so that it stands alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from graphs.triage.contract import Aspect, Explain, SessionView
from tools.reading.messages import WORDS, Meaning, meant
from tools.text.demographics import read_person
from tools.text.language import language_of
from tools.text.questions import GIVEN, without_given
from tools.yaml_files import read_patterns, read_yaml

Diseases = Callable[[str], Sequence[str]]
"""Ids of the graph's diseases that a text names, in order."""

FORMS, ONWARD = (Path(__file__).with_name(name) for name in ("asked.yaml", "standalone.yaml"))
LEAST = 0.3  # ours: probability from which a message asks something of what was said before; there are twenty meanings
SURELY = 0.85  # ours: the same where nothing was said before, or where the message puts something right
MOST = 40  # words, or pairs of Chinese characters; ours: a longer message tells more than it asks
ASPECTS = {Meaning(aspect.value): aspect for aspect in Aspect}
OF_DISEASE = frozenset(
    (Meaning.TESTS, Meaning.TREATMENT, Meaning.URGENT, Meaning.PROGNOSIS, Meaning.DOSE, Meaning.DISEASE)
)
LEANING = OF_DISEASE | {Meaning.LEANS, Meaning.PATIENT, Meaning.ELSE}
NAMES = 0.1  # ours: probability from which a message that names a disease of the graph holds it against what was said
# what only a case has, whatever was asked last
OF_CASE = (Aspect.ELSE, Aspect.ASK, Aspect.AGAINST, Aspect.APART, Aspect.SUMMARY)
# A pronoun in the place of the disease
PRONOUN = re.compile(r"\b(?:it|this|that)\b|它|这个病|这种病|这病|该病", re.IGNORECASE)
SUBJECTS = ("of_treatment", "of_adding", "of_how", "of_what", "of_closed")
SHORT = 8  # words; ours: a longer message that names an aspect names what it is of


class Asked(NamedTuple):
    """What a message asks of what was said before, and whether that is the patient's case."""

    meaning: Meaning
    of_case: bool


def read_asked(text: str, session: SessionView, diseases: Diseases | None = None, *, surely: bool = False) -> Asked:
    """What a message asks of what was said before; ALONE for one that asks nothing of it, or not ``surely`` enough."""
    of_case = bool(session.case) and (not session.after_evidence or _onward()["case_again"].search(text) is not None)
    text = without_given(text)
    if len(WORDS.findall(text)) > MOST:
        return Asked(Meaning.ALONE, of_case)
    shares = meant(text, of_case=of_case or not session.question)
    best = max(shares, key=shares.__getitem__)
    if of_case and not surely and shares[Meaning.NAMED] >= NAMES and diseases is not None and diseases(text):
        return Asked(Meaning.NAMED, of_case)
    least = LEAST if (session.case or session.question) and not surely else SURELY
    return Asked(best if shares[best] >= least else Meaning.ALONE, of_case)


def explained(text: str, asked: Asked, session: SessionView, diseases: Diseases | None = None) -> Explain | None:
    """What a message asks to have explained; None when it asks something else.

    ``why not X?`` counts only when X is a disease of the graph, so that ``why not antibiotics?`` stays a question of
    evidence.
    """
    if asked.meaning is Meaning.NAMED:
        named = diseases(text) if diseases is not None and session.case else ()
        return Explain(aspect=Aspect.WHY, about=named[0], named=text.strip()) if named else None
    aspect = ASPECTS.get(asked.meaning)
    if aspect is None or (aspect is Aspect.ELSE and session.question and not session.case):
        return None  # what else there is goes on from a question of evidence
    return Explain(aspect=aspect, of_case=asked.of_case or (aspect in OF_CASE and bool(session.case)))


def of_leading(text: str, meaning: Meaning, session: SessionView) -> str:
    """A question about the leading diagnosis with its name, and with what it gives of the patient; a Chinese one in
    English where that name is known."""
    given = GIVEN.search(text)
    if given is not None:
        asked = of_leading(without_given(text), meaning, session) if without_given(text) != text else text
        return f"{asked.rstrip(' ?？')}{given[0].rstrip()}?"
    chinese = language_of(text) == "zh"
    name = session.leading_en if chinese and session.leading_en else session.leading
    forms = _forms()
    written = next((form for word, form in forms["from_chinese"].items() if chinese and word in text), "")
    if written and session.leading_en:
        return str(written).format(name=name)
    if meaning in forms:
        return str(forms[meaning]["zh" if chinese and not session.leading_en else "en"]).format(name=name)
    bare = text.strip().rstrip(" ?？.。")
    if meaning is Meaning.DOSE and not chinese:
        who = f"{_patient(session.case)} with {name}"
        put, count = _onward()["receiver"].subn(lambda _m: who, bare, count=1)
        return _capital(put if count else f"{bare} for {name}") + "?"
    put, count = PRONOUN.subn(lambda _m: name, bare, count=1)
    mark = "？" if chinese else "?"
    return _capital(put if count else f"{name}{bare}" if chinese else f"{name}: {bare}") + mark


def _patient(case: str) -> str:
    """The patient in few words: ``a 2-year-old girl``; ``a patient`` when the case states neither age nor sex."""
    age, sex = read_person(case)
    young = age is not None and age < 18
    noun = {"female": "girl" if young else "woman", "male": "boy" if young else "man"}.get(sex or "", "patient")
    if age is None:
        return f"a {noun}"
    number, unit = (round(age * 12), "month") if age < 2 else (int(age), "year")
    article = "an" if str(number).startswith("8") or number in (11, 18) else "a"
    return f"{article} {number}-{unit}-old {noun}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


@lru_cache(maxsize=1)
def _forms() -> dict[str, Any]:
    forms: dict[str, Any] = read_yaml(FORMS)
    return forms


@lru_cache(maxsize=1)
def _onward() -> dict[str, re.Pattern[str]]:
    return read_patterns(ONWARD)


def subject(question: str) -> str:
    """What a question is about, as far as its form shows it: the drug, test or disease it opens with; else ""."""
    names = ("of_chinese",) if language_of(question) == "zh" else SUBJECTS
    found = (_onward()[name].match(question.strip()) for name in names)
    return next((match["s"].strip() for match in found if match), "")


def stand_alone(message: str, previous: str) -> str:
    """The message with what it needs from the previous question."""
    message, previous = message.strip(), previous.strip()
    if language_of(previous) == "zh":
        return _chinese(message, previous)
    forms, about = _onward(), subject(previous)
    onward = f"{previous} {message[:1].upper()}{message[1:]}"
    if forms["onward"].search(message):
        return onward
    leans = forms["pronoun"].search(message) is not None
    if about and not leans and forms["aspect"].search(message) and len(message.split()) <= SHORT:
        return f"{message.rstrip(' ?.')} of {about}?"
    group = _group(forms["lead"].sub("", message, count=1)) if forms["lead"].match(message) else ""
    if group:
        return _for_group(previous, group)
    return forms["pronoun"].sub(lambda _m: about, message, count=1) if about and leans else onward


def _group(text: str) -> str:
    """The people whom ``in children under five?`` names; "" when it names none."""
    text = text.strip(" ?.!")
    return text if _onward()["people"].match(re.sub(r"^(?:the |my |an? )(?!elderly)", "", text)) else ""


def _for_group(previous: str, group: str) -> str:
    stated = _onward()["people"].search(previous)
    people = str(_forms()["states"].get(group.lower(), group))
    if stated:
        return previous[: stated.start()] + people + previous[stated.end() :]
    return f"{previous.rstrip(' ?.')} in {group}?"


def _chinese(message: str, previous: str) -> str:
    about, forms = subject(previous), _onward()
    if about and forms["pronoun_zh"].search(message):
        return forms["pronoun_zh"].sub(about, message, count=1)
    if about and forms["aspect_zh"].search(message) and len(message) <= 14:
        return f"{about}的{message.lstrip('那有么,，')}"
    group = forms["people_zh"].search(forms["lead_zh"].sub("", message))
    stated = forms["people_zh"].search(previous)
    if group and stated:
        return previous[: stated.start()] + group[0] + previous[stated.end() :]
    return f"对于{group[0]}，{previous}" if group else previous + message
