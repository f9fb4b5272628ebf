"""What one must know to answer a question: knowledge requirements without a model (MedRGAG, KGCC; the rules are ours).

A case asks five things of each leading disease, an evidence question asks by its intent for effect, harms and whom
it applies to, and a multiple-choice question asks one thing an option.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tools.contract import unique
from tools.text.language import language_of
from tools.text.tokens import STOP, STOP_ZH, jieba_tokenizer

LEADING = 3  # ours: diseases of the differential that requirements are made for
# ours: the questions that a monograph's sections answer, the first three in the order of a diagnostic work-up
CASE_ASPECTS = {
    "en": (
        "presentation and symptoms",
        "diagnosis and tests",
        "what it is confused with",
        "treatment",
        "when to seek help, red flags",
    ),
    "zh": ("临床表现与症状", "诊断与检查", "与哪些疾病混淆", "治疗", "何时就医与警示征象"),
}
UNKNOWN_CASE = {
    "en": ("possible causes", "tests and assessment", "when to seek help, red flags"),
    "zh": ("可能的病因", "检查与评估", "何时就医与警示征象"),
}
INTENTS = {
    "diagnosis": r"rule[sd]?\s+out|accura|sensitiv|specificity|diagnos|detect|cut-?off|test\b"
    r"|诊断|排除|准确|敏感性|特异性|检查",
    "prognosis": r"prognos|surviv|outlook|life expectancy|how long|recover|relaps|recurr|预后|生存|复发|恢复|多久",
    "cause": r"\bcauses?\b|risk factor|aetiolog|etiolog|\bwhy\b|病因|原因|危险因素|为什么",
    "treatment": r"first[- ]line|treat|therap|manage|(?<!-)\bdos(?:e|age)\b|should .+ (?:get|be given)"
    r"|治疗|一线|剂量|用药",
    "effect": r"reduc|lower|improv|prevent|help|benefit|effective|effect\b|work|better|protect|shorten|useful"
    r"|as good as|compared|versus|\bvs\b|\bor\b|疗效|有效|效果|获益|降低|减少|改善|预防|能否|优于",
}
MAIN = {
    "en": {
        "diagnosis": "how well it rules the diagnosis in or out",
        "prognosis": "course, recovery and recurrence",
        "cause": "causes and risk factors",
        "treatment": "recommended treatment in practice",
    },
    "zh": {
        "diagnosis": "诊断准确性，何时可确诊或排除",
        "prognosis": "病程、恢复与复发",
        "cause": "病因与危险因素",
        "treatment": "推荐的治疗",
    },
}
HARMS = {"en": "harms, side effects and uncertainty", "zh": "危害、副作用与不确定性"}
WHOM = {"en": "who it applies to", "zh": "适用人群"}
# ours: what publications call an aspect that has other words here; what they have no words for ("") is not searched for
SEARCHED = {
    "presentation and symptoms": "symptoms",
    "when to seek help, red flags": "warning signs",
    "tests and assessment": "diagnosis",
    "how well it rules the diagnosis in or out": "diagnostic accuracy",
    "course, recovery and recurrence": "prognosis",
    "recommended treatment in practice": "treatment, guideline",
    HARMS["en"]: "adverse effects",
    **dict.fromkeys(WHOM.values(), ""),
}


def requirements(
    question: str, kind: str, language: str, options: Mapping[str, str], diseases: Sequence[str]
) -> list[str]:
    """What one must know, most important first, in words that can be searched for.

    Args:
        question: the stand-alone question or case.
        kind: the kind of turn (``case``, ``evidence``, ``multiple_choice``, ...); a follow-up is read as a case.
        language: ``en`` or ``zh``: the language of the requirements.
        options: options of a multiple-choice question by letter.
        diseases: names of the leading diseases, best first; the first three count.

    Returns:
        Between 1 and 15 requirements, none twice.
    """
    tongue = "zh" if language == "zh" else "en"
    if options:
        found = [_about(option, topic_of(question), tongue) for option in options.values() if option.strip()]
    elif kind in ("case", "follow_up"):
        found = _of_case(question, diseases, tongue)
    else:
        found = _of_evidence_question(question, tongue)
    return unique(found)


def query_of(requirement: str) -> str:
    """What is searched for where a requirement is a gap: its subject, and its aspect in the words of publications.

    Whom something applies to is searched for by the people that the question names; "" where it names none.
    """
    for aspect, words in SEARCHED.items():
        for colon in (": ", "："):
            subject, named, whom = requirement.partition(f"{colon}{aspect}")
            if named and (not whom or whom.startswith(colon)):
                about = words or whom.removeprefix(colon)
                return f"{subject}{colon}{about}" if about else ""
    return requirement


def intents(question: str) -> list[str]:
    """What a question asks for: names of `INTENTS` in order of appearance in that table; ``effect`` when none shows."""
    return [name for name, pattern in INTENTS.items() if re.search(pattern, question, re.IGNORECASE)] or ["effect"]


def _of_case(question: str, diseases: Sequence[str], tongue: str) -> list[str]:
    leading = unique([d for d in diseases if d.strip()])[:LEADING]
    if not leading:
        return [_about(topic_of(question), aspect, tongue) for aspect in UNKNOWN_CASE[tongue]]
    return [_about(disease, aspect, tongue) for disease in leading for aspect in CASE_ASPECTS[tongue]]


def _of_evidence_question(question: str, tongue: str) -> list[str]:
    topic, intervention, population = topic_of(question), intervention_of(question), population_of(question)
    whom = _about(WHOM[tongue], population, tongue) if population else WHOM[tongue]
    main = MAIN[tongue]  # the effect needs no aspect: it is what the question itself asks
    found = [_about(topic, main[intent], tongue) if intent in main else topic for intent in intents(question)]
    return [*found, _about(intervention, HARMS[tongue], tongue), _about(intervention, whom, tongue)]


def _about(subject: str, aspect: str, tongue: str) -> str:
    return f"{subject}：{aspect}" if tongue == "zh" else f"{subject}: {aspect}"


# What a question is about, in words to search with: its topic, the intervention, the population (PICO-like, ours).

LONGEST = 160  # ours: characters of a topic; a longer question is cut to its key terms
KEY_TERMS = 12  # ours: words that stand for a long question
OPENING = re.compile(
    r"""^(?:(?:please|can\ you\ tell\ me|tell\ me|i\ want\ to\ know)[,\s]+)?
    (?:(?:what|which|when|why|who|how)(?:['’]s)?(?:\s+(?:well|good|effective|accurate|safe|often|long|useful))?\s+)?
    (?:(?:do|does|did|is|are|was|were|can|could|should|will|would|may|has|have)\s+)?(?:(?:the|a|an|there)\s+)?""",
    re.IGNORECASE | re.VERBOSE,
)
OPENING_ZH = re.compile(r"^(?:请问|请告诉我|我想知道)[，,\s]*")
ENDING_ZH = re.compile(r"(?:[，,？?。！!\s]*(?:证据如何|有何证据|如何|怎么样|好吗|吗|呢))*[？?。！!\s]*$")
SETTING = re.compile(r"^(?P<setting>(?:in|for|among)\s+[^,]{2,60}),\s*(?P<rest>.+)$", re.IGNORECASE)
SECOND = re.compile(r",?\s+and\s+(?:what|how|who|when)\s+(?:is|are|do|does|should|can)\b.*$", re.IGNORECASE)
VERB = re.compile(
    r"""\b(?:reduces?|lowers?|improves?|prevents?|helps?|benefits?|shortens?|protects?|increases?|causes?|works?|treats?
    |cures?|affects?|useful|effective|better|safe|enough|equally|as\ good|compared|versus|vs|rather|instead|get
    |be\ given|(?:the\ )?(?:first[- ]line|best|most)|in|for|among)\b|能否|是否|能|对|治疗|预防|优于""",
    re.IGNORECASE | re.VERBOSE,
)
GROUP = r"""(?:adults?|children|infants?|newborns?|babies|women|men|people|patients?|smokers|adolescents|teenagers
    |elderly|pregnancy)\b[^,;?.!]*"""
PEOPLE = re.compile(
    rf"\b(?:in|among|for|with|of)\s+(?P<who>(?:(?!(?:in|among|for|with|of)\b)[\w'-]+\s+){{0,4}}?{GROUP})",
    re.IGNORECASE | re.VERBOSE,
)
BARE_PEOPLE = re.compile(rf"\b(?P<who>{GROUP})", re.IGNORECASE | re.VERBOSE)
PREDICATE = re.compile(
    r"\s+(?:get|gets|receive|take|need|be|have|should|reduces?|lowers?|improves?)\b.*$", re.IGNORECASE
)
PEOPLE_ZH = re.compile(r"(?P<who>[\u4e00-\u9fff]{0,6}(?:成人|儿童|婴儿|老年人|孕妇|女性|男性|患者|吸烟者|青少年))")
TERM = re.compile(r"[A-Za-z][A-Za-z0-9'-]+|[\u4e00-\u9fff]+")


def topic_of(question: str) -> str:
    """The question as a phrase: without the words that make it a question, cut to its key terms when long."""
    text = " ".join(question.split())
    cut = ENDING_ZH.sub("", OPENING_ZH.sub("", text)) if language_of(text) == "zh" else _phrase(text)
    topic = cut.strip(" ?!.。？") or text
    return topic if len(topic) <= LONGEST else " ".join(key_terms(topic)) or topic[:LONGEST]


def _phrase(text: str) -> str:
    setting = SETTING.match(text)
    main = setting["rest"] if setting else text
    main = SECOND.sub("", OPENING.sub("", main, count=1)).rstrip(" ?!.")
    if not setting:
        return main
    where = setting["setting"]
    return f"{main} {where[0].lower()}{where[1:]}"


def intervention_of(question: str) -> str:
    """What is done or measured: the topic up to its verb, or the whole topic where that names none."""
    topic = topic_of(question)
    match = VERB.search(topic)
    first = topic[: match.start()].strip(" ,，") if match else ""
    return first if key_terms(first) and not population_of(first) else topic


def population_of(question: str) -> str:
    """Whom the question is about (``adults without known heart disease``), "" when it does not say."""
    chinese = language_of(question) == "zh"
    match = PEOPLE_ZH.search(question) if chinese else PEOPLE.search(question) or BARE_PEOPLE.search(question)
    return PREDICATE.sub("", match["who"]).strip() if match else ""


def key_terms(text: str) -> list[str]:
    """The first `KEY_TERMS` words that are no stop words, numbers left out; Chinese runs are cut by jieba."""
    if language_of(text) == "zh":
        cut = jieba_tokenizer().cut
        words = [w for run in TERM.findall(text) for w in cut(run) if len(w) > 1 and w not in STOP_ZH]
    else:
        words = [w for w in TERM.findall(text) if w.lower() not in STOP]
    return unique(words)[:KEY_TERMS]
