"""Clinical abbreviations and note shorthand, written out before anything is matched.

The table is this project's own. Four kinds of entry: shorthand that is safe in any case (``c/o``), abbreviations
that are only such in capitals (``SOB`` is shortness of breath, ``sob`` is a verb), entries that need a context
(``L`` before a body part), and durations of notes (``3/7`` is three days).
"""

from __future__ import annotations

import re

# ours: read in any letter case
ANY_CASE = {
    "c/o": "complains of", "h/o": "history of", "s/o": "suggestive of", "d/t": "due to", "r/o": "rule out",
    "p/w": "presents with", "b/l": "bilateral", "y/o": "year old", "yo": "year old", "yr": "year", "yrs": "years",
    "hx": "history", "phx": "past history", "pmhx": "past medical history", "fhx": "family history",
    "shx": "social history", "dhx": "drug history", "rx": "treatment", "tx": "treatment", "sx": "symptoms",
    "o/e": "on examination", "w/": "with", "w/o": "without", "abdo": "abdominal", "temp": "temperature",
    "resp": "respiratory", "prev": "previous", "approx": "about", "wt": "weight", "hosp": "hospital",
    "exam": "examination", "meds": "medicines", "jabs": "immunisations", "vaccines": "immunisations",
    "tummy": "abdomen", "belly": "abdomen", "breastbone": "sternum", "wee": "urine", "pee": "urine",
    "phlegmy": "with phlegm", "snot": "nasal discharge", "poo": "stool", "sats": "oxygen saturation",
    "spo2": "oxygen saturation", "cxr": "chest X-ray", "ecg": "ECG", "ekg": "ECG", "msk": "musculoskeletal",
    "occ": "occasional", "assoc": "associated", "bilat": "bilateral", "inc": "increased", "afebrile": "no fever",
    "apyrexial": "no fever", "anicteric": "no jaundice", "normotensive": "no low blood pressure",
}  # fmt: skip

# ours: read only as written here
CAPITALS = {
    "SOB": "shortness of breath", "SOBOE": "shortness of breath on exertion", "DOE": "shortness of breath on exertion",
    "PND": "waking at night short of breath", "CP": "chest pain", "HA": "headache", "N/V": "nausea and vomiting",
    "N&V": "nausea and vomiting", "D&V": "diarrhoea and vomiting", "LOC": "loss of consciousness",
    "LOW": "loss of weight", "LOA": "loss of appetite", "ROM": "range of movement", "PMH": "past medical history",
    "PMHx": "past medical history", "PSH": "past surgical history", "FH": "family history", "FHx": "family history",
    "DH": "drug history", "SH": "social history", "SHx": "social history", "NKDA": "no known drug allergies",
    "NAD": "nothing abnormal", "WNL": "within normal limits", "OE": "on examination", "HPC": "presenting complaint",
    "HPI": "history", "PC": "presenting complaint", "CC": "chief complaint", "HTN": "high blood pressure",
    "DM": "diabetes", "T1DM": "type 1 diabetes", "T2DM": "type 2 diabetes", "T1D": "type 1 diabetes",
    "T2D": "type 2 diabetes", "IHD": "coronary heart disease", "CAD": "coronary artery disease",
    "CHD": "coronary heart disease", "MI": "heart attack", "STEMI": "ST elevation heart attack",
    "NSTEMI": "heart attack without ST elevation", "ACS": "acute coronary syndrome", "CCF": "heart failure",
    "CHF": "heart failure", "HF": "heart failure", "AF": "atrial fibrillation", "SVT": "supraventricular tachycardia",
    "VT": "ventricular tachycardia", "CVA": "stroke", "TIA": "transient ischaemic attack",
    "DVT": "deep vein thrombosis",
    "PE": "pulmonary embolism", "VTE": "venous blood clot", "PVD": "peripheral vascular disease",
    "AAA": "abdominal aortic aneurysm", "COPD": "COPD", "AECOPD": "acute exacerbation of COPD",
    "CAP": "pneumonia", "URTI": "upper respiratory infection", "URI": "upper respiratory infection",
    "LRTI": "chest infection", "TB": "tuberculosis", "OSA": "sleep apnoea", "GERD": "acid reflux disease",
    "GORD": "acid reflux disease", "PUD": "stomach ulcer", "IBS": "irritable bowel syndrome",
    "IBD": "inflammatory bowel disease", "UC": "ulcerative colitis", "CKD": "chronic kidney disease",
    "AKI": "acute kidney injury", "UTI": "urinary infection", "BPH": "enlarged prostate", "STI": "sexual infection",
    "STD": "sexual infection", "HIV": "HIV", "RhA": "rheumatoid arthritis", "OA": "osteoarthritis",
    "SLE": "systemic lupus erythematosus", "LBP": "low back pain", "RUQ": "right upper quadrant",
    "LUQ": "left upper quadrant", "RLQ": "right lower quadrant", "LLQ": "left lower quadrant",
    "RIF": "right iliac fossa", "LIF": "left iliac fossa", "RUQP": "right upper quadrant pain",
    "LMP": "last period", "PV": "vaginal", "PR": "rectal", "BP": "blood pressure", "HR": "heart rate",
    "RR": "respiratory rate", "JVP": "neck veins", "GCS": "coma scale", "AE": "breath sounds", "BS": "breath sounds",
    "SEM": "systolic murmur", "WCC": "white cell count", "WBC": "white cell count", "CRP": "inflammatory marker CRP",
    "ESR": "inflammatory marker ESR", "Hb": "haemoglobin", "MCV": "red cell size", "LFTs": "liver tests",
    "TFTs": "thyroid tests", "U&E": "kidney tests", "BNP": "BNP", "LP": "lumbar puncture", "CSF": "spinal fluid",
    "NSAID": "anti-inflammatory painkiller", "NSAIDs": "anti-inflammatory painkillers",
    "ACEi": "ACE inhibitor", "OCP": "contraceptive pill", "COCP": "contraceptive pill", "HRT": "hormone treatment",
    "PPI": "acid-suppressing medicine", "GTN": "nitroglycerin", "IVDU": "injecting drugs", "EtOH": "alcohol",
    "ETOH": "alcohol", "ED": "emergency department", "GP": "doctor", "ICU": "intensive care", "ITU": "intensive care",
    "URT": "upper respiratory tract", "LN": "lymph nodes", "LNs": "lymph nodes", "LAD": "swollen lymph nodes",
    "BMI": "body mass index", "ADLs": "daily activities", "NBM": "nil by mouth", "MSM": "man who has sex with men",
    "UE": "arm", "LE": "leg", "UL": "arm", "LL": "leg", "BO": "bowels open", "PU": "passing urine",
    "EOM": "eye movements", "ROS": "review of systems", "STs": "sputum tests", "CT": "CT", "MRI": "MRI",
    "AXR": "abdominal X-ray", "USS": "ultrasound", "OGD": "endoscopy", "TFT": "thyroid test", "LFT": "liver test",
}  # fmt: skip

