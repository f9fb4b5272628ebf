"""The design of a study as its own abstract states it, for a record whose publication types tell none.

Only a plain statement on the study itself counts ("we randomly assigned 212 adults", "in this systematic review"): not
that trials are needed, were done before, or were what a review summed up. In doubt nothing is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

# All patterns are ours; the names of the designs are those of `tools.literature.article.LEVELS`.
LONGEST = 1_500  # ours, characters: what is longer is no sentence
LABEL = re.compile(r"^([A-Z][A-Z /&,'’()-]{2,60}):\s")
SENTENCE_END = re.compile(r"(?<=[.!?;])\s+(?=[A-Z0-9])")
NOT_OF_METHODS = re.compile(
    r"BACKGROUND|INTRODUCTION|CONTEXT|RATIONALE|CONCLUSION|DISCUSSION|INTERPRETATION|IMPLICATION|LIMITATION|COMMENT|KNOWN"
)
COCHRANE = (
    re.compile(r"^SELECTION CRITERIA:", re.M),
    re.compile(r"^(?:MAIN RESULTS|(?:AUTHORS?|REVIEWERS?)\W.*):", re.M),
)

CUE = re.compile(  # a sentence without any of these states no design: most are passed over by this
    r"random|systematic|meta-?analy|search|cochrane|cohort|case|cross-sectional|retrospective|observational|-controlled"
    r"|-blind|-arm\b|open-label|phase |year-old|month-old| will ",
    re.IGNORECASE,
)

WORDS = r"(?:\w[\w,/-]{0,30}\s){0,8}?"
DID = r"(?:conducted|performed|did|undertook|carried out|ran|designed|completed|report|reported|present)"
DONE = (
    r"(?:conducted|performed|done|undertaken|carried out|enrolled|included|treated|studied|compared|investigated"
    r"|evaluated|examined|assessed|tested|entered)"
)
PEOPLE = (
    r"(?:patients?|participants|subjects|volunteers|women|men|adults|children|infants|neonates|newborns|people"
    r"|individuals|adolescents|girls|boys|students|residents|veterans|smokers|mothers|couples|nurses|practices|clinics"
    r"|hospitals|villages|schools|clusters|households|wards|centres|centers|who)"
)
RANDOMISED = r"(?:(?!non)\w{1,20}-)?(?<!non)(?<!non-)(?<!un)randomi[sz]ed"
PART = r"(?:-\w{1,20})?(?:[\s,/]{1,3}\w[\w-]{0,30}){0,8}?[\s-]"


def _own(design: str) -> str:
    """A statement that a study is of a design: of this one, of what was done here, or at the head of a sentence."""
    return (
        rf"\b(?:this|our|(?:the )?(?:present|current))\s{WORDS}(?:was\san?\s{WORDS})?{design}"
        rf"|\bwe\s(?:\w+ly\s)?{DID}\s(?:the\s(?:first|results\sof)\s)?(?:an?\s|this\s)?{WORDS}{design}"
        rf"|\bwe\s[^.;]{{0,160}}?\b(?:in|using|by)\san?\s{WORDS}{design}"
        rf"|\b(?:was|were)\s(?:\w[\w-]{{0,20}}\s){{0,2}}?{DONE}\b[^.;]{{0,160}}?\b(?:in|as|using|by)\s(?:an?|this)\s{WORDS}{design}"
        rf"|\b(?:study|trial|it|this|investigation|design)\s(?:was|is|had|used|followed|employed)\s(?:an?|the)\s{WORDS}{design}"
        rf"|\b(?:an?|the)\s{WORDS}{design}\b[^.;]{{0,100}}?\s(?:was|were)\s(?:\w[\w-]{{0,20}}\s){{0,2}}?"
        r"(?:conducted|performed|done|undertaken|carried out)\b"
        rf"|^\W*(?:(?:in|using|by)\s)?(?:an?\s)?{WORDS}{design}"
    )


class Design(NamedTuple):
    """How a design is stated: what says it, what in the same sentence says that it is not the study's own."""

    level: str
    states: re.Pattern[str]
    denies: re.Pattern[str]


# Of other work, of work to come, or of none.
ELSEWHERE = (
    r"\b(?:future|further|additional|ongoing|awaited|needed|warranted|recommended|lacking|scarce|protocol|planned"
    r"|will be|would be|should|may be|could be"
    r"|not (?:been )?(?:possible|performed|done|available|feasible))\b"
    r"|\b(?:previous|prior|earlier|recent|published|larger?|another|other|no|few|several|one)\s(?:\w[\w,-]{0,20}\s){0,5}?"
    r"(?:trial|study|studies|review|meta-analys[ei]s|cohort)\b"
    r"|\b(?:has|have) (?:been )?(?:shown|suggested|demonstrated|reported|found|indicated)\b"
    r"|\b(?:showed|suggested|demonstrated|reported|found|indicated) that\b|\bet al\b"
    r"|^\W*(?:there|although|because|since|if|unlike|despite|while|until|no|only|one|most|such|data|results)\b"
)
ANIMALS = (
    r"\b(?:rats?|mice|mouse|rabbits?|dogs?|pigs?|piglets?|sheep|lambs?|cows?|calves|cattle|horses?|cats|monkeys|hens"
    r"|broilers|chicks|hamsters|guinea|in vitro|specimens?|teeth|molars|cadaver\w*|plots?|samples)\b"
)
OF_MANY = r"\b(?:trials|studies|reviews?|reviewed|meta-analy\w+|pooled|databases?|searched|mendelian)\b"
OF_DATA = (
    r"\b(?:secondary|post[- ]hoc|ancillary|exploratory|retrospective(?:ly)?) (?:\w+ )?analy|\bsub-?study\b"
    r"|\bdata (?:from|of)\b"
)
PLANNED = re.compile(rf"\b(?:{PEOPLE}|we|study|trial|outcomes?)\swill\s", re.IGNORECASE)  # a protocol has no results
DATABASES = re.compile(
    r"\b(?:medline|pubmed|embase|cochrane|central|cinahl|web of science|scopus|psycinfo|lilacs|amed)\b", re.IGNORECASE
)
SEARCHED = re.compile(r"\bsearch(?:ed|es)?\b", re.IGNORECASE)


