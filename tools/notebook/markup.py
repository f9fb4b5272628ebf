"""HTML built from elements, never from strings: whatever a text holds, it stays text; a ranking of diseases so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from lxml import etree, html

from tools.evidence import Origin
from tools.messages import messages

if TYPE_CHECKING:
    from tools.contract import RankedDisease


UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # what no HTML may hold

Part = Any  # an element of lxml, or text


def element(name: str, *parts: Part, **attributes: str) -> Any:
    """An element with its parts, in order; ``class_`` is the attribute ``class``. Parts that are None are left out."""
    made = html.Element(name, {key.rstrip("_"): clean(value) for key, value in attributes.items()})
    for part in parts:
        add(made, part)
    return made


def add(to: Any, part: Part) -> None:
    """Add a part at an element's end."""
    if part is None:
        return
    if etree.iselement(part):
        to.append(part)
    elif len(to):
        to[-1].tail = (to[-1].tail or "") + clean(str(part))
    else:
        to.text = (to.text or "") + clean(str(part))


def clean(text: str) -> str:
    """The text without characters that HTML cannot hold."""
    return UNPRINTABLE.sub("\ufffd", text)


def listed(items: Iterable[str]) -> Any:
    """A list of texts; a dash where there is none."""
    found = [element("li", item) for item in items]
    return element("ul", *found) if found else "–"


def table(heads: Iterable[str], rows: Iterable[Iterable[Part]]) -> Any:
    """A table with a row of heads."""
    head = element("tr", *(element("th", text, scope="col") for text in heads))
    body = [element("tr", *(element("td", cell) for cell in row)) for row in rows]
    return element("table", element("thead", head), element("tbody", *body))


def rendered(root: Any) -> str:
    """An element as HTML."""
    return str(html.tostring(root, encoding="unicode", method="html"))


# How results look in a notebook: on dark and light alike, so every colour is a mark's own ground or see-through.

NAME = "anamnesis"  # the class under which every rule stands, so that none reaches the rest of the page

# White text on each has a contrast of at least 4.5; the word beside says the origin without colour.
GROUNDS = {
    Origin.RETRIEVED: "#0b5cad",
    Origin.KNOWLEDGE_GRAPH: "#17663a",
    Origin.GENERATED: "#7a2aa0",
    Origin.PARAMETRIC: "#8a4b00",
    Origin.CASE: "#475467",
}
LABELS = {"A": "#17663a", "B": "#8a4b00", "C": "#475467"}  # of the gate; the letter says it without colour
DANGER, WARNING = "#b00020", "#8a4b00"

AT = f".{NAME}.{NAME}"  # doubled, to stand above the rules that front ends have for tables and headings
RULES = f"""
{AT} {{ line-height: 1.45; max-width: 60rem; }}
{AT} p {{ margin: .5em 0 .15em; }}
{AT} h4 {{ margin: 1em 0 .3em; font-size: 1em; font-weight: bold; }}
{AT} .alert {{ border: 2px solid {DANGER}; border-left-width: 8px; padding: .5em .8em; margin: .5em 0; }}
{AT} .lead {{ font-size: 1.1em; }}
{AT} .box {{ border-left: 4px solid {WARNING}; padding: .1em .8em; margin: .5em 0; }}
{AT} .mark {{ color: #fff; border-radius: 3px; padding: 0 .4em; font-size: .8em; white-space: nowrap; }}
{AT} .dim {{ opacity: .75; font-size: .9em; }}
{AT} blockquote {{ margin: .3em 0 .3em .5em; padding-left: .7em; border-left: 3px solid; white-space: pre-wrap; }}
{AT} mark {{ background: rgba(255, 196, 0, .35); color: inherit; }}
{AT} summary {{ cursor: pointer; font-size: .9em; }}
{AT} table {{ border-collapse: collapse; }}
{AT} table th, {AT} table td {{ text-align: left; vertical-align: top; padding: .25em .7em .25em 0;
  border-bottom: 1px solid rgba(128, 128, 128, .4); }}
{AT} table td ul {{ margin: 0; padding-left: 1.1em; }}
{AT} .scroll {{ overflow-x: auto; }}
"""


def page(language: str, *parts: Any) -> Any:
    """Parts with the rules of how they look."""
    return element("div", element("style", RULES), *parts, class_=NAME, lang="zh" if language == "zh" else "en")


def mark(word: str, ground: str) -> Any:
    """A word on a ground of its own."""
    return element("span", word, class_="mark", style=f"background:{ground}")


# A ranking of diseases as people read it: the first rows, with what speaks for and against each.

ROWS = 5  # diseases shown, as on the command line; the JSON form has all
LEAST_SHARE = 0.01  # ours: belief below which a disease is not shown


def shown_diseases(ranking: Sequence[RankedDisease]) -> list[RankedDisease]:
    """The first diseases of a ranking that are worth a row."""
    return [d for d in ranking[:ROWS] if d.score >= LEAST_SHARE] or list(ranking[:1])


def ranking_table(ranking: Sequence[RankedDisease], language: str = "en") -> Any:
    """The table; ``language`` is ``en`` or ``zh``."""
    words = messages(language)
    heads = ("", *(words[f"answer.{name}"] for name in ("disease", "icd10", "share", "for", "against")))
    rows = (
        (
            str(place),
            element("b", words.name_of(disease)),
            disease.icd10,
            f"{disease.score:.0%}",
            listed(disease.findings_for),
            listed(disease.findings_against),
        )
        for place, disease in enumerate(shown_diseases(ranking), start=1)
    )
    return table(heads, rows)
