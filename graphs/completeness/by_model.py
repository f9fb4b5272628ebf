"""The completeness gate by a language model: its labels of the sentences, and its verdict.

With the published score the labels decide (ICA-RAG: I_norm); else the verdict does, by itself: no calibration was made
of a model, so that its thresholds are fixed. ``pure`` is the self-judging prompt alone, for every kind of question and
without a guard of ours: the comparator that ICA-RAG argues against.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphs.completeness.contract import CompletenessGate, Decision, GateDecision, Label, Unit
from graphs.completeness.explained import JUDGED
from graphs.completeness.local import held_at_the_edge, turning_by_labels
from graphs.completeness.score import GateSettings, decide, information_score
from prompts.gate import GateReply, LabelReply, SelfJudgedReply, Verdict
from prompts.language_model import LanguageModel
from prompts.metering import or_local
from prompts.shown import one_line
from tools.contract import Differential
from tools.text.language import language_of

CASE = ("case", "follow_up")
SENTENCES, SENTENCE = 80, 400  # ours: sentences that are labelled, and characters of each
QUESTION = 12_000  # ours: characters of a question shown to the self-judging prompt
LEAST_TOLD = 0.5  # ours: share of what a case should state below which no verdict of a model lets it pass
VERDICTS: dict[Verdict, float] = {"enough": 1.0, "more": 0.5, "sparse": 0.0}  # ours: both ends of a score, its middle
THRESHOLDS = (2 / 3, 1 / 3)  # ours: each verdict lies in a third of its own
MISSING, PHRASE, REASON = 5, 80, 200  # ours: missing things that are told, characters of each, and of the reason

WORDS = {
    "en": {
        "i_norm": "I_norm {score:.2f} of the model's labels against {theta1:.2f} and {theta2:.2f}",
        "judges": "the model judges: ",
        "too_little": "by the rules too little was told to answer directly",
        "label": "by the model",
    },
    "zh": {
        "i_norm": "按模型的标签，I_norm 为 {score:.2f}，两个阈值为 {theta1:.2f} 和 {theta2:.2f}",
        "judges": "模型判断：",
        "too_little": "按规则判断，已说明的内容太少，不能直接回答",
        "label": "由模型标注",
    },
}


class CompletenessGateByModel:
    """Judges a case by a language model.

    Args:
        model: who judges. local: the rules, which stand in when it fails, and whose reading stays beside its own.
        settings: the method, and the thresholds of ``published``, with which the labels decide.
        pure: the self-judging prompt alone.
    """

    def __init__(
        self,
        model: LanguageModel,
        local: CompletenessGate,
        settings: GateSettings | None = None,
        *,
        pure: bool = False,
    ) -> None:
        self._model, self._local, self._pure = model, local, pure
        self._settings = settings or GateSettings()

    async def assess(self, question: str, kind: str, first_look: Differential | None) -> GateDecision:
        """Assess a stand-alone question. A question about no patient retrieves, as by the rules, unless ``pure``."""
        local = await self._local.assess(question, kind, first_look)
        if kind not in CASE and not self._pure:
            return local

        async def as_it_is() -> GateDecision:
            return local

        judged = self._self_judged if self._pure else self._labelled
        decision = await or_local("gate", lambda: judged(question, local), as_it_is)
        return decision if self._pure else held_at_the_edge(decision, first_look)

    async def _labelled(self, question: str, local: GateDecision) -> GateDecision:
        shown = local.units[:SENTENCES]
        lines = [f"{n}. {one_line(unit.text, SENTENCE)}" for n, unit in enumerate(shown, start=1)]
        reply, _ = await self._model.structured(
            "gate", GateReply, sentences="\n".join(lines) or one_line(question, SENTENCE)
        )
        words = WORDS[language_of(question)]
        units = _with_labels(local.units, reply.labels, words["label"])
        published = information_score([u.label for u in units], self._settings)
        parts = {**local.parts, "i_norm": published}
        if self._settings.method == "published":
            theta1, theta2 = self._settings.thresholds
            told = words["i_norm"].format(score=published, theta1=theta1, theta2=theta2)
            decision = self._decision(local, published, parts, reply, units, told)
            turning = turning_by_labels(units, decision.decision, self._settings)
            return decision.model_copy(update={"turning": turning})
        sparse = local.parts.get("coverage", 0.0) < LEAST_TOLD
        verdict: Verdict = "more" if sparse and reply.verdict == "enough" else reply.verdict
        told = words["judges"] + (words["too_little"] if verdict != reply.verdict else reply.reason)
        score = VERDICTS[verdict]
        return self._decision(local, score, {**parts, JUDGED: score}, reply, units, told)

    async def _self_judged(self, question: str, local: GateDecision) -> GateDecision:
        reply, _ = await self._model.structured("gate_self", SelfJudgedReply, question=question[:QUESTION])
        score, told = VERDICTS[reply.verdict], WORDS[language_of(question)]["judges"] + reply.reason
        return self._decision(local, score, {JUDGED: score}, reply, local.units, told)

    def _decision(
        self,
        local: GateDecision,
        score: float,
        parts: dict[str, float],
        reply: SelfJudgedReply,
        units: tuple[Unit, ...],
        reason: str,
    ) -> GateDecision:
        theta1, theta2 = THRESHOLDS if JUDGED in parts else self._settings.thresholds
        missing = [one_line(m, PHRASE) for m in reply.missing if m.strip()][:MISSING]
        decision = decide(score, theta1, theta2)
        return GateDecision(
            decision=decision,
            score=score,
            theta1=theta1,
            theta2=theta2,
            units=units,
            parts=parts,
            missing=tuple(missing) or (local.missing if decision is not Decision.DIRECT else ()),
            question=local.question,
            reason=one_line(reason, REASON),
        )


def _with_labels(units: Sequence[Unit], labels: Sequence[LabelReply], reason: str) -> tuple[Unit, ...]:
    """The units with the model's labels; numbers that were not given are left out, sentences left out keep theirs."""
    named = {reply.number: Label(reply.label) for reply in reversed(labels)}  # the first of several counts
    return tuple(
        unit.model_copy(update={"label": named[n], "reason": reason}) if n in named and n <= SENTENCES else unit
        for n, unit in enumerate(units, start=1)
    )
