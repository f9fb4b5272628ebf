"""The kinds of information that a case should state, how each is recognised, and how much it weighs. All ours."""

from __future__ import annotations

import re
from typing import NamedTuple

from tools.text.demographics import Person, read_person
from tools.text.language import language_of


class Kind(NamedTuple):
    """A kind of information: its name for programs, in words, its weight, and how a text states it."""

    name: str
    en: str
    zh: str
    weight: float
    pattern: re.Pattern[str]


def _kind(name: str, en: str, zh: str, weight: float, pattern: str) -> Kind:
    return Kind(name, en, zh, weight, re.compile(pattern, re.IGNORECASE))


NUMBER = (
    r"(?:\d+(?:\.\d)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|several|few|couple of|"
    r"half an?)"
)
UNIT = r"(?:seconds?|secs?|minutes?|mins?|hours?|h|hrs?|days?|nights?|weeks?|months?|years?|yrs?|fortnights?)"
COMPLAINT = (
    r"\b(?:pain\w*|\w*aches?|aching|hurts?|sore\w*|cough\w*|fever\w*|rash\w*|itch\w*|swell\w*|swollen|lumps?|"
    r"bleed\w*|blood\w*|"
    r"nause\w*|vomit\w*|sick|diarrh?o?ea|constipat\w*|dizz\w*|faint\w*|tired\w*|fatigue\w*|weak\w*|numb\w*|tingl\w*|"
    r"breathless\w*|breath\w*|wheez\w*|sob|palpitations?|pounding|racing|sweat\w*|shiver\w*|cramp\w*|burning|"
    r"heartburn|hoarse\w*|"
    r"phlegm|sputum|runny|blocked|sneez\w*|droop\w*|tremor\w*|trembl\w*|shak\w*|seizures?|fits?|confus\w*|"
    r"jaundice\w*|yellow|"
    r"ulcers?|hives|stiff\w*|anxi\w*|panic\w*|terrified|low mood|depress\w*|tightness|tight|pressure|double vision|"
    r"voice|"
    r"twist\w*|unwell|ill|oedema|edema|dyspn\w*|\w+algia|\w+itis|stridor|noise|heartbeat|weight|wt|hearing|vision)\b|"
    r"痛|疼|咳|发烧|发热|疹|痒|肿|血|恶心|呕|吐|腹泻|便秘|晕|乏力|无力|麻|气短|气促|喘|呼吸|心慌|心悸|汗|抽|鼻涕|"
    r"鼻塞|喷嚏|嘶哑|黄|消瘦|焦虑|不适|难受|胀|闷|反酸|烧心|苍白"
)
SITE = (
    r"\b(?:head|face|facial|cheeks?|jaw|eyes?|eyelids?|ears?|eardrum|nose|nostril|nasal|mouth|tongue|lips?|throat|"
    r"tonsils?|neck|"
    r"chest|breastbone|retrosternal|central|heart|lungs?|bas(?:e|al)|ribs?|back|shoulder|spine|abdom\w+|tummy|"
    r"stomach|belly|groin|"
    r"pelvi\w+|scrotum|testic\w+|arms?|hands?|fingers?|palms?|wrists?|elbows?|legs?|feet|foot|toes|soles|knees?|"
    r"hips?|calf|calves|"
    r"ankles?|shins?|skin|trunk|joints?|muscles?|left|right|bilateral\w*|both sides|all over|generalised|"
    r"epigastr\w+|voice)\b|"
    r"头|脸|面|眼|耳|鼻|口|嘴|舌|喉|咽|颈|脖|胸|心前区|肺|背|腰|腹|肚|胃|臂|手|腿|脚|膝|踝|关节|皮肤|全身|左|右|双侧"
)
ONSET = (
    r"\b(?:sudden\w*|all of a sudden|abrupt\w*|gradual\w*|slowly|insidious|came (?:on|up|out)|began|beg[iu]n\w*|"
    r"start(?:s|ed|ing)|"
    r"onset|out of nowhere|woke|since|ago|last night|yesterday|this morning|first (?:noticed|felt)|"
    r"noticed|came over|after|followed|new|initially|on (?:mon|tues|wednes|thurs|fri|satur|sun)day)\b|"
    r"突然|忽然|逐渐|渐渐|慢慢|开始|起病|今天|昨天|昨晚|今早|早上|以来|(?<![心胸眼腹])前"
)
DURATION = (
    rf"\b{NUMBER}[ -]{UNIT}\b|\b\d+ ?/(?:7|52|12)\b|\b(?:for|over|past|last|this) (?:the )?(?:past |last |"
    rf"best part of )?(?:{NUMBER} )?"
    rf"(?:or \w+ )?{UNIT}\b|\bsince\b|\bfor (?:ages|months|weeks|days|years|hours)\b|\b(?:yesterday|last night)\b|"
    r"[一二两三四五六七八九十几半\d]+ ?个?多?(?:秒|分钟|小时|天|日|周|星期|月|年)|昨天|今早|今天早上"
)
COURSE = (
    r"\b(?:worse\w*|worsening|better|improv\w+|settled|comes? and goes?|constant\w*|persist\w+|intermittent\w*|"
    r"progressive\w*|increas\w+|"
    r"episodes?|attacks?|bouts?|recurr\w+|every (?:day|night|morning|evening|time|few|may|year)|nightly|daily|"
    r"gets?|relie\w+|"
    r"eas(?:e|es|ed|ing)|helps?|goes off|gone|still|spread\w*|unchanged|fluctuat\w+|(?:no|never) (?:better|worse)|"
    r"times?|third|"
    r"fourth|again|more (?:often|and more)|peak\w*|continues?|now|at first|resolved|comes on|when(?:ever)?|exertion)\b|"
    r"加重|减轻|缓解|好转|恶化|持续|反复|间断|阵发|越来越|有时|每天|每次|(?<![小同平])时"
)
HISTORY = (
    r"\b(?:PMHx?|PMH|history|hx|known|previous\w*|diagnos\w+|on (?:allopurinol|the pill|\w+(?:pril|statin|olol|"
    r"sartan|ine|one|in))|takes?|"
    r"taking|tablets?|medicines?|medication\w*|inhalers?|antibiotics|antacids|paracetamol|ibuprofen|allerg\w+|"
    r"smok\w+|ex-smoker|"
    r"non-smoker|pack-years|drinks?|drinker|alcohol|family|brother|sister|mother|mum|father|dad|uncle|aunt|surgery|"
    r"operation|"
    r"vaccin\w+|immuni[sz]\w+|jabs?|diabet\w+|T[12]DM|HTN|asthma\w*|high blood pressure|cholesterol|works?|teacher|"
    r"driver|builder|"
    r"travel\w*|holiday|flew|abroad|pregnan\w*|partners?|never smoked|eczema|hay fever|measles|lifelong|the pill|"
    r"ago we)\b|"
    r"既往|病史|吃药|服用|药|过敏|吸烟|抽烟|喝酒|饮酒|家族|手术|高血压|糖尿病|怀孕|从事|旅行|接种|父|母"
)
TESTS = (
    r"\b(?:O/E|on examination|BP|HR|RR|SpO2|sats?|T ?3\d|temp\w*|3[6-9]\.\d|ECG|EKG|heart tracing|CXR|X-?ray|CT|"
    r"MRI|echo|"
    r"ultrasound|blood tests?|bloods|troponin|CRP|WCC|Hb|D-dimer|swab|scan|biopsy|spirometry|FEV1|peak flow|"
    r"chest clear|"
    r"lungs clear|crackles|creps|murmur|tender\w*|percussion|reflexes|exam\w*|afebrile|pulse|tested|urine dip|negative|"
    r"positive|blood sugar|looked at|doctor (?:said|saw|did)|GP)\b|体温|血压|心率|血氧|心电图|胸片|"
    r"(?<![A-Za-z])CT(?![A-Za-z])|化验|血常规|"
    r"检查|查体|听诊|超声|核磁|阴性|阳性|(?<=\d)度"
)