def _design(level: str, states: str, denies: str) -> Design:
    return Design(level, re.compile(states, re.IGNORECASE), re.compile(denies, re.IGNORECASE))


META = r"meta-?analys[ei]s\b(?! of (?:previous|prior))"
SYSTEMATIC = r"(?:systematic(?:\s\w+)?\sreview|systematic\s(?:literature\s)?search|cochrane\sreview)\b"
GUIDANCE = r"|\b(?:guidelines?|consensus)\b"
CONTROLLED = (
    r"(?:placebo-controlled|double-blind(?:ed)?|single-arm|non-?randomi[sz]ed|open-label|phase\s(?:i{1,3}v?|[1-4])[ab]?"
    rf"(?:/(?:i{{1,3}}|[1-4])[ab]?)?){PART}?(?:trial|study)\b"
)
OBSERVED = (
    r"(?:cohort study|case-control study|cross-sectional (?:study|survey)|observational study"
    r"|retrospective (?:\w[\w-]{0,20} ){0,3}?(?:study|review|analysis))\b"
)
DESIGNS = (
    _design("meta-analysis", rf"{_own(META)}|\bwe meta-analy[sz]ed\b", ELSEWHERE + GUIDANCE),
    _design(
        "systematic review", rf"{_own(SYSTEMATIC)}|\bwe systematically (?:searched|reviewed)\b", ELSEWHERE + GUIDANCE
    ),
    _design(
        "randomised trial",
        rf"{_own(RANDOMISED + PART + r'(?:trial|study|design|comparison|experiment)')}",
        f"{ELSEWHERE}|{ANIMALS}|{OF_MANY}|{OF_DATA}",
    ),
    _design(
        "randomised trial",
        rf"\b{PEOPLE}\b[^.;]{{0,120}}?\b(?:was|were)\s(?:\w[\w-]{{0,20}}\s){{0,2}}?"
        rf"(?:randomly\s(?:assigned|allocated|divided)|{RANDOMISED})\b"
        r"|\bwe\s(?:then\s)?(?:randomly\s(?:assigned|allocated)|randomi[sz]ed)\b"
        rf"|\b{PEOPLE}\b[^.;]{{0,60}}?\srandomly\s(?:assigned|allocated)\s(?:in|to)\b"
        rf"|\b{PEOPLE}\b[^.;]{{0,60}}?\b(?:received|took|given|underwent)\b[^.;]{{0,100}}?\bin\s(?:an?\s)?random(?:i[sz]ed)?\s"
        r"(?:order|sequence)\b",
        f"{ANIMALS}|{OF_MANY}|{OF_DATA}"
        r"|\b(?:will|would|should|can|could|must) (?:then )?be\b"
        r"|\b(?:not|never|had been|have been|has been) randomi[sz]ed|\bnot randomly\b"
        r"|\bprevious (?:\w+ )?trial\b|\bet al\b",
    ),
    _design(
        "case report",
        r"\bwe (?:report|describe|present)(?: here| herein)? (?:on )?(?:an?|the|one|two|three) (?:\w[\w-]{0,20} ){0,3}?"
        r"(?:cases?\b|\d{1,2}[- ](?:year|month|week|day)s?[- ]old)"
        r"|\b(?:an?|the|one) case (?:of [^.;]{3,80}? )?is (?:reported|described|presented)\b",
        r"\bcase(?:-control| series of \d{2,})|\bcontrols\b",
    ),
    _design("clinical trial", _own(CONTROLLED), f"{ELSEWHERE}|{ANIMALS}|{OF_MANY}|{OF_DATA}"),
    _design(
        "observational study",
        rf"{_own(OBSERVED)}|\bwe retrospectively (?:reviewed|analy[sz]ed|evaluated|studied|identified)\b"
        r"|\bwere retrospectively (?:reviewed|analy[sz]ed|evaluated|studied)\b",
        rf"{ELSEWHERE}|{ANIMALS}|\b(?:studies|reviews|meta-analy\w+|trials|searched)\b",
    ),
)


def stated_design(abstract: str) -> str:
    """The level of evidence of the design that an abstract states of its own study; "" where it states none."""
    if all(part.search(abstract) for part in COCHRANE):
        return "systematic review"
    told = list(_own_sentences(abstract))
    if any(map(PLANNED.search, told)):
        return ""
    for design in DESIGNS:
        if any(design.states.search(text) and not design.denies.search(text) for text in told):
            return design.level
        if design.level == "systematic review" and any(map(_searches, told)):
            return design.level
    return ""


def _searches(text: str) -> bool:
    """Whether a sentence says that two databases or more were searched."""
    return SEARCHED.search(text) is not None and len({m[0].lower() for m in DATABASES.finditer(text)}) > 1


def _own_sentences(abstract: str) -> Iterator[str]:
    """The sentences of an abstract that may state its methods, without the labels of its parts."""
    for line in abstract.split("\n"):
        label = LABEL.match(line)
        if label is not None and NOT_OF_METHODS.search(label[1]):
            continue
        text = line[label.end() :] if label is not None else line
        yield from (s for s in SENTENCE_END.split(text) if len(s) <= LONGEST and CUE.search(s))
