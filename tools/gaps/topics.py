"""What a question is about, in words to search with: its topic, the intervention, the population (PICO-like, ours)."""

from __future__ import annotations

import re

from tools.contract import unique
from tools.text.language import language_of
from tools.text.tokens import STOP, STOP_ZH, jieba_tokenizer

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


def key_terms(text: str, limit: int = KEY_TERMS) -> list[str]:
    """The first ``limit`` words that are no stop words, numbers left out; Chinese runs are cut by jieba."""
    if language_of(text) == "zh":
        cut = jieba_tokenizer().cut
        words = [w for run in TERM.findall(text) for w in cut(run) if len(w) > 1 and w not in STOP_ZH]
    else:
        words = [w for w in TERM.findall(text) if w.lower() not in STOP]
    return unique(words)[:limit]
