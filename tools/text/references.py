"""Publications that a text names: ids and links, authors with a year, journals with a year, trials.

A language model is given documents by number and cites these; a publication that it names in its own words was never
looked up. What it writes is held to this wherever it is shown: direct answers, statements, generated background.
"""

from __future__ import annotations

import re

# A year: four figures that measure and count nothing.
YEAR = (
    r"(?:19|20)\d\d[a-z]?\b(?!\s?(?:mg|mcg|[µμ]g|g|kg|ml|l|mm|cm|m|units?|iu|kcal|calories|steps|per|times|years|of"
    r"|people|patients|children|adults|women|men|infants|cases|births|deaths|participants)\b|\s?%|/|[.,]\d)"
)
NAME = r"[A-ZÀ-Þ][a-zß-ÿ]+(?:['’-]?[A-ZÀ-Þ]?[a-zß-ÿ]+)*"
# Capitalised words before a year that name no author; ours.
NO_AUTHOR = (
    r"(?!(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun"
    r"|Jul|Aug|Sept?|Oct|Nov|Dec|Spring|Summer|Autumn|Fall|Winter|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday"
    r"|Sunday|In|Since|By|From|Before|After|Until|During|Around|About|Of|To|The|As|At|On|For|Between|Year|Version|Olympics"
    r"|Age|Only|Over|Under|Nearly|Almost|Some|Covid)\b)"
)
# Capitals before a year that name no journal, society or trial; ours.
NO_TITLE = r"(?!(?:COVID|SARS|MERS|HIV|AIDS|AD|BC|CE|UTC|USA|UK|EU|NHS|ICD)\b)"
# Capitals before "trial" or "study" that name a kind of examination; ours.
NO_TRIAL = r"(?!(?:MRI|PET|EEG|ECG|EKG|EMG|CTPA|MRA|MRCP|ERCP|DXA|DEXA|PCR|HIV|RCT|DNA|RNA|COPD|GERD)\b)"
JOURNALS = (
    r"N(?:ew)?\.? Engl(?:and|\.)? J(?:ournal|\.)?(?: of)? Med(?:icine|\.)?|NEJM|JAMA|BMJ|PLoS \w+|[Tt]he Lancet|Lancet"
    r"|Ann(?:als|\.)?(?: of)? Intern(?:al|\.)? Med(?:icine|\.)?|British Medical Journal|Nature Medicine"
    r"|Cochrane (?:Database|[Rr]eview|Library)|Journal of (?:the )?[A-Z]\w+"
)
REFERENCE = re.compile(
    rf"""
    \bPMID\b | \bPMC\ ?\d+ | \b(?i:doi)\b | \b10\.\d{{4,}}/\S+ | (?i:https?://\S+) | \b(?i:www)\.\S+ | \barXiv\b
    | \bNCT\ ?\d{{8}}\b | \bISRCTN\ ?\d+
    | \b{NAME}(?:,?\ [A-Z]{{1,3}})?,?\ et\ al\b\.? | \bet\ al\b\.?
    | \b{NO_AUTHOR}{NAME}(?:,?\ (?:and|&)\ {NAME}|,?\ (?:and\ )?colleagues)?,?\ [(\[]?{YEAR}
    | \b{NAME}\ and\ (?:colleagues|co-?workers)\b
    | \b{NO_TITLE}[A-Z][A-Z0-9/-]*[A-Z][A-Z0-9-]*,?\ [(\[]?{YEAR}
    | \b(?:{JOURNALS})\b
    | (?<!\ban\ )(?<!\ba\ )\b{NO_TRIAL}[A-Z][A-Z0-9]*[A-Z][A-Z0-9-]+\ (?:trial|study)\b
    | \b(?:[Aa]n?|[Tt]he|[Oo]ne)\ {YEAR}\ (?:[\w-]+\ ){{0,3}}?(?:trial|study|meta-analysis|review|paper|analysis)\b
    | \b{YEAR}\s?;\s?\d+\s?[(:]
    | [\u4e00-\u9fffA-Z][\u4e00-\u9fffA-Za-z]{{0,11}}等人?(?:的研究|报道|报告|发现)?\s?[（(]\s?{YEAR}
    | 《[^》]{{2,30}}》\s?[（(，,]?\s?{YEAR}
    """,
    re.VERBOSE,
)


def references_in(text: str) -> list[str]:
    """What a text names of publications, as written, in order; empty where it names none."""
    return list(dict.fromkeys(m[0].strip(" ([") for m in REFERENCE.finditer(text)))
