"""Summaries of the National Guideline Clearinghouse: recommendations with their rating, their date and its caution.

The clearinghouse was closed in July 2018 and nothing of it was renewed since: every summary counts as past its review,
so that an answer which cites one says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tools.knowledge.pages import XmlFileReader
from tools.readers.contract import Problem, Record
from tools.readers.layout import Layout
from tools.readers.normal import iso_date, one_line, slug
from tools.readers.webpage import lay_out, parse_html

CLOSED = "2018-07-16"  # AHRQ's last day of the clearinghouse
KEPT = {  # field of a summary: heading here; the order is that of a document here
    "Major Recommendations": "Recommendations",
    "Rating Scheme for the Strength of the Recommendations": "Strength of recommendations",
    "Rating Scheme for the Strength of the Evidence": "Strength of evidence",
    "Contraindications": "Contraindications",
    "FDA Warning/Regulatory Alert": "Regulatory alert",
    "Potential Benefits": "Potential benefits",
    "Potential Harms": "Potential harms",
    "Disease/Condition(s)": "Conditions",
    "Target Population": "Target population",
    "Interventions and Practices Considered": "Interventions considered",
    "Qualifying Statements": "Qualifying statements",
    "Guideline Status": "Status when the clearinghouse was closed (2018)",
    "Bibliographic Source(s)": "Bibliographic source",
}
NOTHING = re.compile(r"(?:not (?:applicable|stated)|none (?:stated|provided|available))\.?", re.IGNORECASE)
REPLACED = re.compile(r"\b(?:superseded|withdrawn|has been (?:updated|replaced))\b", re.IGNORECASE)
YEAR = re.compile(r"\b(?:19|20)\d\d\b")
MONTHS = {name: n for n, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), start=1)}
LONGEST = 160  # ours: characters of a copyright statement that stand with a citation


class GuidelineReader(XmlFileReader):
    """Reads a summary (root ``Version``)."""

    roots = frozenset({"Version"})
    publisher = "the clearinghouse"

    def records(self, root: Any, name: str) -> Iterator[Record | Problem]:
        """One record, or the problem that the file is a stub."""
        held = {str(f.get("Name")): f for f in root.iter("Field")}
        title = _plain(held.get("Guideline Title"))
        if "Major Recommendations" not in held or not title:
            advice = "The clearinghouse kept many numbers without a summary."
            yield Problem(where=name, what="The file holds no recommendations.", advice=advice)
            return
        layout = Layout()
        for field, heading in KEPT.items():
            for path, line in _lines(held.get(field)):
                layout.paragraph((heading, *path), line)
        text, sections = layout.finish()
        released = _plain(held.get("Date Released"))
        date = _date(released)
        status = "; replaced or withdrawn" if REPLACED.search(_plain(held.get("Guideline Status"))) else ""
        yield Record(
            id=f"guideline:{slug(name)}",
            title=title.rstrip("."),
            text=text,
            kind="guideline",
            sections=sections,
            date=date,
            review_by=CLOSED,
            level=f"guideline summary, {released or 'undated'}{status}; may be superseded",
            source=_plain(held.get("Guideline Developer(s)")).split(" - ")[0],
            licence=_plain(held.get("Copyright Statement"))[:LONGEST],
        )


def _lines(field: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    """The paragraphs of a field's values, which are escaped HTML, below their headings."""
    for value in () if field is None else field.iter("FieldValue"):
        html = value.get("Value") or ""
        if not html.strip():
            continue
        text, sections = lay_out(parse_html(f"<div>{html}</div>"))
        for section in sections:
            for line in text[section.start : section.end].split("\n"):
                if not NOTHING.fullmatch(line.strip()):
                    yield (section.title,) if section.title else (), line


def _plain(field: Any) -> str:
    return one_line(" ".join(line for _, line in _lines(field)))


def _date(released: str) -> str:
    """ISO of the latest date in ``2002 Jun (revised 2013 Jun)``; "" where there is none."""
    found = list(YEAR.finditer(released))
    if not found:
        return ""
    last = max(found, key=lambda m: m[0])
    month = MONTHS.get(released[last.end() :].strip()[:3].title(), 0)
    return iso_date(f"{last[0]}-{month:02}" if month else last[0])
