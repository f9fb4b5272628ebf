"""Whether a message about a patient asks what a treatment, test or screening does: that is answered by evidence.

``My father is 72 and has AF. Would a blood thinner prevent a stroke?`` asks of anticoagulants; the father is context.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphs.triage import lexicon, questions
from tools.medicines.names import medicines_in

# What is done to a patient, named; "treatment", "medicine" and "test" alone name nothing. Ours.
NAMED = re.compile(
    r"\b(?:antibiotics?|antivirals?|antihistamines?|steroids?|oxygen|vaccin\w+|immuni[sz]ation|jabs?|boosters?|"
    r"screening|mammogra\w+|x-?rays?|mri|ct|ctpa|ultrasound|endoscopy|colonoscopy|biops\w+|scans?|psa|d-dimer|"
    r"surgery|operations?|stents?|physio\w*|exercise\w*|diets?|vitamins?|supplements?|inhalers?|nebuli[sz]ers?|"
    r"painkillers?|acupuncture|counselling|cbt|psychotherapy|emollients?|probiotics?|nasal sprays?|nose sprays?)\b",
    re.IGNORECASE,
)
# What it is hoped or feared to do. Ours.
EFFECT = re.compile(
    r"\b(?:help\w*|prevent\w*|reduc\w+|lower(?:s|ing)? (?:my|his|her|their|the|our)|shorten\w*|speed\w*|quicker|sooner|"
    r"faster|worth|worthwhile|"
    r"benefi\w+|protect\w*|save|pick up|detect|justif\w+|outweigh\w*|better (?:than|off)|as (?:good|well|effective) as|"
    r"effective\w*|safe|safely|harm\w*|any good|cure|stop|improve\w*|enough to|necessary|"
    r"make (?:it|them|him|her|me|any)|"
    r"do (?:him|her|me|us|them|any|more)|side effects?)\b",
    re.IGNORECASE,
)
# What asks for a diagnosis or for what to do now, whatever else is named. Ours.
DIAGNOSIS = re.compile(
    r"\b(?:what(?:'s| is| are| could| might| else)? (?:it|this|wrong|causing|going on|happening|the (?:cause|diagnosis|"
    r"problem|matter|next step))|(?:could|can|might|is) (?:it|this|that) (?:be|an?|serious|something)|diagnos\w+|"
    r"next step|"
    r"what (?:should|shall|do|can) (?:i|we|he|she) do|why (?:do|does|am|is|are|have|has))\b",
    re.IGNORECASE,
)


def asks_effect(text: str, told: Sequence[str]) -> bool:
    """Whether the message asks what a named treatment, test or screening does, rather than what somebody has.

    Beside a complaint that is told (``told``: what the message states) the question must ask for an effect; without
    one a closed question about the intervention is enough.
    """
    asked = [s for s in questions.parts(text) if questions.is_question(s)]
    if not asked or any(DIAGNOSIS.search(s) for s in asked):
        return False
    about = [s for s in asked if NAMED.search(s) or medicines_in(s)]
    if any(EFFECT.search(s) for s in about):
        return True
    complaint = any(lexicon.SYMPTOM.search(part) for part in told)
    return not complaint and any(questions.is_closed(s) for s in about)
