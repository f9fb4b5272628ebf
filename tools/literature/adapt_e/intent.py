"""What a question wants to know, and the place of a term in it (PICO), by rules of ours."""

from __future__ import annotations

import re

from tools.literature.adapt_e.contract import Group, Intent
from tools.medicines.names import medicines_in

# In the order in which they are tried: a question about harm names a treatment too.
SIGNS: tuple[tuple[Intent, str], ...] = (
    (
        Intent.HARM,
        (
            r"side[- ]effects?|adverse|harm|toxic|safe(?:ty|r)?\b|complication"
            r"|risks? (?:of|from|with) (?:taking|using)|interact\w* with|contraindicat|overdose|withdrawal"
        ),
    ),
    (
        Intent.PREVENTION,
        (
            r"prevent|prophyla|vaccin|immuni[sz]ation|screening (?:reduce|lower)|protect|reduce the risk"
            r"|lower the risk"
        ),
    ),
    (
        Intent.DIAGNOSIS,
        (
            r"diagnos|detect|screen|test(?:s|ing)?\b|sensitivity|specificity|biomarker|rule (?:out|in)"
            r"|distinguish|symptom|signs?\b|features?\b|criteria|what could (?:it|this) be|imaging|scan\b"
        ),
    ),
    (
        Intent.TREATMENT,
        (
            r"treat|therap|useful|effective|efficacy|\bhelps?\b|manag(?:e|ing|ement)|dose|dosing|drugs?\b"
            r"|medicine|tablet|surgery|versus|better than|work(?:s|ed)? for|beneficial|trial"
        ),
    ),
    (
        Intent.PROGNOSIS,
        (
            r"prognos|surviv|mortality|outcome|life expectancy|recurren|relapse|how long|progress(?:es|ion)"
            r"|recover"
        ),
    ),
    (
        Intent.AETIOLOGY,
        (
            r"\bcauses?\b|caused|causing|risk factors?|increase[sd]? (?:the )?risk|associat|a?etiolog"
            r"|link(?:ed)? (?:to|with)|inherit|heredit|mutat|responsible for|susceptib"
        ),
    ),
    (
        Intent.MECHANISM,
        (
            r"mechanism|how does|pathway|role of|a role|function|receptor|inhibit|activat|regulat|bind"
            r"|interact|express|encod|signal|target"
        ),
    ),
)
_SIGNS = tuple((intent, re.compile(pattern, re.IGNORECASE)) for intent, pattern in SIGNS)
COMPARED = re.compile(
    r"\b(?:versus|vs\.?|compared (?:with|to)|rather than|instead of|than|or)\s+(?:\w+\s+){0,2}$", re.IGNORECASE
)
OUTCOME = re.compile(
    r"\b(?:risk|mortality|survival|death|recurrence|relapse|quality of life|remission|progression|response|outcome|"
    r"hospitali[sz]ation|readmission|adverse|toxicity|safety|efficacy|complication|weight loss|pain relief|"
    r"healing|cost)",
    re.IGNORECASE,
)
INTERVENTION = re.compile(
    r"(?:therapy|treatment|surgery|vaccin\w*|transplant\w*|inhibitors?|agonists?|blockers?|antibod\w+|supplement\w*|diet|"
    r"exercise|training|ectomy|plasty|stent\w*|screening|rehabilitation|counselling|psychotherapy|radiation|"
    r"intervention|program(?:me)?|cillin|mycin|mabs?|nibs?|prils?|sartans?|statins?|olols?|azoles?|virs?|gliptins?|"
    r"gliflozins?|glutides?|formin|parins?|xabans?|steroids?|solone|sone|insulin|tide)$",
    re.IGNORECASE,
)
PROBLEM = re.compile(
    r"(?:itis|osis|oma|omas|emia|aemia|pathy|algia|syndromes?|diseases?|disorders?|cancers?|tumou?rs?|infections?|"
    r"failure|pain|injur(?:y|ies)|fractures?|deficiency|diabetes|hypertension|stroke|sclerosis|embolism|fever|asthma|"
    r"deaths?|atrophy|dystrophy|epilepsy|patients?|children|adults|women|men|pregnan\w+|infants?|elderly|lupus|copd)$",
    re.IGNORECASE,
)


def intent_of(text: str) -> Intent:
    """What a text wants to know; the question's own sentences are the ones to hand in."""
    return next((intent for intent, sign in _SIGNS if sign.search(text)), Intent.OTHER)


def group_of(term: str, text: str, listed: Group | None = None) -> Group:
    """The place of a term: as a table lists it, or by its form and what stands before it in the text."""
    at = text.lower().find(term.lower())
    if at > 0 and COMPARED.search(text[:at]) and (listed is Group.INTERVENTION or _intervenes(term)):
        return Group.COMPARISON
    if listed is not None:
        return listed
    if OUTCOME.search(term):
        return Group.OUTCOME
    if _intervenes(term):
        return Group.INTERVENTION
    return Group.PROBLEM if PROBLEM.search(term) else Group.OTHER


def _intervenes(term: str) -> bool:
    return INTERVENTION.search(term) is not None or any(not m.everyday for m in medicines_in(term))
