"""What an answer says of the published configuration that made it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.contract import Notice
from tools.messages import messages
from tools.text.language import language_of

if TYPE_CHECKING:
    from agent.settings import Settings


def notices_of(settings: Settings, text: str) -> list[Notice]:
    """The notice of the configuration in force, in the language of the message; none without one."""
    if not settings.config:
        return []
    words = messages(language_of(text))
    told = words.say("configuration.by", name=settings.config)
    if settings.language_model is None:
        told += words["configuration.joint"] + words["configuration.locally"]
    return [Notice(code="published_configuration", text=told)]
