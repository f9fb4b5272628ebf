"""Where a pain spreads to: a part that is named as the destination of a pain has no pain of its own."""

from __future__ import annotations

import re

from tools.text.body_sites import sites

_SPREADS = re.compile(
    r"\b(?:radiat\w+|spread(?:s|ing)?|referred)\s+(?:(?:up|down|out|back|through|round|around|across)\s+)?"
    r"(?:(?:in|on)?to(?:wards?)?|up|down|through|across|(?=left|right|both))\b",
    re.IGNORECASE,
)
_END = re.compile(r"[,;:.()]|\b(?:for|since|with|when|but|while|on|after|associated)\b", re.IGNORECASE)
_SPREADS_ZH = re.compile(r"(?:放射|扩散|牵涉|牵扯|蔓延|窜)(?:至|到|向|及)?|向(?=[^，。；、]{1,8}(?:放射|扩散|蔓延))")
_END_ZH = re.compile(r"[，,。；;：]|放射|扩散|蔓延|持续|\d|[伴约已]")


def destination(text: str) -> tuple[int, int] | None:
    """The characters of a text that say where something spreads to, the verb included; None if it does not say so."""
    for verb, end in ((_SPREADS, _END), (_SPREADS_ZH, _END_ZH)):
        match = verb.search(text)
        if match is not None:
            stop = end.search(text, match.end())
            return match.start(), stop.start() if stop else len(text)
    return None


def tells_of_spreading(text: str) -> bool:
    """Whether a text says that something radiates or spreads."""
    return destination(text) is not None


def origin_and_destination(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The sites that a text names as those of a complaint itself, and those that the complaint only spreads to."""
    where = destination(text)
    if where is None:
        return sites(text), frozenset()
    origin = sites(f"{text[: where[0]]} {text[where[1] :]}")
    return origin, sites(text[slice(*where)]) - origin
