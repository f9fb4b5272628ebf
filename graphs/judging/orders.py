"""Texts that give orders to whoever reads them by machine: never followed, and no evidence of anything.

A text speaks to machines when it tells its reader to drop what it was told before, names a machine and says what it is
to say, carries the marks of a chat, a tool or a reply, or asks for what an assistant holds; plainly, or in one of the
usual disguises (`disguised`). The whole text is then left out, not its sentence alone: what stands around an order was
chosen by the same hand. This is a net below two others, and not complete: whatever gets through it is still data in a
fence to a model, and a quote with its source to a reader.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from urllib.parse import unquote

from tools.evidence import Evidence

# The forms of a text that a machine may read in it where a person sees nothing, or another thing.
# Letters of Cyrillic and Greek that look like Latin ones, and these; ours, from the shapes of common fonts.
LOOK_ALIKE = str.maketrans(
    "аеорсхуіјѕһԁԛԝѵкмтвнАВЕКМНОРСТХУІЈЅοαινρτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcxyijshdqwvkmtbhABEKMHOPCTXYIJSoaivptuxABEZHIKMNOPTYX",
)
LATIN = re.compile(r"[A-Za-z]")
TAGS = 0xE0000  # the block of invisible tags repeats ASCII from here
PACKED = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")  # ours: 18 bytes; a shorter order says nothing
PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2}|[\w.~-]){24,}")
ESCAPES = 3  # ours: escapes in such a run; one or two are in any address


def disguised(text: str) -> Iterator[str]:
    """The text as it is seen, then its other forms: look-alike letters read as Latin ones, packed texts opened."""
    seen = unicodedata.normalize("NFKC", "".join(_seen(c) for c in text))
    yield seen
    if not seen.isascii() and LATIN.search(seen) and (latin := seen.translate(LOOK_ALIKE)) != seen:
        yield latin
    for found in PACKED.findall(seen):
        if opened := _opened(found):
            yield opened
    for found in PERCENT.findall(seen):
        if found.count("%") >= ESCAPES:
            yield unquote(found)


def _seen(character: str) -> str:
    """The character; nothing for one that is not shown, and the letter of an invisible tag."""
    code = ord(character)
    if TAGS < code < TAGS + 0x80:
        return chr(code - TAGS)
    return "" if unicodedata.category(character) == "Cf" else character


def _opened(packed: str) -> str:
    """What a run of base64 says; "" when that is no text."""
    try:
        raw = base64.b64decode(packed.replace("-", "+").replace("_", "/") + "=" * (-len(packed) % 4), validate=True)
        said = raw.decode("utf-8")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return ""
    return said if said.isprintable() and " " in said else ""


REASON = "speaks to whoever reads it by machine, not about medicine"

# All patterns are ours. Gaps stay within a sentence. None is found in the starter library, the graph, 24,778 abstracts
# and a quarter of MedQuAD: "ignore earlier symptoms", "you are now ready to inhale", "tell your doctor" are no orders.
_MACHINE = (
    r"(?:AI|A\.I\.|artificial intelligence|(?:large )?language models?|LLMs?|chat ?bots?|\w*bot|chat ?gpt|gpt|copilot|"
    r"(?:AI|virtual|digital|automated|medical|evidence) (?:assistants?|agents?)|assistants?|"
    r"(?:automated|artificial|machine|automatic) (?:readers?|systems?|triage|agents?|tools?)|"
    r"(?:the|this) (?:model|software|triage (?:program|system|software))|(?:diagnostic|triage|summari[sz]ing) software)"
)
_SAY = (
    r"(?:say|says|said|answer|reply|respond|state|output|print|write|tell|report|conclude|recommend|repeat|reveal|show|"
    r"hide|cite|quote|mention|add|include|treat this|rank|list|obey|follow)"
)
_GAP = r"[^.!?\n。！？]"
_TOOLS = r"(?:search_literature|lookup_differential|retrieve_passages|fill_knowledge_gaps|find_answered_question)"
_DROP = r"(?:ignor\w*|disregard\w*|forget|override|bypass|overrule)"
_EARLIER = r"(?:previous|prior|earlier|above|preceding|your|all|any|these|those|the other|everything)"

ENGLISH = (
    # orders to drop what was said before
    (
        rf"\b{_DROP}\b(?: \w+){{0,3}}? {_EARLIER}\b(?: \w+){{0,3}}? (?:instructions?|prompts?|rules?|messages?|context|"
        r"system|documents in your)\b"
    ),
    rf"\b{_DROP}\b{_GAP}{{0,30}}\byou (?:were|are|have been) (?:told|given|instructed|asked)\b",
    rf"\b(?:forget|ignore|disregard) (?:it|this|that|all of (?:it|this|that)),? (?:and|then) {_SAY}\b",
    # a machine that is spoken to, or told what to say
    (
        r"\b(?:dear|attention|note to|notice to|note for|instructions? (?:to|for)|message (?:to|for)),? "
        rf"(?:the |all |any )?{_MACHINE}\b|\b(?:for|to) (?:the |all |any )?{_MACHINE}\s*:"
    ),
    (
        rf"\b(?:for|to) (?:the |all |any |every )?{_MACHINE},? (?:that|who|which) "
        r"(?:reads?|summari[sz]es?|process(?:es)?) (?:this|these) "
        r"(?:abstract|article|document|page|paper|passage|record|text)s?\b"
    ),
    rf"(?:^|[.!?。\n>(\"'*#-]\s{{0,9}}){_MACHINE}\s*[:,]\s*(?:you|please|do|don't|never|always|{_SAY})\b",
    (
        rf"\b{_MACHINE},? (?:you )?(?:must|should|shall|has to|have to|"
        r"(?:is|are) (?:required|asked|instructed|told) to)"
        rf"(?: now| always| also| never| not| therefore)*,? {_SAY}\b"
    ),
    (
        r"\b(?:whoever|anyone who|any system that|anything that|every tool that) "
        rf"(?:summari[sz]es|reads|answers|processes)\b{_GAP}{{0,40}}\b(?:must|should|shall|has to|adds?)\b"
    ),
    r"\byou are (?:now |an? |the |from now on ){1,2}(?:[\w-]+ ){0,2}?(?:\w*bot|assistant|AI|language model|LLM|GPT)\b",
    r"\bif you are (?:an? |the )?(?:[\w-]+ )?(?:AI|language model|LLM|assistant|chat ?bot|bot|machine|program)\b",
    r"\b(?:from (?:now|this point) on|from here on),? (?:you|your|always|answer)\b",
    (
        r"\byour (?:(?:only|new|real|next|sole) (?:task|job|goal|instructions?)|system prompt|context window|"
        r"(?:reply|response|output) (?:must|should|shall|is to))\b"
    ),
    r"\b(?:the|your|a) (?:task|instructions?|policy) (?:has|have) (?:now )?(?:changed|been (?:changed|replaced))\b",
    r"\b(?:end|begin|start|finish|close) your (?:answer|reply|response|summary) with\b",
    # orders to say something, at the head of a sentence
    (
        r"(?:^|[.!?:>\n]\s{0,9}|\bplease,? )(?:say|answer|reply|respond|output|print|state)"
        r"(?: only:| just:|(?: only| just)?(?: that| with| so\b| this| the following| every question))"
    ),
    rf"\b(?:tell|show|inform) (?:the |your |all )?(?:users?|readers?)\b{_GAP}{{0,60}}",
    (
        r"\b(?:when|whenever|if|before) you (?:are asked|answer|reply|respond|summari[sz]e)\b"
        rf"{_GAP}{{0,60}}\b{_SAY}(?: only)?(?: that\b| with\b|:)"
    ),
    rf"\bwhen (?:answering|replying|responding|asked) (?:about|to)\b{_GAP}{{0,40}}[,:] ?{_SAY}\b",
    r"\b(?:rely|rest) (?:only )?on this (?:one|document|text)\b|\bkeep only this (?:document|text|one)\b",
    r"\bcite (?:this|it) as\b|\bquote (?:this|it) in full\b|\bwithout (?:a )?citations?\b|\bcite nothing else\b",
    r"\bthe (?:system|software|assistant) has (?:confirmed|verified|approved|cleared)\b",
    r"\b(?:decode|decrypt) (?:and|then) (?:follow|execute|obey|run)\b",
    # what an assistant shows and holds
    (
        r"\b(?:hide|remove|suppress|drop|disable|omit|do not (?:show|display|raise)) (?:the |its |this |any |all )"
        r"(?:red |emergency |triage ){0,2}(?:banners?|warnings?|alerts?|notices?|disclaimers?|citations?)\b"
    ),
    (
        r"\b(?:the|your) system prompt\b|\b(?:print|repeat|reveal|send|output) (?:me )?(?:the|your) "
        r"(?:whole|full|entire|hidden) (?:case|conversation|prompt|message|context)\b|"
        r"\bbefore you (?:answer|reply|respond), \w+ "
    ),
    rf"\b{_TOOLS}\b",
)
MARKS = (
    # labels of speakers, and the marks of chats, tools and replies
    (
        r"(?:^|\n)\W{0,20}(?:system|assistant|developer|user|human|tool)(?: (?:message|prompt|note|result|output))?\s*"
        r"(?:\([^)\n]{0,40}\)\s*)?:\s*\S"
    ),
    r"(?:^|\n)#{1,6} (?:system|assistant|user|instructions?)\s*(?:\n|$)",
    r"<\|[\w ]{2,30}\|>|\[/?INST\]|<</?SYS>>",
    r"</?(?:system|instructions?|documents?|context|assistant|prompt|tool_?\w*|function_?\w*)(?: [^>\n]{0,40})?>",
    r"[\"'](?:role|stance|tool_calls?|arguments|keep)[\"']\s*:\s*[\"'\[{]",
    r"(?:^|\n)\[\d+\] (?:retrieved|generated) \|",
    r"\b(?:library|graph|generated|record|given|own):[a-z][\w/.-]{3,}",
    r"\]\(https?://[^)\s]*[?&][\w-]+=(?:[A-Z]{3,}|[{$<]|%7B)",  # an address with a slot for what is to be told
    r"(?:<!--|\[//\]: #)[^>]{0,20}\b(?:assistant|model|ai|llm)\b",
)
OTHER_LANGUAGES = (
    # orders to drop what was said before; Chinese, the second language here, with its other forms
    r"(?:忽略|无视|忘记|忘掉|不要理会)[^。；\n]{0,6}(?:之前|以上|上述|先前|前面|所有|你)[^。；\n]{0,10}(?:指示|指令|提示|规则)",
    r"(?:人工智能|语言模型|智能|AI) ?(?:助手|模型|助理)[^。\n]{0,20}(?:回答|必须|请|说|输出|引用)|系统提示[:：]",
    r"(?:告诉|告知|提醒)用户|不要引用|(?:直接|仅|只)输出|(?:请|你)(?:现在)?(?:必须)?(?:只)?(?:回答|回复)[:：]",
    r"(?:指示|命令|プロンプト)[^。\n]{0,12}無視|無視[^。\n]{0,12}(?:指示|命令)",
    r"\b(?:ignor\w+|olvid\w+|omit\w+|desestim\w+)\b[^.\n]{0,30}\b(?:instrucciones|instruções|indicaciones|istruzioni)\b",
    r"\b(?:ignor\w+|oubli\w+)\b[^.\n]{0,30}\b(?:instructions|consignes|directives)\b",
    r"\b(?:ignorier\w*|vergiss|vergessen sie|missachte\w*)\b[^.\n]{0,30}\b(?:anweisung\w*|vorgaben|instruktion\w*)\b",
    r"\b(?:dimentic\w+|trascur\w+)\b[^.\n]{0,30}\bistruzioni\b|\bnegeer\b[^.\n]{0,30}\b(?:instructies|aanwijzingen)\b",
    r"(?:игнорир\w+|забуд\w+)[^.\n]{0,30}(?:инструкци\w+|указани\w+)",
    r"(?:지시|명령|프롬프트)[^.\n]{0,12}무시|تجاهل[^.\n]{0,30}(?:التعليمات|الأوامر)",
)
# one by one: each finds its first word quickly, which all of them as one pattern do not
ORDERS = tuple(re.compile(p, re.IGNORECASE) for p in (*ENGLISH, *MARKS, *OTHER_LANGUAGES))


@lru_cache(maxsize=4096)
def speaks_to_machines(text: str) -> bool:
    """Whether a text gives orders to whoever reads it by machine."""
    return any(order.search(form) for form in disguised(text) for order in ORDERS)


def instructing(documents: Iterable[Evidence]) -> frozenset[str]:
    """Ids of the evidence that speaks to machines, and of every other piece of the same documents."""
    pieces = list(documents)
    named = {e.document_id for e in pieces if speaks_to_machines(f"{e.title}\n{e.text}")}
    return frozenset(e.id for e in pieces if e.document_id in named)
