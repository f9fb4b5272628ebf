"""What the program says, in English and Chinese: a catalogue a language, chosen once by `messages`.

The catalogues are `en.yaml` and `zh.yaml`; a test holds them to the same keys and the same gaps to fill.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.yaml_files import read_yaml

if TYPE_CHECKING:
    from tools.contract import RankedDisease

LANGUAGES = ("en", "zh")


class Messages(dict[str, str]):
    """A language's messages by place and name, as ``answer.emergency``.

    Args:
        language: ``en`` or ``zh``. told: messages by name, folded by place.
    """

    def __init__(self, language: str, told: Mapping[str, Any]) -> None:
        super().__init__(_flat(told))
        self.language = language

    def say(self, name: str, /, **gaps: object) -> str:
        """A message with its gaps filled."""
        return self[name].format(**gaps)

    def group(self, place: str) -> dict[str, str]:
        """The messages of a place by their names below it."""
        return {name.removeprefix(f"{place}."): text for name, text in self.items() if name.startswith(f"{place}.")}

    def joined(self, items: Iterable[str]) -> str:
        """Items of a list in a sentence."""
        return self["list.semicolon"].join(items)

    def name_of(self, disease: RankedDisease) -> str:
        """A disease's name in the language, where it has one."""
        return disease.name_zh if self.language == "zh" and disease.name_zh else disease.name


@cache
def messages(language: str) -> Messages:
    """The catalogue of a language; the English one for any that has none."""
    chosen = language if language in LANGUAGES else "en"
    return Messages(chosen, read_yaml(Path(__file__).with_name(f"{chosen}.yaml")))


def shortened(items: Sequence[str], most: int, language: str) -> str:
    """The first ``most`` items of a list in a sentence, and how many more there are."""
    words = messages(language)
    named, more = words["gate.comma"].join(items[:most]), len(items) - most
    return words.say("list.more", items=named, n=more) if more > 0 else named


def _flat(told: Mapping[str, Any], place: str = "") -> dict[str, str]:
    out: dict[str, str] = {}
    for name, found in told.items():
        out |= _flat(found, f"{place}{name}.") if isinstance(found, dict) else {f"{place}{name}": found}
    return out
