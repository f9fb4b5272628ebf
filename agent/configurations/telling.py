"""What an answer says of the published configuration that made it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.contract import Notice
from tools.text.language import language_of

if TYPE_CHECKING:
    from agent.settings import Settings

BY_MODEL = {
    "en": "Answered by the published configuration {name}, not by the product's own settings.",
    "zh": "本答复由已发表方法的配置 {name} 作出，而非产品自身的设置。",
}
LOCALLY = {
    "en": "No language model is set: its judgements were made by local rules, and nothing was generated.",
    "zh": "未设置语言模型：相关判断由本地规则完成，未生成任何内容。",
}


def notices_of(settings: Settings, text: str) -> list[Notice]:
    """The notice of the configuration in force, in the language of the message; none without one."""
    if not settings.config:
        return []
    language = language_of(text)
    told = BY_MODEL[language].format(name=settings.config)
    joint = "" if language == "zh" else " "
    whole = told if settings.language_model is not None else f"{told}{joint}{LOCALLY[language]}"
    return [Notice(code="published_configuration", text=whole)]
