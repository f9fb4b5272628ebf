"""An answer as HTML for a notebook: self-contained, without script, and without a request to anywhere.

The template (`answer.html`) escapes every text, so that no markup of a source or a message becomes markup of the page.
Origins are told in words and in colour; each statement's citations fold out to the quote inside its passage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from graphs.answering.contract import Answer
from graphs.answering.cost import cost_of
from graphs.answering.presentation import present
from graphs.completeness.explained import gate_of
from tools.notebook.markup import GROUNDS, RULES, clean, rendered

if TYPE_CHECKING:
    from jinja2 import Template


def html_of(answer: Answer) -> str:
    """The whole answer: what to do now, the direct answer, what it rests on, what to ask, sources, how it was found."""
    shown = present(answer)
    gate = rendered(gate_of(shown.gate, answer.language)) if shown.gate is not None else ""
    return _template().render(shown=shown, words=shown.words, gate=gate, cost=cost_of(answer))


@lru_cache(maxsize=1)
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def printable(value: Any) -> Any:
        return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    made = Environment(
        loader=PackageLoader("graphs.answering", "."),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"rules": RULES, "grounds": GROUNDS, "pieces": _pieces}
    return made.get_template("answer.html")


def _pieces(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[str, bool]]:
    """A passage in pieces, each with whether it is quoted; of two quotes that overlap the second begins later."""
    at = 0
    for start, end in spans:
        yield text[at : max(at, start)], False
        if end > max(at, start):
            yield text[max(at, start) : end], True
        at = max(at, end)
    yield text[at:], False
