"""A follow-up about evidence as a question that stands alone: ``and in children?`` after a question about adults."""

from __future__ import annotations

import re

from tools.text.language import language_of

POPULATION = re.compile(
    r"\b(?:(?:most|otherwise|healthy|older|elderly|young|younger|pregnant|breastfeeding|heavy|adult|premature|"
    r"obese|male|female|preterm) )*"
    r"(?:adults?|children|kids|infants?|babies|neonates?|newborns?|toddlers?|teenagers?|adolescents?|women|men|"
    r"people|smokers|athletes|"
    r"pregnancy|breastfeeding|lactation|old age|childhood|the elderly|elderly|diabetics|patients)\b",
    re.IGNORECASE,
)
STATES = {
    "pregnancy": "pregnant women", "breastfeeding": "breastfeeding women", "lactation": "breastfeeding women",
    "old age": "older people", "childhood": "children", "the elderly": "older people", "elderly": "older people",
}  # fmt: skip
POPULATION_ZH = re.compile(
    r"儿童|小孩|孩子|婴儿|婴幼儿|老年人|老人|成年人|成人|孕妇|哺乳期妇女|哺乳期|孕期|青少年|女性|男性|糖尿病患者|患者"
)
LEAD = re.compile(
    r"^\W*(?:(?:and|but|so|ok|okay|also|then|or)[ ,]+)*(?:(?:what|how) about(?: (?:in|for|during|with))?|in|for|"
    r"among|during|with|if)\s+",
    re.I,
)
LEAD_ZH = re.compile(r"^\W*(?:那么?|那|还有|如果|要是)?(?:是|对于?|在)?|呢?[?？。]*$")
ASPECT = re.compile(
    r"\b(side effects?|risks?|harms?|benefits?|dose|dosage|alternatives?|contraindications?|interactions?|evidence|"
    r"duration|cost|complications?)\b",
    re.I,
)
ASPECT_ZH = re.compile(r"副作用|风险|剂量|替代|禁忌|证据|依据|疗程|好处|并发症")
PRONOUN = re.compile(r"\b(?:it|this|that|these|those|they|them)\b(?! (?:is|was) (?:true|so)\b)", re.IGNORECASE)
PRONOUN_ZH = re.compile(r"它|这个药|这种药|这个|这种|该药|该病|这")
AUX = r"(?:is|are|was|do|does|did|can|could|should|will|would|has|have|may)"
VERB = (
    r"(?:reduce\w*|lower\w*|improv\w*|prevent\w*|help\w*|benefit\w*|shorten\w*|work\w*|caus\w*|increas\w*|"
    r"affect\w*|protect\w*|cure\w*|treat\w*|"
    r"raise\w*|decreas\w*|reliev\w*|ease\w*|speed\w*|delay\w*|stop\w*|control\w*|lead\w*|interact\w*|better|worse|"
    r"effective|safe\w*|useful|indicated|"
    r"recommended|superior|equal\w*|good|needed|necessary|enough|associated|the|as|more|less|in|for|to|required|"
    r"contraindicated|be|still|really|"
    r"first|work|compared|at|on|given|used|than|last|take|have|make|get|versus|vs)"
)
HEAD = r"(?:treatments?|drugs?|therap(?:y|ies)|antibiotics?|medicines?|tests?|vaccines?|management|choice)"
SUBJECT = (
    re.compile(
        rf"^\W*(?:what|which) (?:is|are) (?:the )?(?P<s>(?:[\w-]+ ){{0,3}}?{HEAD} (?:of|for|in) [\w' -]{{2,60}}?)\W*$",
        re.IGNORECASE,
    ),
    re.compile(rf"^\W*{AUX} (?:adding|giving|taking|using) (?P<s>[\w' -]{{2,60}}?) (?:to|for|in) ", re.IGNORECASE),
    re.compile(rf"^\W*how (?:\w+ ){{1,3}}?{AUX} (?:the |an? )?(?P<s>[\w' -]{{2,60}}?) {VERB}\b", re.IGNORECASE),
    re.compile(
        r"^\W*what (?:is|are) (?:the )?[\w' -]+? (?:of|for) (?:the |an? )?(?P<s>[\w' -]{2,60}?)(?= (?:in|for|with|"
        r"during)\b|\W*$)",
        re.IGNORECASE,
    ),
    re.compile(rf"^\W*(?:when |why |in [^,]+, )?{AUX} (?:the |an? )?(?P<s>[\w' -]{{2,60}}?) {VERB}\b", re.IGNORECASE),
)
SUBJECT_ZH = re.compile(
    r"^(?:请问)?(?P<s>[\u4e00-\u9fffA-Za-z0-9]{2,14}?)(?:能否|是否|能不能|可不可以|可以|会不会|需要|能|会|对|治疗|"
    r"有没有|的|和|与|如何|怎么|有什么)"
)


def subject(question: str) -> str:
    """What a question is about, as far as its form shows it: the drug, test or disease it opens with; else ""."""
    if language_of(question) == "zh":
        match = SUBJECT_ZH.match(question.strip())
        return match["s"] if match else ""
    found = (pattern.match(question) for pattern in SUBJECT)
    first = next((m for m in found if m), None)
    return first["s"].strip() if first else ""


def stand_alone(message: str, previous: str) -> str:
    """The message with what it needs from the previous question."""
    message, previous = message.strip(), previous.strip()
    if language_of(previous) == "zh":
        return _chinese(message, previous)
    if re.search(r"\b(?:else|why)\b", message, re.IGNORECASE):
        return f"{previous} {message[:1].upper()}{message[1:]}"
    if ASPECT.search(message) and len(message.split()) <= 8 and subject(previous):
        return (
            f"{message.rstrip(' ?.')} of {subject(previous)}?"
            if not PRONOUN.search(message)
            else _named(message, previous)
        )
    group = _group(LEAD.sub("", message, count=1)) if LEAD.match(message) else ""
    if group:
        return _for_group(previous, group)
    if PRONOUN.search(message) and subject(previous):
        return _named(message, previous)
    return f"{previous} {message[:1].upper()}{message[1:]}"


def _named(message: str, previous: str) -> str:
    return PRONOUN.sub(lambda _m: subject(previous), message, count=1)


def _group(text: str) -> str:
    """The people whom ``in children under five?`` names; "" when it names none."""
    text = text.strip(" ?.!")
    match = POPULATION.match(re.sub(r"^(?:the |my |an? )(?!elderly)", "", text))
    return text if match else ""


def _for_group(previous: str, group: str) -> str:
    stated = POPULATION.search(previous)
    people = STATES.get(group.lower(), group)
    if stated:
        return previous[: stated.start()] + people + previous[stated.end() :]
    return f"{previous.rstrip(' ?.')} in {group}?"


def _chinese(message: str, previous: str) -> str:
    about = subject(previous)
    if about and PRONOUN_ZH.search(message):
        return PRONOUN_ZH.sub(about, message, count=1)
    if about and ASPECT_ZH.search(message) and len(message) <= 14:
        return f"{about}的{message.lstrip('那有么,，')}"
    group, stated = POPULATION_ZH.search(LEAD_ZH.sub("", message)), POPULATION_ZH.search(previous)
    if group and stated:
        return previous[: stated.start()] + group[0] + previous[stated.end() :]
    if group:
        return f"对于{group[0]}，{previous}"
    return previous + message
