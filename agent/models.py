"""The models of a configuration: language models opened once, what is known of their servers, how the encoder runs."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import get_args

from agent.configurations.loading import find
from agent.sessions import Home
from agent.settings import Settings
from prompts.errors import DataError, InputError
from prompts.forms import Method
from prompts.language_model import LanguageModels
from prompts.model_settings import ModelSettings, Role
from tools.encoders import MINILM
from tools.files import REBUILD, write_atomic
from tools.store import ReplyStore

FORMS = "reply_forms.json"  # under the cache: which form of structured replies each server takes; it holds no key
EVALUATION = "evaluation_replies.sqlite"  # under the cache: replies to texts of data sets, of no session

NEEDS = {
    "model": ("a language model", "Set ANAMNESIS_MODEL, and OPENAI_BASE_URL and OPENAI_API_KEY where they are due."),
    "generator": ("another model that writes the background", "Set ANAMNESIS_ROLES__BACKGROUND__MODEL."),
}


def open_models(settings: Settings, home: Home) -> LanguageModels | None:
    """The models by role, None when none is named. Open them once an agent: they share connections and limits."""
    model = settings.language_model
    if model is None or not model.judges():
        return None
    file = home.cache / FORMS
    return LanguageModels(model, known_forms(file), keep_forms(file), open_replies(settings, home))


def open_replies(settings: Settings, home: Home) -> ReplyStore | None:
    """Where the settings keep replies; None for nowhere.

    Raises:
        InputError: sessions lie in a database, whose deletion would not reach the files of other machines.
    """
    if settings.model_cache == "off":
        return None
    if settings.model_cache == "evaluation":
        return ReplyStore(home.cache / EVALUATION, by_session=False)
    if settings.database is not None:
        raise InputError("Replies are kept beside sessions in files only.", "Leave ANAMNESIS_MODEL_CACHE out.")
    return ReplyStore(home.replies)


def check_needs(settings: Settings) -> None:
    """Raise InputError when the published configuration of the settings needs what is not there."""
    if not settings.config:
        return
    chosen = find(settings.config)
    generator = settings.roles.get("background")
    there = {"model": settings.language_model is not None, "generator": bool(generator and generator.model)}
    for need in chosen.needs:
        if not there[need]:
            raise InputError(f"{chosen.name} needs {NEEDS[need][0]}.", NEEDS[need][1])


def known_forms(file: Path) -> dict[str, Method]:
    """The forms found before, by "model at address". A file that cannot be read costs finding them out again."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: form for name, form in found.items() if form in get_args(Method)}


def keep_forms(file: Path) -> Callable[[Mapping[str, Method]], None]:
    """Keeps the forms in a file; a folder that cannot be written to costs finding them out again."""

    def keep(forms: Mapping[str, Method]) -> None:
        merged = {**known_forms(file), **forms}
        with contextlib.suppress(OSError):
            write_atomic(file, json.dumps(merged, indent=1, sort_keys=True).encode())

    return keep


def described(model: ModelSettings | None) -> str:
    """Who judges what, in a line."""
    if model is None or not model.judges():
        return "none: the local engine judges, nothing is generated"
    roles = model.judges()
    by_name: dict[str, list[str]] = {}
    for role, own in roles.items():
        by_name.setdefault(own.name, []).append(role)
    named = "; ".join(f"{name} judges {', '.join(by)}" for name, by in by_name.items())
    local = [role for role in get_args(Role) if role not in roles]
    return f"{named}; the local engine: {', '.join(local) or 'nothing'}"


def kept_replies(settings: Settings, home: Home) -> str:
    """Where replies of models are kept, in words; "" where they are not."""
    if settings.model_cache == "session":
        return f"in {home.replies.name}, until their session is deleted"
    return f"for evaluations, in {home.cache / EVALUATION}" if settings.model_cache == "evaluation" else ""


def proxies() -> list[str]:
    """Variables of the environment that put a proxy before every server but those of ``no_proxy``."""
    names = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "OPENAI_PROXY")
    return [name for name in names if os.environ.get(name)]


def encoder_is_bf16(settings: Settings, home: Home) -> bool:
    """Whether the embedded encoder uses bfloat16 here. Raises DataError when what was measured cannot be read."""
    if settings.encoder not in ("", MINILM) or not home.encoder_choice.exists():
        return False
    try:
        return bool(json.loads(home.encoder_choice.read_text(encoding="utf-8"))["bf16"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError("encoder.json of the data folder is damaged.", REBUILD) from error