# ours: most useful first where several are missing; the weights sum to 1
KINDS = (
    _kind("complaint", "the main complaint", "主要症状", 0.20, COMPLAINT),
    _kind("duration", "how long it has lasted", "持续时间", 0.11, DURATION),
    _kind("site", "where it is", "部位", 0.09, SITE),
    _kind("onset", "how it began", "起病方式", 0.09, ONSET),
    _kind("associated", "other symptoms that came with it", "伴随症状", 0.13, COMPLAINT),
    _kind("negatives", "symptoms that are absent", "没有的症状", 0.10, r"$^"),
    _kind("course", "how it has changed and what makes it better or worse", "病情变化及加重缓解因素", 0.09, COURSE),
    _kind("person", "age and sex", "年龄和性别", 0.07, r"$^"),
    _kind("history", "past illnesses, medicines and exposures", "既往史、用药和接触史", 0.06, HISTORY),
    _kind("tests", "measurements, examination and tests", "体征和检查结果", 0.06, TESTS),
)
SEVERAL = 3  # distinct complaints or findings from which accompanying symptoms count in full; ours
DENIALS = 2  # denied clauses from which negatives count in full; ours


class Coverage(NamedTuple):
    """How far each kind of information is stated (0..1), and the weighted sum."""

    stated: dict[str, float]
    total: float


def coverage(text: str, present: int, denied: int) -> Coverage:
    """What a case states.

    Args:
        text: the case.
        present: distinct findings stated present, as far as anyone counted them.
        denied: distinct findings or clauses stated absent.
    """
    stated = {kind.name: float(kind.pattern.search(text) is not None) for kind in KINDS}
    complaints = len({m[0].lower() for m in KINDS[0].pattern.finditer(text)})
    stated["associated"] = _share(max(complaints, present) - 1, SEVERAL - 1)
    stated["negatives"] = _share(denied, DENIALS)
    stated["person"] = _person(read_person(text))
    return Coverage(stated, sum(kind.weight * stated[kind.name] for kind in KINDS))


def _share(count: int, full: int) -> float:
    return min(1.0, max(0, count) / full)


def _person(person: Person) -> float:
    return ((person.age is not None) + (person.sex is not None)) / 2


def missing(stated: dict[str, float], text: str) -> tuple[str, ...]:
    """What the case does not state, in words, most useful first."""
    chinese = language_of(text) == "zh"
    return tuple(kind.zh if chinese else kind.en for kind in KINDS if stated[kind.name] == 0)
