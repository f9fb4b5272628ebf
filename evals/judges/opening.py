"""Who judges answers in a run: the model of the settings in its role ``verification``, else the local judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.sessions import Home
    from agent.settings import Settings
    from evals.judges.by_model import JudgeByModel
    from evals.judges.contract import AnswerJudge
    from tools.encoders import Encoder


def open_judge(settings: Settings, home: Home, encoder: Encoder) -> AnswerJudge:
    """The judge of answers."""
    from evals.judges.local import JudgeLocal

    return model_judge(settings, home) or JudgeLocal(encoder)


def model_judge(settings: Settings, home: Home) -> JudgeByModel | None:
    """The judge by the model that ``ANAMNESIS_ROLES__VERIFICATION__MODEL``, else ``ANAMNESIS_MODEL`` names."""
    from agent.models import open_models
    from evals.judges.by_model import JudgeByModel

    models = open_models(settings, home)
    return None if models is None else JudgeByModel(models.of("verification"))
