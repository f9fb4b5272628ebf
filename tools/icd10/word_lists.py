"""The lists that `words` reads names of diseases by; all are ours."""

from __future__ import annotations

import re

# ours: words that mean the same in names of diseases; the first of a row stands for all
SAME = (
    "kidney renal nephric nephrotic",
    "liver hepatic",
    "lung pulmonary",
    "heart cardiac",
    "stomach gastric",
    "brain cerebral",
    "skin cutaneous dermal",
    "uterus uterine womb",
    "ovary ovarian",
    "pancreas pancreatic",
    "prostate prostatic",
    "esophagus esophageal gullet",
    "colon colonic",
    "rectum rectal",
    "vagina vaginal",
    "testis testes testicular testicle",
    "thyroid thyroidal",
    "adrenal suprarenal",
    "spleen splenic",
    "eye ocular ophthalmic",
    "vein venous",
    "artery arterial",
    "vessel vascular",
    "bone osseous",
    "muscle muscular",
    "intestine intestinal bowel enteric",
    "aorta aortic",
    "bladder vesical",
    "larynx laryngeal",
    "pharynx pharyngeal",
    "bronchus bronchial bronchi",
    "trachea tracheal",
    "nose nasal",
    "breast mammary",
    "bile biliary",
    "lymph lymphatic",
    "calculus calculi stone stones lithiasis",
    "hemorrhage bleeding bleed hemorrhagic",
    "thrombosis clot thrombus thrombotic",
    "embolism embolus thromboembolism emboli",
    "fracture fractured broken",
    "rupture ruptured",
    "perforation perforated",
    "infection infected infectious",
    "inflammation inflammatory inflamed",
    "obstruction obstructive obstructed",
    "infarction infarct",
    "ischemia ischemic",
    "failure insufficiency",
    "neoplasm tumor neoplastic growth",
    "malignant malignancy cancerous",
    "enlargement enlarged enlarge",
    "hyperplasia hypertrophy",
    "dislocation dislocated",
    "hernia herniation herniated herniate",
    "displacement displaced slipped prolapsed",
    "torsion twisted",
    "poisoning intoxication toxicity overdose",
    "deficiency deficient",
    "congenital inborn",
    "virus viral",
    "bacteria bacterial",
    "diabetes diabetic",
    "allergy allergic",
    "epilepsy epileptic",
    "depression depressive",
    "anxiety anxious",
    "alcohol alcoholic",
    "pregnancy gestation gestational",
    "newborn neonatal neonate neonatorum",
    "ulcer ulcerative ulcerated",
    "psychosis psychotic",
    "seizure seizures convulsion convulsions",
    "lymphoblastic lymphoid",
    "myelogenous myeloid myeloblastic",
    "difficile difficil",
)
# ours: forms written together or apart, and compounds that ICD-10 names by their parts
REWRITTEN = tuple(
    (re.compile(rf"\b(?:{said})\b"), meant)
    for said, meant in (
        (r"(?:adeno|squamous cell )?carcinomas?|cancers?", "malignant neoplasm"),
        (r"osteoarthrosis", "osteoarthritis"),
        (r"nephrolithiasis|nephrolith", "calculus of kidney"),
        (r"urolithiasis", "urinary calculus"),
        (r"cholelithiasis|gallstones?", "gallbladder calculus"),
        (r"high blood pressure", "hypertension"),
        (r"heart attack", "myocardial infarction"),
        (
            r"dis[ck] (?:herniation|prolapse|protrusion)|(?:herniated|prolapsed) dis[ck]",
            "intervertebral disc displacement",
        ),
        (r"gastro ?intestinal", "gastrointestinal"),
        (r"gastro ?esophageal", "gastroesophageal"),
        (r"c difficile|c diff|clostridioides", "clostridium difficile"),
        (r"e coli", "escherichia coli"),
        (r"staph", "staphylococcus"),
        (r"strep", "streptococcus"),
        (r"hiv", "human immunodeficiency virus"),
        (r"b cell", "bcell"),
        (r"t cell", "tcell"),
        (r"non hodgkin(?:s)?", "nonhodgkin"),
        (r"non small", "nonsmall"),
        (r"type ii", "type 2"),
        (r"type i", "type 1"),
        (r"type iii", "type 3"),
        (r"(hepatitis|influenza|hemophilia|vitamin|group|type) ([a-e])", r"\1 kind\2"),
    )
)
SPELT = tuple(
    (re.compile(said), meant)
    for said, meant in (
        (r"ae(?!r)", "e"),
        (r"oe(?=[dmstnlca])", "e"),
        (r"(?<=[a-z])our\b", "or"),
        (r"(?<=[a-z])ours\b", "ors"),
        (r"(?<=[a-z])is(?=ed\b|ing\b|ation\b|e\b)", "iz"),
    )
)
LIGHT_WORDS = (
    "unspecified other specified nos nec elsewhere classified classifiable site sites organism cause part "
    "parts not without "
    "left right bilateral unilateral side sided acquired initial encounter mild moderate severe single multiple "
    "primary idiopathic unqualified simple uncomplicated complication complications stage grade nature form "
    "state status "
    "type episode current generalized localized essential common classical classic typical attack flare exacerbation "
    "active spontaneous benign due caused secondary following mellitus female male"
).split()
PLAIN_WORDS = (
    "disease disorder syndrome condition illness problem process acute malignant infection virus bacteria".split()
)
# ours: ends of one scale, in stems; a name with one end is never that of a phrase with the other
OPPOSITE = (
    ("acut subacut", "chronic"),
    ("1", "2"),
    ("2", "3"),
    ("1", "3"),
    ("malignant", "benign"),
    ("primari", "secondari"),
    ("congenit", "acquir"),
    ("upper", "lower"),
    ("anterior", "posterior"),
    ("high hyper", "low hypo"),
    ("kinda", "kindb kindc kindd kinde"),
    ("kindb", "kindc kindd kinde"),
    ("matern", "newborn"),
)
OPPOSITE_ZH = (
    ("急", "慢"), ("1", "2"), ("良", "恶"), ("亢", "减"), ("高", "低"), ("上", "下"), ("前", "后"), ("甲", "乙"),
    ("甲", "丙"), ("乙", "丙"), ("男", "女"), ("大", "小"),
)  # fmt: skip
ZH_SAME = (
    ("综合症", "综合征"), ("梗塞", "梗死"), ("返流", "反流"), ("机能", "功能"), ("癫癎", "癫痫"),
    ("癫痫病", "癫痫"), ("浮肿", "水肿"), ("机能亢进", "功能亢进"), ("低下", "减退"), ("二型", "2型"),
    ("一型", "1型"), ("非胰岛素依赖型", "2型"), ("胰岛素依赖型", "1型"), ("II型", "2型"), ("Ⅱ型", "2型"),
    ("I型", "1型"), ("Ⅰ型", "1型"), ("恶性肿瘤", "癌"), ("艾滋病", "人类免疫缺陷病毒病"),
    ("HIV", "人类免疫缺陷病毒"), ("关节病", "关节炎"), ("结石病", "结石"), ("增生症", "增生"), ("扩张症", "扩张"),
    ("病毒性感冒", "病毒感冒"), ("卒中", "中风"),
)  # fmt: skip
# ours: what makes a disease another one, with a chapter or block of its own
OF_ITS_OWN = re.compile(
    r"congenital|newborn|pregnan|childbirth|puerper|maternal|fetus|in situ|sequela|postprocedural|"
    r"juvenile|histor(?=y)|screening|exposure|abnormal|elevated|chronic|"
    r"原位|先天|新生儿|妊娠|产褥|后遗|个人史|胎儿|继发|异常|慢性|癌|瘤|中毒|结核|麻风|骨折|旁腺",
    re.IGNORECASE,
)
# ours: names of every disease of a part, or of a substance: the part or the substance alone is none
OF_A_PART = re.compile(
    r"^(?:other |unspecified )?(?:diseases?|disorders?|conditions?|problems?) (?:of|in)\b|related (?:disorder|"
    r"condition)|"
    r"(?:disorder|disease)s?, unspecified$|^[^ ]+ (?:disorder|disease)s?$",
    re.IGNORECASE,
)
GENERIC = re.compile(r"\b(?:disease|disorder|condition|problem|syndrome)", re.IGNORECASE)
EPONYM = re.compile(r"^[A-Z][\w-]+(?:'s?|’s?) |^[A-Z]\w+ disease$")
