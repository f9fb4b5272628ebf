"""Judges of answers by a language model, each reply held to what was asked: a point left out is no verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from agent.models import open_models
from agent.sessions import Home
from agent.settings import Settings
from evals.judges.contract import RELEVANT, Adherence, AnswerJudge, Faithfulness, Relevancy
from evals.judges.local import JudgeLocal
from prompts.answer_judging import (
    AdherenceReply,
    FaithfulnessReply,
    GuidelineReply,
    MiniCexItem,
    MiniCexReply,
    RelevancyReply,
)
from prompts.errors import ServiceError
from prompts.language_model import LanguageModel
from prompts.model_failures import InvalidReplyError
from prompts.shown import one_line
from prompts.templates import load_prompt
from tools.encoders import Encoder
from tools.evidence import Evidence, Statement

WORTH = {"full": 1.0, "part": 0.5, "no": 0.0}  # ours: a point that is half said counts half
POINTS = 8  # ours: as the prompt asks; longer guidelines repeat themselves
QUESTION, LONG, POINT, PORTION = 2000, 6000, 300, 3000  # ours: characters that are shown of each
TEMPLATES = ("answer_guideline", "answer_adherence", "answer_relevancy", "answer_faithfulness")


class JudgeByModel:
    """Judges by a language model. The guideline of a golden answer is written once, for all answers that it scores."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._guidelines: dict[tuple[str, str], tuple[str, ...]] = {}
        self.name = " ".join([model.name, *(load_prompt(name).id for name in TEMPLATES)])

    async def adherence(self, question: str, golden: str, answer: str) -> Adherence:
        """Points of the golden answer, then a verdict on each; an empty answer is not asked about."""
        points = await self._guideline(question, golden)
        if not answer.strip():
            return Adherence(points, 0.0)
        reply, _ = await self._model.structured(
            "answer_adherence",
            AdherenceReply,
            question=one_line(question, QUESTION),
            points="\n".join(f"{n}. {point}" for n, point in enumerate(points, start=1)),
            answer=one_line(answer, LONG),
        )
        verdicts = _whole({v.number: v.verdict for v in reply.verdicts}, len(points), "point")
        return Adherence(points, sum(WORTH[v] for v in verdicts) / len(points))

    async def relevancy(self, question: str, answer: str) -> Relevancy:
        """The model's score of five as 0..1."""
        if not answer.strip():
            return Relevancy(0.0, relevant=False)
        reply, _ = await self._model.structured(
            "answer_relevancy", RelevancyReply, question=one_line(question, QUESTION), answer=one_line(answer, LONG)
        )
        return Relevancy((reply.score - 1) / 4, relevant=reply.score >= RELEVANT)

    async def faithfulness(self, statements: Sequence[Statement], portions: Sequence[Evidence]) -> Faithfulness:
        """A verdict on each statement; what goes further than a portion is not supported."""
        if not statements or not portions:
            return Faithfulness((False,) * len(statements))
        reply, _ = await self._model.structured(
            "answer_faithfulness",
            FaithfulnessReply,
            statements="\n".join(f"{n}. {one_line(s.text, POINT)}" for n, s in enumerate(statements, start=1)),
            portions="\n".join(f"{_letter(n)}. {one_line(e.text, PORTION)}" for n, e in enumerate(portions)),
        )
        verdicts = _whole({v.number: v.verdict for v in reply.verdicts}, len(statements), "statement")
        return Faithfulness(tuple(v == "supported" for v in verdicts))

    async def mini_cex(self, case: str, report: str) -> dict[MiniCexItem, int]:
        """The seven scores."""
        reply, _ = await self._model.structured(
            "mini_cex", MiniCexReply, case=one_line(case, LONG), report=one_line(report, LONG)
        )
        scores = {scored.item: scored.score for scored in reply.items}
        missing = [item for item in get_args(MiniCexItem) if item not in scores]
        if missing:
            raise _left_out(f"{', '.join(missing)} of the Mini-CEX")
        return {item: scores[item] for item in get_args(MiniCexItem)}

    async def _guideline(self, question: str, golden: str) -> tuple[str, ...]:
        key = (question, golden)
        if key not in self._guidelines:
            reply, _ = await self._model.structured(
                "answer_guideline",
                GuidelineReply,
                question=one_line(question, QUESTION),
                golden=one_line(golden, LONG),
            )
            points = tuple(one_line(point, POINT) for point in reply.points if point.strip())[:POINTS]
            if not points:
                raise _left_out("every point of the guideline")
            self._guidelines[key] = points
        return self._guidelines[key]


def _whole(verdicts: dict[int, str], count: int, what: str) -> list[str]:
    """The verdicts in order; raises InvalidReplyError when one is missing."""
    for number in range(1, count + 1):
        if number not in verdicts:
            raise _left_out(f"{what} {number} of {count}")
    return [verdicts[number] for number in range(1, count + 1)]


def _left_out(what: str) -> ServiceError:
    return InvalidReplyError(f"The judging model left out {what}.", "Run again, or set another model.")


def _letter(place: int) -> str:
    """A, B, ... Z, then A2, B2, ..."""
    turn, letter = divmod(place, 26)
    return chr(ord("A") + letter) + (str(turn + 1) if turn else "")


def model_judge(settings: Settings, home: Home) -> JudgeByModel | None:
    """The judge by the model that ``ANAMNESIS_ROLES__VERIFICATION__MODEL``, else ``ANAMNESIS_MODEL`` names."""
    models = open_models(settings, home)
    return None if models is None else JudgeByModel(models.of("verification"))


def open_judge(settings: Settings, home: Home, encoder: Encoder) -> AnswerJudge:
    """The judge of answers in a run: the model of the settings in its role ``verification``, else the local judge."""
    return model_judge(settings, home) or JudgeLocal(encoder)
