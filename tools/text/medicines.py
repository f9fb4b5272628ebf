"""Clauses that tell of taking a medicine: what it is for was found before, and is not measured or felt now."""

from __future__ import annotations

import re

# ours: verbs of taking, forms of medicine
_TAKING = re.compile(
    r"\b(?:takes?|taking|took|taken|on|prescribed|start(?:s|ed|ing)?|given|gave|us(?:e|es|ing)|stopp(?:ed|ing))\b"
    r"[^.;]{0,40}\b(?:tablets?|pills?|capsules?|inhalers?|medicines?|medications?|injections?|antibiotics?|drops|"
    r"sprays?|patch(?:es)?|steroids?|painkillers?)\b|[服吃用].{0,6}药",
    re.IGNORECASE,
)
_EFFECT = re.compile(
    r"\b(?:help\w*|eas(?:e|es|ed|ing)|reliev\w*|relief|better|worse|work(?:s|ed)?|settl\w+|after|since)\b|"
    r"缓解|好转|有效|无效|加重|后",
    re.IGNORECASE,
)
# ours: that nobody takes anything, which is no lack and no lapse; "no tablets for ten days" goes on, and is one
_NONE = re.compile(
    r"^\W*(?:(?:he|she|they|i|and|but|who|the patient|patient|pt|otherwise|currently|usually|regularly|has|have|is|am|"
    r"are|was|[a-z]+'s|takes?|taking|uses?|using|on)\W+)*"
    r"(?:no|nil|none|without|not?\W+(?:(?:taking|using|on)\W+)?any|nothing)\W+"
    r"(?:(?:regular|current|usual|other|prescribed|daily|long-term|routine|known)\W+)*"
    r"(?:medicines?|medications?|meds|tablets?|pills?|drugs?|drug history)"
    r"(?:\W+(?:at present|currently|now|of note|regularly|at all))?\W*$|"
    r"^\W*(?:无用药史|(?:平素|平时)?(?:不|没有|无)长期(?:服|用)药\S?)\W*$",
    re.IGNORECASE,
)

# ours: how many medicines are taken and not which; "took" may tell of an overdose
_HOW_MANY = re.compile(
    r"^.{0,60}?\b(?:takes?|taking|on|uses?|using|has|prescribed)\W+(?:about\W+|over\W+|at least\W+)?"
    r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|several|many|multiple|numerous|"
    r"various|lots of|a lot of|a number of|loads of|a few|some)\W+"
    r"(?:(?:different|regular|long-?term|daily|other|prescribed|repeat|usual|prescription|of his|of her)\W+)*"
    r"(?:medicines?|medications?|meds|tablets?|pills?|drugs?)"
    r"(?:\W+(?:a|per|every|each) (?:day|morning|night)|\W+daily|\W+regularly|\W+long[- ]term)?\W*$|"
    r"^.{0,12}(?:长期|每天|平时|同时)?[服吃用]着?(?:\d+|[两二三四五六七八九十几多好]+)种药物?\W*$",
    re.IGNORECASE,
)


def tells_of_none(text: str) -> bool:
    """Whether a clause says that no medicine is taken (``takes no medicines``), or only how many, as far as it goes."""
    return _NONE.match(text) is not None or _HOW_MANY.match(text) is not None


def tells_of_medicine(text: str) -> bool:
    """Whether a clause says that a medicine is taken, and nothing of what it does (``tablets for blood pressure``)."""
    return _TAKING.search(text) is not None and _EFFECT.search(text) is None
