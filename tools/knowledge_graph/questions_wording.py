"""Questions in a patient's words, in English and Chinese, what a patient can answer, and why a question is asked."""

from __future__ import annotations

import re
from typing import NamedTuple

from tools.knowledge_graph.schema import FindingNode
from tools.text.demographics import Person

# ours: what only an examination shows, by the question's own words
EXAMINED = re.compile(r"\b(?:doctor|examin\w+|tapp\w+|ear canal|been (?:seen|felt)|someone moves)\b", re.IGNORECASE)
AT_HOME = re.compile(
    r"\b(?:pregnancy test|peak flow|inhaler)\b", re.IGNORECASE
)  # ours: tests that people do themselves
# ours: questions about a part of the body, or a state of it, that only one sex has
OF_MEN = re.compile(r"\b(?:testic\w+|scrot\w+|prostate|penis)\b", re.IGNORECASE)
OF_WOMEN = re.compile(r"\b(?:pregnan\w+|periods?|menstr\w+|vagina\w*|womb|contracepti\w+)\b", re.IGNORECASE)
ADULT = Person()
SPEAKS, CHILD = 3.0, 12.0  # ours: years from which a child tells what it feels, and answers for itself
FELT = re.compile(  # ours: what only its bearer knows
    r"\b(?:pain\w*|\w*aches?|hurts?|sore|itch\w*|nausea|sick|dizz\w*|numb\w*|tingl\w*|\w*burns?|taste|smell|vision|feel\w*|"
    r"spinning|ringing|cramps?|tender\w*|tired\w*|worr\w*|sad\w*|hopeless)\b",
    re.IGNORECASE,
)
OF_ADULTS = re.compile(  # ours: what no child is asked
    r"\b(?:pregnan\w*|given birth|breast\w*|periods?|menstr\w*|menopaus\w*|contracepti\w*|sex\w*|smok\w*|alcohol\w*|"
    r"erecti\w*)\b",
    re.IGNORECASE,
)
OF_A_CHILD = (
    (re.compile(r"^Do you\b"), "Does the child"), (re.compile(r"^Have you\b"), "Has the child"),
    (re.compile(r"^Are you\b"), "Is the child"), (re.compile(r"^Were you\b"), "Was the child"),
    (re.compile(r"^(Did|Can|Could|Will|Would) you\b"), r"\1 the child"),
    (re.compile(r"\byourself\b"), "themselves"),
    (re.compile(r"\b(with|to|at|on|in|for|of|from|around|near|by|ma[dk]es?|g[ai]ves?|wakes?) you\b"), r"\1 them"),
    (re.compile(r"\byou\b"), "they"),
)  # fmt: skip
LITTLE = 0.005  # ours: a change of share below half a percent is none
FORMS = {
    "en": {
        "yes": "A yes makes {disease} more likely ({change})",
        "no": "a no makes {disease} more likely ({change})",
        "yes_little": "A yes leaves {disease} about as likely as it is ({after:.0%})",
        "no_little": "a no leaves {disease} about as likely as it is ({after:.0%})",
        "join": "; ",
        "end": ".",
        "alarm": " A yes would point to an emergency: {disease}.",
    },
    "zh": {
        "yes": "若回答“是”，{disease}的可能性上升（{change}）",
        "no": "若回答“否”，{disease}的可能性上升（{change}）",
        "yes_little": "若回答“是”，{disease}的可能性变化不大（{after:.0%}）",
        "no_little": "若回答“否”，{disease}的可能性变化不大（{after:.0%}）",
        "join": "；",
        "end": "。",
        "alarm": "若回答“是”，需警惕急症：{disease}。",
    },
}


class Rise(NamedTuple):
    """The disease that an answer raises most, with its share of belief before and after, 0..1."""

    disease: str
    before: float
    after: float


# Ours: how readily a patient knows the answer, against a symptom; the best of a coarse search on the 98 training
# patients of DDXPlus, so it also reflects what that release records.
KNOWN = {"symptom": 1.0, "history": 0.5, "habit": 0.5, "sign": 0.3, "exposure": 0.3, "test": 0.3}
NARROWER_KNOWN = 0.5  # ours, found likewise: of what is a kind of another finding


def known_to_patients(finding: FindingNode) -> float:
    """How readily a patient knows it, 0..1: the chance of an answer other than "I don't know", against a symptom."""
    return KNOWN.get(finding.kind, 1.0) * (1.0 if finding.broader is None else NARROWER_KNOWN)


def askable(finding: FindingNode) -> bool:
    """Whether a patient can tell it: no treatment, no laboratory value or scan, nothing that a doctor must examine."""
    if finding.only_shown:
        return False
    asked = finding.ask or finding.name
    if finding.kind == "test":
        return AT_HOME.search(asked) is not None
    return finding.kind != "sign" or EXAMINED.search(asked) is None


class Bearer(NamedTuple):
    """Of whom a finding is asked: of one sex alone, of who can tell what nobody sees, of adults."""

    sex: str | None
    felt: bool
    adult: bool

    def suits(self, person: Person) -> bool:
        """Whether it is a question for a patient of this age and sex."""
        age = CHILD if person.age is None else person.age
        of_sex = None in (self.sex, person.sex) or self.sex == person.sex
        return of_sex and not (self.felt and age < SPEAKS) and not (self.adult and age < CHILD)


def bearer(finding: FindingNode) -> Bearer:
    """Who can have a finding and tell it, by the question's words: nobody sees a small child's pain, itch or nausea."""
    asked = f"{finding.name} {finding.ask or ''}"
    only = "male" if OF_MEN.search(asked) else "female" if OF_WOMEN.search(asked) else None
    return Bearer(only, FELT.search(asked) is not None, OF_ADULTS.search(asked) is not None)


def wording(finding: FindingNode, language: str, person: Person = ADULT) -> str:
    """How a finding is asked about; of a child it is asked in the third person."""
    child = person.age is not None and person.age < CHILD
    if language == "zh":
        asked = finding.ask_zh or f"您是否有{finding.zh}？"
        return re.sub("您|你", "孩子", asked) if child else asked
    asked = finding.ask or f"Is there {finding.name}?"
    if not child:
        return asked
    for pattern, into in OF_A_CHILD:
        asked = pattern.sub(into, asked)
    return re.sub(r"\byour\b", "their" if "the child" in asked else "the child's", asked)


def reason(yes: Rise, no: Rise, emergency: Rise | None, language: str) -> str:
    """Why a question is asked: which diagnosis each answer makes more likely, and the emergency that a yes may show."""
    form = FORMS["zh" if language == "zh" else "en"]
    told = [_changed(form, "yes", yes, language), _changed(form, "no", no, language)]
    alarm = "" if emergency is None else form["alarm"].format(disease=emergency.disease)
    return form["join"].join(told) + form["end"] + alarm


def percent(rise: Rise, language: str) -> str:
    """The change of a share in words."""
    return f"{rise.before:.0%}{'→' if language == 'zh' else ' to '}{rise.after:.0%}"


def _changed(form: dict[str, str], answer: str, rise: Rise, language: str) -> str:
    little = "_little" if rise.after - rise.before < LITTLE else ""
    return form[answer + little].format(disease=rise.disease, change=percent(rise, language), after=rise.after)
