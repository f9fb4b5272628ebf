"""A gate's decision in words, English or Chinese: whole for who wants to check it, brief beside every answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphs.completeness.contract import Decision, GateDecision, Label
from graphs.completeness.labels import KINDS
from graphs.completeness.score import decide
from prompts.shown import one_line
from tools.contract import Notice, Severity
from tools.evidence import Frozen
from tools.messages import Messages, messages
from tools.notebook.markup import LABELS, element, mark, page, table
from tools.notices import noted

NAMED = 60  # ours: characters of a sentence by which the brief form names it
JUDGED = "verdict"  # the part that a model's own verdict has
STATED = "states_"  # what parts begin with that tell how far a kind of information is stated


class ExplainedUnit(Frozen):
    """A unit as it is shown: its number from 1, its label, its words, why it has the label, whether all turns on it."""

    number: int
    label: Label
    text: str
    reason: str
    turning: bool = False


class Explanation(Frozen):
    """A decision in words; every field but ``verdict`` may be empty.

    Attributes:
        verdict: what was decided, and the score against both thresholds or what decided without it.
        counts: how many units have which label. turning: the unit whose removal flips the decision.
        parts, stated: the measures beside the score; how far each kind of information is stated.
        missing: kinds of information that are missing, unless the warning tells them. question: what would supply them.
        warning: below theta2, that critical information is sparse. reason: a model's own, where it judged.
    """

    verdict: str
    counts: str = ""
    units: tuple[ExplainedUnit, ...] = ()
    turning: str = ""
    parts: str = ""
    stated: str = ""
    missing: str = ""
    question: str = ""
    warning: str = ""
    reason: str = ""

    @property
    def after(self) -> tuple[str, ...]:
        """What stands below the units of the whole explanation, the warning left out."""
        return tuple(t for t in (self.reason, self.turning, self.parts, self.stated, self.missing, self.question) if t)

    @property
    def text(self) -> str:
        """The whole as plain text, a line each."""
        units = [f"  {u.number}. {u.label}{'*' if u.turning else ' '} {u.text}  ({u.reason})" for u in self.units]
        lines = [self.verdict, *([self.warning] if self.warning else []), *([self.counts] if self.counts else [])]
        return "\n".join([*lines, *units, *self.after])

    def _repr_html_(self) -> str:
        """The whole as a notebook shows it."""

        return gate_html(self)


def explained(decision: GateDecision, language: str) -> Explanation:
    """A decision in words; ``language`` is ``en`` or ``zh``."""
    words = messages(language)
    warned = decision.decision is Decision.RETRIEVE_WITH_WARNING
    missing = () if warned else decision.missing
    return Explanation(
        verdict=_verdict(decision, words),
        counts=_counts(decision, words),
        units=_units(decision),
        turning=_turning(decision, words),
        **_parts(decision.parts, words),
        missing=words.say("gate.missing", missing=words["gate.comma"].join(missing)) if missing else "",
        question=words.say("gate.question", question=decision.question) if decision.question else "",
        warning=sparse_warning(decision, language).text if warned else "",
        reason=decision.reason if JUDGED in decision.parts else "",
    )


def brief(decision: GateDecision, language: str) -> tuple[str, ...]:
    """A decision in one or two lines for who reads the answer: whether evidence was looked up and why, then what that
    hangs on (direct) or what is missing (else). Scores and labels are in the whole.

    What a warning beside the answer says is not said again.
    """
    whole, words = explained(decision, language), messages(language)
    if _by_score(decision, words):
        first = words[f"gate.brief.{decision.decision.value}"]
    else:
        reason = words.get(f"gate.reasons.{decision.reason}", decision.reason)
        first = f"{reason[:1].upper()}{reason[1:].rstrip('.。')}{words['gate.stop']}"
    direct = decision.decision is Decision.DIRECT
    second = [_hangs(decision, words)] if direct else [whole.missing, whole.question]
    line = " ".join(t for t in second if t)
    return (first, line) if line else (first,)


def sparse_warning(decision: GateDecision, language: str) -> Notice:
    """What must be said below theta2: critical information is sparse, and misdiagnosis possible (paper)."""
    missing = messages(language)["gate.comma"].join(decision.missing) or "-"
    return noted("sparse_information", language, Severity.WARNING, detail=missing)


def _by_score(decision: GateDecision, words: Messages) -> bool:
    """Whether the score against the thresholds made the decision."""
    same = decide(decision.score, decision.theta1, decision.theta2) is decision.decision
    return same and f"gate.reasons.{decision.reason}" not in words


def _verdict(decision: GateDecision, words: Messages) -> str:
    name = decision.decision.value
    if not _by_score(decision, words):
        reason = words.get(f"gate.reasons.{decision.reason}", decision.reason)
        return words.say("gate.verdict", verdict=words[f"gate.short.{name}"], score=reason)
    score = words.say(f"gate.scores.{name}", **_figures(decision))
    return words.say("gate.verdict", verdict=words[f"gate.verdicts.{name}"], score=score)


def _figures(decision: GateDecision) -> dict[str, str]:
    """Score and thresholds with as many digits as tell them apart, two at least and four at most."""
    values = {"score": decision.score, "theta1": decision.theta1, "theta2": decision.theta2}
    told = {name: f"{value:.2f}" for name, value in values.items()}
    for digits in (3, 4):
        if len(set(told.values())) == len(set(values.values())):
            break
        told = {name: f"{value:.{digits}f}" for name, value in values.items()}
    return told


def _units(decision: GateDecision) -> tuple[ExplainedUnit, ...]:
    turning = decision.turning.unit if decision.turning is not None else None
    return tuple(
        ExplainedUnit(
            number=n + 1, label=u.label, text=one_line(u.text, len(u.text)), reason=u.reason, turning=n == turning
        )
        for n, u in enumerate(decision.units)
    )


def _counts(decision: GateDecision, words: Messages) -> str:
    labels = [u.label for u in decision.units]
    if not labels:
        return ""
    counted = {label.value.lower(): labels.count(label) for label in (Label.A, Label.B, Label.C)}
    return words.say("gate.counts", n=len(labels), **counted)


def _turning(decision: GateDecision, words: Messages) -> str:
    turning = decision.turning
    if turning is None or not 0 <= turning.unit < len(decision.units):
        return ""
    return words.say(
        "gate.turning",
        number=turning.unit + 1,
        text=one_line(decision.units[turning.unit].text, NAMED),
        decision=words[f"gate.short.{turning.decision.value}"],
        score=turning.score,
    )


def _hangs(decision: GateDecision, words: Messages) -> str:
    """What a direct answer hangs on, without numbers; "" where it hangs on no one sentence."""
    turning = decision.turning
    if turning is None or not 0 <= turning.unit < len(decision.units):
        return ""
    return words.say("gate.hangs", text=one_line(decision.units[turning.unit].text, NAMED).rstrip(".。"))


def _parts(parts: Mapping[str, float], words: Messages) -> dict[str, str]:
    """The fields ``parts`` and ``stated``."""
    kinds = {f"{STATED}{k.name}": k.zh if words.language == "zh" else k.en for k in KINDS}
    told = [f"{words.get(f'gate.measures.{n}', n)} {v:.2f}" for n, v in parts.items() if n not in kinds]
    stated = [f"{kinds[n]} {v:.0%}" for n, v in parts.items() if n in kinds]
    comma = words["gate.comma"]
    return {
        "parts": words.say("gate.parts", parts=comma.join(told)) if told else "",
        "stated": words.say("gate.stated", kinds=comma.join(stated)) if stated else "",
    }


# A gate's decision as HTML for a notebook: the verdict, each sentence with its label and why, and the measures.


def gate_html(whole: Explanation) -> str:
    """A decision that stands by itself."""
    from tools.notebook.markup import rendered

    return rendered(page("en", gate_of(whole)))


def gate_of(whole: Explanation, language: str = "en") -> Any:
    """A decision as an element; ``language`` is ``en`` or ``zh``."""
    words = messages(language)
    rows = (
        (
            str(unit.number),
            mark(unit.label.value, LABELS[unit.label.value]),
            unit.text,
            f"{unit.reason} ({words['gate.turns']})" if unit.turning else unit.reason,
        )
        for unit in whole.units
    )
    units = table(("", "", words["gate.sentence"], words["gate.why"]), rows) if whole.units else None
    return element(
        "div",
        element("p", element("b", whole.verdict)),
        element("p", element("strong", whole.warning)) if whole.warning else None,
        element("p", whole.counts, class_="dim") if whole.counts else None,
        element("div", units, class_="scroll"),
        *(element("p", line, class_="dim") for line in whole.after),
    )
