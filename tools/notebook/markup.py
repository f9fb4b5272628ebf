"""HTML built from elements, never from strings: whatever a text holds, it stays text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from lxml import etree, html

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
