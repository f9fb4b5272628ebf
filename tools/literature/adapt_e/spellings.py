"""Forms of one word or phrase that mean the same: plural, British and American spelling, hyphens. Rules of ours."""

from __future__ import annotations

import re

from tools.contract import unique

# British -> American, on whole words; each is tried in both directions.
PAIRS = (
    (r"aemi", "emi"), (r"\bhaem", "hem"), (r"tumour", "tumor"), (r"\boesoph", "esoph"), (r"oedema", "edema"),
    (r"\boestr", "estr"), (r"diarrhoea", "diarrhea"), (r"\bfoet", "fet"), (r"\bpaed", "ped"),
    (r"orthopaed", "orthoped"),
    (r"\banaes", "anes"), (r"\bleuk?aemia", "leukemia"), (r"pnoea", "pnea"), (r"rrhoea", "rrhea"), (r"caecum", "cecum"),
    (r"coeliac", "celiac"), (r"\bgynaec", "gynec"), (r"\bsulph", "sulf"), (r"behaviour", "behavior"),
    (r"colour", "color"),
    (r"fibre", "fiber"), (r"isation\b", "ization"), (r"ageing", "aging"),
    (r"signalling", "signaling"), (r"modelling", "modeling"), (r"neurone\b", "neuron"), (r"aetiolog", "etiolog"),
    (r"ischaem", "ischem"), (r"\bfaec", "fec"), (r"labour", "labor"), (r"paralys(?=e)", "paralyz"),
)  # fmt: skip
_BRITISH = tuple((re.compile(british, re.IGNORECASE), american) for british, american in PAIRS)
_AMERICAN = tuple(
    (re.compile(_american, re.IGNORECASE), _plain)
    for _american, _plain in (
        (r"(?<=n)emia", "aemia"), (r"(?<=k)emia", "aemia"), (r"(?<=c)emia", "aemia"), (r"(?<=x)emia", "aemia"),
        (r"\bhem(?=at|o)", "haem"), (r"tumor\b", "tumour"), (r"tumors\b", "tumours"), (r"\besoph", "oesoph"),
        (r"\bedema", "oedema"), (r"\bestro", "oestro"), (r"diarrhea", "diarrhoea"), (r"\bfet(?=us|al)", "foet"),
        (r"\bpediatr", "paediatr"), (r"\banesth", "anaesth"), (r"pnea\b", "pnoea"), (r"\bceliac", "coeliac"),
        (r"ization\b", "isation"), (r"\baging", "ageing"), (r"signaling", "signalling"), (r"ischemi", "ischaemi"),
        (r"behavior", "behaviour"), (r"\betiolog", "aetiolog"), (r"fiber", "fibre"),
    )
)  # fmt: skip
UNCHANGED = re.compile(r"(?:ss|us|is|as|os|itis|osis|sis|ics|species|series|diabetes|herpes|rabies|scabies)$")
CODE = re.compile(r"^([a-z]{1,8})-?(\d{1,4}[a-z]?)$", re.IGNORECASE)
PLURALS = (  # singular ending, plural ending; the first that fits
    ("itis", "itides"), ("sis", "ses"), ("xis", "xes"), ("ium", "ia"), ("oma", "omas"), ("oma", "omata"),
    ("y", "ies"), ("ch", "ches"), ("sh", "shes"), ("x", "xes"), ("ss", "sses"),
)  # fmt: skip


def spellings(phrase: str) -> list[str]:
    """The phrase first, then its other forms, at most six; words keep their order."""
    forms = [phrase]
    for form in (american(phrase), british(phrase)):
        forms += [form, _with_last(form, other_number(form.split()[-1]))] if form.split() else []
    forms += [re.sub(r"\s*-\s*", " ", phrase)] if "-" in phrase else []
    if code := CODE.match(phrase):
        forms += [f"{code[1]}{code[2]}", f"{code[1]}-{code[2]}"]
    return [f for f in unique(f.lower() if f.lower() != phrase.lower() else phrase for f in forms) if f][:6]


def american(phrase: str) -> str:
    """The phrase as an American journal spells it."""
    for pattern, other in _BRITISH:
        phrase = pattern.sub(other, phrase)
    return phrase


def british(phrase: str) -> str:
    """The phrase as a British journal spells it."""
    for pattern, other in _AMERICAN:
        phrase = pattern.sub(other, phrase)
    return phrase


def other_number(word: str) -> str:
    """The plural of a singular and the singular of a plural; the word itself where neither is safe to make."""
    low = word.lower()
    if len(low) < 4 or not low.isalpha():
        return word
    if (stem := singular(low)) != low:
        return stem
    for one, many in PLURALS:
        if low.endswith(one) and not (one == "y" and low[-2] in "aeiou"):
            return low.removesuffix(one) + many
    return low if UNCHANGED.search(low) else f"{low}s"


def singular(word: str) -> str:
    """The singular of a plural noun, else the word."""
    low = word.lower()
    for many, one in (
        ("ies", "y"),
        ("itides", "itis"),
        ("omata", "oma"),
        ("oses", "osis"),
        ("ases", "ase"),
        ("xes", "x"),
        ("ches", "ch"),
        ("sses", "ss"),
    ):
        if low.endswith(many) and len(low) > len(many) + 2 and not UNCHANGED.search(low):
            return low.removesuffix(many) + one
    return low[:-1] if low.endswith("s") and len(low) > 3 and not UNCHANGED.search(low) else low


def _with_last(phrase: str, last: str) -> str:
    return " ".join([*phrase.split()[:-1], last])
