"""A gate's decision in words, English or Chinese: whole for who wants to check it, brief beside every answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphs.completeness.contract import Decision, GateDecision, Label
from graphs.completeness.labels import KINDS
from graphs.completeness.score import decide
from prompts.shown import one_line
from tools.evidence import Frozen
from tools.yaml_files import read_yaml

_TOLD: dict[str, Any] = read_yaml(Path(__file__).with_name("explained.yaml"))
Words = dict[str, dict[str, str]]  # by language, but the words of parts, which are by part
VERDICTS: Words = _TOLD["verdicts"]
SHORT: Words = _TOLD["short"]
SCORES: Words = _TOLD["scores"]
WORDS: Words = _TOLD["words"]
PARTS: Words = _TOLD["parts"]
REASONS: dict[str, str] = _TOLD["reasons"]
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
    words = WORDS[_tongue(language)]
    warned = decision.decision is Decision.RETRIEVE_WITH_WARNING
    missing = () if warned else decision.missing
    return Explanation(
        verdict=_verdict(decision, language),
        counts=_counts(decision, words),
        units=_units(decision),
        turning=_turning(decision, language),
        **_parts(decision.parts, language),
        missing=words["missing"].format(missing=words["comma"].join(missing)) if missing else "",
        question=words["question"].format(question=decision.question) if decision.question else "",
        warning=sparse_warning(decision, language) if warned else "",
        reason=decision.reason if JUDGED in decision.parts else "",
    )


def brief(decision: GateDecision, language: str) -> tuple[str, ...]:
    """A decision in one or two lines: the verdict, then what it hangs on (direct) or what is missing (else).

    What a warning beside the answer says is not said again.
    """
    whole, words = explained(decision, language), WORDS[_tongue(language)]
    counts = whole.counts + words["stop"] if whole.counts and _by_score(decision) else ""
    first = f"{words['gate']}{words['colon']}{whole.verdict} {counts}".rstrip()
    direct = decision.decision is Decision.DIRECT
    second = [whole.turning] if direct else [whole.missing, whole.question]
    line = " ".join(t for t in second if t)
    return (first, line) if line else (first,)


def sparse_warning(decision: GateDecision, language: str) -> str:
    """What must be said below theta2: critical information is sparse, and misdiagnosis possible (paper)."""
    words = WORDS[_tongue(language)]
    return words["sparse"].format(missing=words["comma"].join(decision.missing) or "-")


def _tongue(language: str) -> str:
    return "zh" if language == "zh" else "en"


def _by_score(decision: GateDecision) -> bool:
    """Whether the score against the thresholds made the decision."""
    same = decide(decision.score, decision.theta1, decision.theta2) is decision.decision
    return same and decision.reason not in REASONS


def _verdict(decision: GateDecision, language: str) -> str:
    tongue = _tongue(language)
    if not _by_score(decision):
        reason = REASONS.get(decision.reason, decision.reason) if tongue == "zh" else decision.reason
        return WORDS[tongue]["verdict"].format(verdict=SHORT[tongue][decision.decision], score=reason)
    score = SCORES[tongue][decision.decision].format(**_figures(decision))
    return WORDS[tongue]["verdict"].format(verdict=VERDICTS[tongue][decision.decision], score=score)


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


def _counts(decision: GateDecision, words: Mapping[str, str]) -> str:
    labels = [u.label for u in decision.units]
    if not labels:
        return ""
    return words["counts"].format(
        n=len(labels), a=labels.count(Label.A), b=labels.count(Label.B), c=labels.count(Label.C)
    )


def _turning(decision: GateDecision, language: str) -> str:
    turning = decision.turning
    if turning is None or not 0 <= turning.unit < len(decision.units):
        return ""
    tongue = _tongue(language)
    return WORDS[tongue]["turning"].format(
        number=turning.unit + 1,
        text=one_line(decision.units[turning.unit].text, NAMED),
        decision=SHORT[tongue][turning.decision],
        score=turning.score,
    )


def _parts(parts: Mapping[str, float], language: str) -> dict[str, str]:
    """The fields ``parts`` and ``stated``."""
    tongue = _tongue(language)
    words = WORDS[tongue]
    kinds = {f"{STATED}{k.name}": k.zh if tongue == "zh" else k.en for k in KINDS}
    told = [f"{PARTS[n][tongue] if n in PARTS else n} {v:.2f}" for n, v in parts.items() if n not in kinds]
    stated = [f"{kinds[n]} {v:.0%}" for n, v in parts.items() if n in kinds]
    return {
        "parts": words["parts"].format(parts=words["comma"].join(told)) if told else "",
        "stated": words["stated"].format(kinds=words["comma"].join(stated)) if stated else "",
    }


def gate_html(whole: Explanation, language: str = "en") -> str:
    """A decision that stands by itself."""
    from tools.notebook.markup import rendered
    from tools.notebook.style import page

    return rendered(page(language, gate_of(whole, language)))


def gate_of(whole: Explanation, language: str = "en") -> Any:
    """A decision as an element; ``language`` is ``en`` or ``zh``."""
    from tools.notebook.markup import element, table
    from tools.notebook.style import LABELS, mark

    words = WORDS[_tongue(language)]
    rows = (
        (
            str(unit.number),
            mark(unit.label.value, LABELS[unit.label.value]),
            unit.text,
            f"{unit.reason} ({words['turns']})" if unit.turning else unit.reason,
        )
        for unit in whole.units
    )
    units = table(("", "", words["sentence"], words["why"]), rows) if whole.units else None
    return element(
        "div",
        element("p", element("b", whole.verdict)),
        element("p", element("strong", whole.warning)) if whole.warning else None,
        element("p", whole.counts, class_="dim") if whole.counts else None,
        element("div", units, class_="scroll"),
        *(element("p", line, class_="dim") for line in whole.after),
    )
