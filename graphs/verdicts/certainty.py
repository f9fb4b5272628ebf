"""How sure a verdict is: by stated rules, from what the sources say."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphs.verdicts.contract import Certainty, Sentence, Verdict, VerdictValue
from graphs.verdicts.stated import sizes_of
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
PUBLISHED = frozenset({"pubmed", "pmc"})  # collections whose level their records tell; the rest is not assessed
ASSESSED = PUBLISHED | {"library", "graph", "calculator"}  # what is neither published nor the house's own is the user's
# "Certainty is moderate to high ..." in a page that rates itself: the lower of the two stands.
STATED = re.compile(r"\bcertainty (?:of (?:the |this )?evidence )?is (very low|low|moderate|high)\b", re.IGNORECASE)


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


def _people(evidence: Evidence) -> int | None:
    return max(sizes_of(evidence.text), default=None)
