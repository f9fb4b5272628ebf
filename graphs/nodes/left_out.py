"""The notice of documents that speak to machines: they are left out of what is judged, and the user is told."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from graphs.state import State
from tools.contract import Notice, Severity, unique
from tools.evidence import Evidence

SPEAKS = {
    "en": "Left out, because this text gives orders to whoever reads it by machine: {titles}. Look at it yourself.",
    "zh": "已略去：以下文本含有对机器读者的指令，而非医学内容：{titles}。请自行查看。",
}


def left_out(state: State, documents: Sequence[Evidence], ids: Collection[str]) -> dict[str, Any]:
    """The channel ``notices`` with the notice for the documents of these ids; nothing without any, or when told."""
    titles = unique([d.title or d.document_id for d in documents if d.id in ids])
    if not titles:
        return {}
    text = SPEAKS["zh" if state["language"] == "zh" else "en"].format(titles="; ".join(titles))
    notice = Notice(code="speaks_to_machines", text=text, severity=Severity.WARNING)
    return {"notices": [notice.model_dump(mode="json")]}