_BODY = (
    r"(?:side|sided|sides|chest|arm|leg|eye|ear|nostril|shoulder|flank|calf|knee|hip|hand|foot|face|temple|jaw|neck|"
    r"lung|base|lower|upper|iliac|groin|testicle|breast|ankle|wrist|elbow|thigh|cheek|loin|hemi|big toe|toe|head)"
)
# ours: (pattern, what it becomes); read in order, before the tables
IN_CONTEXT: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"\b[Ll](?= {_BODY}\b)|\bL(?=-{_BODY})"), "left"),
    (re.compile(rf"\b[Rr](?= {_BODY}\b)|\bR(?=-{_BODY})"), "right"),
    (re.compile(r"\bLt\b"), "left"),
    (re.compile(r"\bRt\b"), "right"),
    (re.compile(r"\b(\d{1,2})/7\b"), r"\1 days"),
    (re.compile(r"\b(\d{1,2})/52\b"), r"\1 weeks"),
    (re.compile(r"\b(\d{1,2})/12\b"), r"\1 months"),
    (re.compile(r"(?<=\d)\s*(?:hrs?|h)\b(?!/)"), " hours"),
    (re.compile(r"(?<=\d)\s*mins?\b"), " minutes"),
    (re.compile(r"\b(?:on|in|breathing)\s+RA\b"), "on air"),
    (re.compile(r"\b(?:no|without)\s+(?:temp|temperature)\b", re.IGNORECASE), "no fever"),
    (re.compile(r"\b(no|got a|have a|had a|running a|got no)\s+(?:temp|temperature)\b", re.IGNORECASE), r"\1 fever"),
    (re.compile(r"\b(?:can[’']?t|can not|could(?:n[’']t| not)|unable to|not able to)\b", re.IGNORECASE), "cannot"),
    (re.compile(r"\b(feel|feels|felt|feeling) faint\b", re.IGNORECASE), r"\1 light-headed"),
    (
        re.compile(
            r"\bfaint(?= (?:\w+ )?(?:rash|redness|spots?|marks?|murmur|smell|lines?|pulses?|wheeze)\b)", re.IGNORECASE
        ),
        "slight",
    ),
    (re.compile(r"\bnon[- ](?:tender|itchy|pruritic|painful|specific) (?=[a-z])", re.IGNORECASE), ""),
    (
        re.compile(
            r"\b(?:(?<=normally )|(?<=usually )|(?<=otherwise )|(?<=generally )|(?<=keep )|(?<=keeps )|(?<=very ))"
            r"fit\b|"
            r"\bfit(?= and (?:well|healthy|active)\b)",
            re.IGNORECASE,
        ),
        "healthy",
    ),
    (re.compile(r"\bPE(?=:)"), "physical examination"),
    (re.compile(r"↑\s*"), "raised "),
    (re.compile(r"↓\s*"), "low "),
    (re.compile(r"(?<![\w?])\+ve\b"), "positive"),
    (re.compile(r"(?<![\w?])-ve\b"), "negative"),
)

_WORD = re.compile(r"(?<![\w/&])(?:[A-Za-z]+[/&][A-Za-z]*|[A-Za-z][A-Za-z0-9]*)(?![\w&])")


def expand(text: str) -> str:
    """The text with its abbreviations written out. Offsets change: keep those of the original beside it."""
    for pattern, replacement in IN_CONTEXT:
        text = pattern.sub(replacement, text)
    return _WORD.sub(_written_out, text)


def _written_out(match: re.Match[str]) -> str:
    word = match[0]
    return CAPITALS.get(word) or ANY_CASE.get(word.lower()) or word
