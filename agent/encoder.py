"""How the embedded encoder runs on this machine: what set-up measured."""

from __future__ import annotations

import json

from agent.sessions import Home
from agent.settings import Settings
from prompts.errors import DataError
from tools.encoders import MINILM
from tools.files import REBUILD


def encoder_is_bf16(settings: Settings, home: Home) -> bool:
    """Whether the embedded encoder uses bfloat16 here. Raises DataError when what was measured cannot be read."""
    if settings.encoder not in ("", MINILM) or not home.encoder_choice.exists():
        return False
    try:
        return bool(json.loads(home.encoder_choice.read_text(encoding="utf-8"))["bf16"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError("encoder.json of the data folder is damaged.", REBUILD) from error
