"""Which discipline a sentence on treatment belongs to: by its words, the medicines that it names among them."""

from __future__ import annotations

import re

from prompts.report import Discipline
from tools.medicines.names import medicines_in

# Words of each discipline; all ours.
WORDS: tuple[tuple[Discipline, re.Pattern[str]], ...] = (
    (
        "medicines",
        re.compile(
            r"\b(?:drugs?|medicines?|medication|tablets?|capsules?|antibiotics?|antivirals?|antifungals?|steroids?|"
            r"painkillers?|analgesics?|antihistamines?|diuretics?|anticoagulants?|opioids?|inhalers?|inhaled|injections?|"
            r"injected|intravenous|infusions?|vaccines?|doses?|mg|creams?|ointments?|drops|sprays?|chemotherapy|insulin|"
            r"\w+(?:cillin|mycin|prazole|statin|sartan|olol|azole|triptan))\b|药|抗生素|激素|剂量|注射|口服|胰岛素|疫苗",
            re.IGNORECASE,
        ),
    ),
    (
        "procedures",
        re.compile(
            r"\b(?:surg\w+|operat(?:ion|ed|ive)\w*|drains?|drainage|aspiration|punctures?|stents?|bypass|catheters?|"
            r"\w+ectomy|\w+otomy|\w+oscop\w+|angioplasty|ablation|pacemakers?|intubat\w+|ventilat\w+|transfus\w+|dialysis|"
            r"excision|incision|repair(?:ed)?|sutur\w+|splints?|casts?|manoeuvres?|maneuvers?|oxygen|CPAP|radiotherapy|"
            r"plasma exchange|defibrillat\w+)\b|手术|引流|穿刺|支架|切除|置管|输血|透析|吸氧|氧疗|通气|放疗",
            re.IGNORECASE,
        ),
    ),
    (
        "physiotherapy",
        re.compile(
            r"\b(?:physiotherap\w+|physical therap\w+|exercises?|rehabilitation|stretch\w*|mobilis\w+|mobiliz\w+|"
            r"posture|breathing techniques?|occupational therap\w+)\b|物理治疗|康复|锻炼|训练",
            re.IGNORECASE,
        ),
    ),
    (
        "psychology",
        re.compile(
            r"\b(?:psycho\w+|counsel\w+|cognitive|behaviou?ral|talking therap\w+|mindfulness|relaxation|reassur\w+)\b|"
            r"心理|认知|咨询",
            re.IGNORECASE,
        ),
    ),
    (
        "self_care",
        re.compile(
            r"\b(?:rest(?:ing)?|fluids?|drink\w*|diet\w*|meals?|weight|smok\w+|alcohol|caffeine|avoid\w*|sleep\w*|"
            r"honey|hygiene|lifestyle|bed|ice|warmth|heat|elevat\w+|self-care|at home)\b|"
            r"休息|饮食|饮水|戒烟|戒酒|体重|避免|睡眠",
            re.IGNORECASE,
        ),
    ),
)


def discipline_of(sentence: str) -> Discipline:
    """The discipline with most words in a sentence, of several the one named first; ``general`` without any."""
    found = {name: [(m[0].lower(), m.start()) for m in words.finditer(sentence)] for name, words in WORDS}
    found["medicines"] += [(m.written.lower(), m.start) for m in medicines_in(sentence) if not m.everyday]
    said = {name: places for name, places in found.items() if places}
    if not said:
        return "general"
    return max(said, key=lambda name: (len({w for w, _ in said[name]}), -min(at for _, at in said[name])))
