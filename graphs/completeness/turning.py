"""The unit on which the decision turns, and the question that would supply what is missing."""

from __future__ import annotations

import math
from collections.abc import Sequence

from graphs.completeness.calibrated import CalibratedModel
from graphs.completeness.contract import Decision, Label, Turning, Unit
from graphs.completeness.features import LEAST, CaseFeatures, support
from graphs.completeness.score import GateSettings, decide, information_score
from tools.contract import Differential, Finding
from tools.text.language import language_of

# ours: what is asked where the graph has no question, by kind of information
ASKED = {
    "en": {
        "the main complaint": "What troubles you most?",
        "how long it has lasted": "How long has it lasted?",
        "where it is": "Where exactly is it?",
        "how it began": "How did it begin: suddenly or slowly?",
        "other symptoms that came with it": "What other symptoms came with it?",
        "symptoms that are absent": "Which symptoms do you not have: fever, pain, breathlessness?",
        "how it has changed and what makes it better or worse": "What makes it better or worse? How has it changed?",
        "age and sex": "How old are you, and what is your sex?",
        "past illnesses, medicines and exposures": "Which illnesses have you had, and which medicines do you take?",
        "measurements, examination and tests": "Was anything measured, examined or tested, and with what result?",
    },
    "zh": {
        "主要症状": "最难受的是什么？",
        "持续时间": "持续多久了？",
        "部位": "具体在什么部位？",
        "起病方式": "是突然开始的，还是慢慢出现的？",
        "伴随症状": "还有哪些其他症状？",
        "没有的症状": "哪些症状没有，例如发热、疼痛、气短？",
        "病情变化及加重缓解因素": "病情怎样变化？什么会使它加重或缓解？",
        "年龄和性别": "您的年龄和性别是？",
        "既往史、用药和接触史": "以前得过什么病？正在用什么药？",
        "体征和检查结果": "做过哪些测量或检查？结果如何？",
    },
}


def next_question(text: str, missing: Sequence[str], first_look: Differential | None) -> str:
    """The graph's best question, else one about the first kind of information that is missing; "" where nothing is."""
    if first_look is not None and first_look.questions:
        return first_look.questions[0].text
    asked = ASKED[language_of(text)]
    return next((asked[kind] for kind in missing if kind in asked), "")


def turning_by_labels(units: Sequence[Unit], decision: Decision, settings: GateSettings) -> Turning | None:
    """The unit without which I_norm decides otherwise: exact."""
    labels = [u.label for u in units]
    scores = [information_score(labels[:n] + labels[n + 1 :], settings) for n in range(len(labels))]
    return _most_telling(scores, decision, information_score(labels, settings), settings.thresholds)


def turning_by_probability(
    model: CalibratedModel,
    case: CaseFeatures,
    units: Sequence[Unit],
    look: Differential,
    decision: Decision,
    thresholds: tuple[float, float],
) -> Turning | None:
    """The unit without which the calibrated gate decides otherwise.

    The case is not looked up again: the unit's findings are taken out of the first look-up. The leader's lead is taken
    to be shared by the findings that speak for it and not for the runner-up, as their confidences are; votes and
    coverage stay. So it approximates, and a unit that would put another disease first is seen only as a lost lead.
    """
    if not case.leader or len(units) < 2:
        return None
    shares = support(units, look)
    scores = [model.probability(without(case, units, n, look, shares[n])) for n in range(len(units))]
    return _most_telling(scores, decision, model.probability(case), thresholds)


def without(case: CaseFeatures, units: Sequence[Unit], gone: int, look: Differential, share: float) -> CaseFeatures:
    """The features as they would be without a unit on which ``share`` of the lead rests."""
    unit = units[gone]
    inside = [f for f in look.findings if unit.start <= f.start < unit.end]
    elsewhere = {_told(f) for f in look.findings if not unit.start <= f.start < unit.end}
    count, left = len(units), max(1, len(units) - 1)
    values = {
        **case.values,
        **_less_lead(case.values, look, share),
        "units": case.values["units"] - 1,
        "recognised": (case.values["recognised"] * count - bool(inside)) / left,
        "unread": case.values["unread"] - (not inside and unit.label is not Label.C),
        "present": case.values["present"] - sum(bool(f.present) for f in inside),
        "critical": (case.values["critical"] * count - (unit.label is Label.A)) / left,
    }
    return CaseFeatures(values, case.leader, frozenset(f for f in case.stated if f in elsewhere))


def _told(finding: Finding) -> str:
    return ("-" if finding.present is False else "") + finding.id


def _less_lead(values: dict[str, float], look: Differential, share: float) -> dict[str, float]:
    """The features of the ranking when a share of the lead is gone; the others keep their order and proportions."""
    lost = share * max(0.0, values["lead"])
    top = look.ranking[0].score
    scaled = top * math.exp(-lost)
    now = scaled / (1 - top + scaled) if top < 1 else top
    second = look.ranking[1].score if len(look.ranking) > 1 else 0.0
    rest = 1 - top
    spread = (values["entropy"] - _binary(top)) / rest if rest > LEAST else 0.0
    return {
        "odds": math.log(max(now, LEAST)) - math.log(max(1 - now, LEAST)),
        "lead": values["lead"] - lost,
        "lead_third": values["lead_third"] - lost,
        "margin": now - (second * (1 - now) / rest if rest > LEAST else 0.0),
        "entropy": _binary(now) + (1 - now) * max(0.0, spread),
    }


def _binary(share: float) -> float:
    """Entropy in bits of one share against all others."""
    return -sum(p * math.log2(p) for p in (share, 1 - share) if p > 0)


def _most_telling(
    scores: Sequence[float], decision: Decision, whole: float, thresholds: tuple[float, float]
) -> Turning | None:
    """Of the units that flip between direct and retrieve, the one that moves the score most; the first of equals."""
    direct = decision is Decision.DIRECT
    decided = [decide(score, *thresholds) for score in scores]
    flips = [n for n, d in enumerate(decided) if (d is Decision.DIRECT) != direct]
    if not flips:
        return None
    most = max(flips, key=lambda n: (abs(scores[n] - whole), -n))
    return Turning(unit=most, decision=decided[most], score=scores[most])
