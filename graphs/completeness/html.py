"""A gate's decision as HTML for a notebook: the verdict, each sentence with its label and why, and the measures."""

from __future__ import annotations

from typing import Any

from graphs.completeness.explained import Explanation
from tools.messages import messages
from tools.notebook.markup import LABELS, element, mark, page, table


def gate_html(whole: Explanation, language: str = "en") -> str:
    """A decision that stands by itself."""
    from tools.notebook.markup import rendered

    return rendered(page(language, gate_of(whole, language)))


def gate_of(whole: Explanation, language: str = "en") -> Any:
    """A decision as an element; ``language`` is ``en`` or ``zh``."""
    words = messages(language)
    rows = (
        (
            str(unit.number),
            mark(unit.label.value, LABELS[unit.label.value]),
            unit.text,
            f"{unit.reason} ({words['gate.turns']})" if unit.turning else unit.reason,
        )
        for unit in whole.units
    )
    units = table(("", "", words["gate.sentence"], words["gate.why"]), rows) if whole.units else None
    return element(
        "div",
        element("p", element("b", whole.verdict)),
        element("p", element("strong", whole.warning)) if whole.warning else None,
        element("p", whole.counts, class_="dim") if whole.counts else None,
        element("div", units, class_="scroll"),
        *(element("p", line, class_="dim") for line in whole.after),
    )
