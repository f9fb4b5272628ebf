"""How sure a verdict is, how large the effect, and who was studied: by stated rules, from what the sources say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from graphs.verdicts.contract import Certainty, Sentence, Verdict, VerdictValue
from tools.evidence import Evidence, EvidenceId, Origin

# Certainty that one source of a level gives, by the order of designs that GRADE starts from; ours.
START = {
    "guideline": Certainty.HIGH, "systematic review": Certainty.HIGH, "meta-analysis": Certainty.HIGH,
    "randomised trial": Certainty.MODERATE, "clinical trial": Certainty.LOW, "review": Certainty.LOW,
    "observational study": Certainty.LOW, "case report": Certainty.VERY_LOW, "other": Certainty.VERY_LOW,
    "study protocol": Certainty.VERY_LOW,
}  # fmt: skip
RANKS = (Certainty.VERY_LOW, Certainty.LOW, Certainty.MODERATE, Certainty.HIGH)
AGREEING = 2  # ours: sources of one design that agree raise the certainty by one step
SMALL = 100  # ours: a study of fewer people lowers it by one step
PUBLISHED = frozenset({"pubmed", "pmc"})  # collections whose level types and titles tell; the rest is not assessed
ASSESSED = PUBLISHED | {"library", "graph", "calculator"}  # what is neither published nor the house's own is the user's
# "Certainty is moderate to high ..." in a page that rates itself: the lower of the two stands.
STATED = re.compile(r"\bcertainty (?:of (?:the |this )?evidence )?is (very low|low|moderate|high)\b", re.IGNORECASE)
NUMBER = r"\d(?:[\d,]{0,15}\d)?(?:[.·]\d{1,9})?"
RANGE = rf"{NUMBER}\s?%?\s?(?:to|-|–|,|;)\s?-?{NUMBER}\s?%?"
PERCENT = rf"{NUMBER}\s?(?:%|per cent)"
RATIO = r"(?:\b(?:hazard|odds|risk|rate|relative risk)\s?(?:ratio)?\b|\b(?:HR|OR|RR|aHR|aOR|SMD|MD|NNT)\b)"
EFFECT = re.compile(
    rf"{RATIO}[^.;]{{0,25}}?{NUMBER}(?:[^.;]{{0,30}}?{RANGE})?"
    rf"|{PERCENT}(?:[^.;]{{0,40}}?(?:versus|vs\.?|compared with|against|and|to|in)[^.;]{{0,30}}?{PERCENT})?"
    rf"|\b(?:95|99)\s?%\s?(?:CI|confidence interval)[^.;]{{0,6}}{RANGE}"
    r"|\bp\s?[<=>]\s?0?[.·]\d+",
    re.IGNORECASE,
)
PEOPLE = (
    r"(?:adults|children|infants|neonates|newborns|women|men|patients|participants|people|adolescents|volunteers|"
    r"subjects|pregnant women|older people|girls|boys|individuals)"
)
COUNTED = re.compile(
    rf"\b({NUMBER})\s(?:\w+[- ]){{0,3}}?{PEOPLE}\b(?:\s(?:with|who|aged|after|undergoing)\b[^.;,()]{{0,60}})?", re.I
)
NAMED = re.compile(
    rf"\b(?:in|among|for|of)\s((?:\w+[- ]){{0,3}}?{PEOPLE}\b(?:\s(?:with|who|aged|after|whose|at)\b[^.;,()]{{0,60}})?)",
    re.I,
)

# What stands between "versus" and the name of what was compared with, and what ends that name; both ours.
AT = r"(?:in|on|with|for|among|of)"
CONTROL = r"(?:placebo|controls?|usual care|standard care|no treatment|sham)\b"
COMPARED = re.compile(
    rf"\b(?:versus|vs\.?|(?:compared|comparison|relative) (?:with|to)"
    rf"|(?:against|than)(?= (?:that )?(?:{AT} )?(?:the |a )?{CONTROL}))\s"  # not "vaccines against measles"
    rf"(?:(?:{NUMBER}\s?%(?:\s\([^)]*\))?|{NUMBER}(?=\s{AT}\s)|the|an?|those|that|who|{AT}|to|given|using"
    rf"|received|receiving|took|taking|had|were|treated|assigned|allocated|randomi[sz]ed|{PEOPLE})\s)*+"
    r"(?!baseline)([^\W\d_][^.,;:()\[\]?]{1,80})",
    re.IGNORECASE,
)
AFTER = re.compile(
    r"\s(?:in|for|among|on|during|after|at|as|by|to|over|from|within|when|who|which|that|than|but|except|groups?|arms?"
    r"|and \d|(?:and )?(?:was|were|is|are|had|has|did|does|showed|shows|reduced|reduces|lowered|increased|improved"
    r"|decreased|included|significantly))\b.*",
    re.IGNORECASE,
)


def effect_of(text: str) -> str:
    """The size of an effect as a sentence states it, in its own words; "" when it states none."""
    return "; ".join(dict.fromkeys(_closed(m[0].strip()) for m in EFFECT.finditer(text)))


def population_of(sentence: Sentence) -> str:
    """Who was studied, in the words of the sentence, else of its evidence; "" when neither says."""
    return people_of((sentence.text, sentence.evidence.text))


def people_of(texts: Iterable[str]) -> str:
    """Who was studied, in the words of the first text that says it; "" when none does."""
    for text in texts:
        found = COUNTED.search(text) or NAMED.search(text)
        if found is not None:
            return found[0].strip() if found.re is COUNTED else found[1].strip()
    return ""


def comparison_of(texts: Iterable[str]) -> str:
    """What was compared with, in the words of the first text that names it; "" when none does."""
    told = (AFTER.sub("", found[1]).strip() for text in texts for found in COMPARED.finditer(text))
    return next(filter(None, told), "")


def certainty_of(carrying: Sequence[Sentence], *, disputed: bool) -> Certainty:
    """The certainty of what sentences carry together.

    A page that rates itself is taken at its lower word. Published records start from their design; a second source of
    that design raises it, a small study or a source that says otherwise lowers it. Anything else is not assessed.
    """
    pieces = list({s.evidence.document_id: s.evidence for s in carrying}.values())
    stated = [m for e in pieces if (m := STATED.search(e.text))]
    if stated:
        return Certainty(stated[0][1].lower().replace(" ", "_"))
    rated = [e for e in pieces if is_published(e) and e.level in START]
    if not rated:
        return Certainty.NOT_ASSESSED
    best = max(RANKS.index(START[e.level or "other"]) for e in rated)
    same = [e for e in rated if RANKS.index(START[e.level or "other"]) == best]
    people = [n for e in same if (n := _people(e)) is not None]
    step = int(len(same) >= AGREEING) - int(disputed) - int(bool(people) and max(people) < SMALL)
    return RANKS[min(max(best + step, 0), len(RANKS) - 1)]


def reason_of(carrying: Sequence[Sentence]) -> str:
    """The sources and their design, each once."""
    pieces = {s.evidence.document_id: s.evidence for s in carrying}
    return "; ".join(f"{e.title or e.id} ({design_of(e)})" for e in pieces.values())


def plain_verdict(value: VerdictValue, sentences: Sequence[Sentence]) -> Verdict:
    """A verdict that sentences were written to carry, the leading one first."""
    return Verdict(
        value=value,
        statements=tuple(s.text for s in sentences),
        certainty=certainty_of(sentences, disputed=False),
        reason=reason_of(sentences),
    )


def is_published(evidence: Evidence) -> bool:
    """Whether it is of a publication."""
    return EvidenceId.parse(evidence.id).collection in PUBLISHED


def is_own(evidence: Evidence) -> bool:
    """Whether it is of a document of the user's, or of a text given with the question: nobody assessed it."""
    return evidence.origin is Origin.CASE or (
        evidence.origin is Origin.RETRIEVED
        and not evidence.source
        and EvidenceId.parse(evidence.id).collection not in ASSESSED
    )


def design_of(evidence: Evidence) -> str:
    """What kind of source it is, for the reason."""
    if evidence.origin is Origin.CASE:
        return "given by you, not assessed"
    if is_own(evidence):
        return "your document, not assessed"
    if evidence.source:
        return f"{evidence.level or 'document'}, not assessed here"
    published = is_published(evidence)
    return (evidence.level or "other") if published else "general knowledge, not clinically reviewed"


def _closed(text: str) -> str:
    """A slice of a sentence with both ends of each bracket."""
    opened = f"({text}" if ")" in text.partition("(")[0] else text
    return opened + ")" * (opened.count("(") - opened.count(")"))


def _people(evidence: Evidence) -> int | None:
    found = [int(float(m[1].replace(",", "").replace("·", "."))) for m in COUNTED.finditer(evidence.text)]
    return max(found, default=None)
