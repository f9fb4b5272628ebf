"""What stands before a JATS article: ids, title, date, language, publication types, editorial status."""

from __future__ import annotations

from typing import Any

from tools.evidence import Frozen, Status
from tools.literature.article import level_of, status_of
from tools.literature.publications import MONTHS
from tools.readers.dates import iso_date
from tools.readers.layout import Layout
from tools.readers.markup import Markup
from tools.text.language import language_of

# PubMed's publication types by what JATS says, only where both mean the same
TYPES = {
    "review-article": "Review",
    "review": "Review",
    "review article": "Review",
    "systematic-review": "Systematic Review",
    "systematic review": "Systematic Review",
    "meta-analysis": "Meta-Analysis",
    "case-report": "Case Reports",
    "case report": "Case Reports",
    "case reports": "Case Reports",
    "randomized controlled trial": "Randomized Controlled Trial",
    "randomised controlled trial": "Randomized Controlled Trial",
    "practice guideline": "Practice Guideline",
    "study protocol": "Clinical Trial Protocol",
    "editorial": "Editorial",
    "letter": "Letter",
    "article-commentary": "Comment",
    "preprint": "Preprint",
    "correction": "Published Erratum",
    "retraction": "Retraction of Publication",
    "expression-of-concern": "Expression of Concern",
}
# Articles about another article: what they point to is not about themselves, whatever the pointer is called.
NOTICES = {"retraction": "Retraction", "correction": "Correction", "expression-of-concern": "Expression of concern"}
# JATS tag library, related-article-type: what an article says of itself, as PubMed's references say it
FORWARD = {
    "retraction-forward": "RetractionIn",
    "partial-retraction": "PartialRetractionIn",
    "concern-forward": "ExpressionOfConcernIn",
    "correction-forward": "ErratumIn",
}
DATES = ("epub", "pub", "epub-ppub", "ppub", "collection", "epreprint")  # ours: when it could first be read
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


class Front(Frozen):
    """What the front matter tells. ``id`` is "" without a PMCID: a full text never takes the id of its abstract."""

    id: str
    title: str
    date: str
    language: str
    publication_types: tuple[str, ...]
    status: Status

    @property
    def level(self) -> str | None:
        """The level of evidence; None when no type tells."""
        return level_of(self.publication_types) if self.publication_types else None

    def language_for(self, text: str) -> str:
        """The language that the article names, else the text's own."""
        return self.language or language_of(text)


def read_front(article: Any) -> Front:
    """The front matter of an ``article`` element; what is missing is empty."""
    meta = article.find("front/article-meta")
    kind = (article.get("article-type") or "").lower()
    title = _title(meta)
    language = (article.get(LANGUAGE) or "").lower().split("-")[0]
    types = _types(kind, meta)
    return Front(
        id=_id(meta),
        title=_named(kind, title),
        date=_date(meta),
        language=language if language.isalpha() else "",
        publication_types=types,
        status=_status(kind, title, article, types),
    )


def _id(meta: Any) -> str:
    for element in [] if meta is None else meta.iterfind("article-id"):
        number = (element.text or "").strip().upper().removeprefix("PMC").split(".")[0]
        if element.get("pub-id-type") in ("pmc", "pmcid") and number.isdigit():
            return f"pmc:PMC{number}"
    return ""


def _title(meta: Any) -> str:
    group = None if meta is None else meta.find("title-group")
    if group is None:
        return ""
    reader = _Title(Layout())
    parts = [reader.inline(t) for t in group if t.tag in ("article-title", "subtitle")]
    return ": ".join(p for p in parts if p)


class _Title(Markup):
    dropped = frozenset({"xref", "fn", "tex-math", "annotation"})


def _named(kind: str, title: str) -> str:
    """The title; a notice may bear the very title of the article that it is about, so it is named as a notice."""
    notice = NOTICES.get(kind, "")
    known = ("retract", "correct", "errat", "corrigend", "concern", "withdraw", "addend")
    return title if not notice or any(word in title.lower() for word in known) else f"{notice}: {title}"


def _types(kind: str, meta: Any) -> tuple[str, ...]:
    subjects = [] if meta is None else meta.iterfind("article-categories/subj-group/subject")
    said = [kind, *(" ".join((s.text or "").lower().split()) for s in subjects)]
    return tuple(dict.fromkeys(TYPES[s] for s in said if s in TYPES))


def _status(kind: str, title: str, article: Any, types: tuple[str, ...]) -> Status:
    said = {r.get("related-article-type") for r in article.iterfind("front/article-meta//related-article")}
    return status_of(types, [] if kind in NOTICES else [FORWARD[s] for s in said if s in FORWARD], title)


def _date(meta: Any) -> str:
    dates = {} if meta is None else {d.get("pub-type") or d.get("date-type"): d for d in meta.iterfind("pub-date")}
    for kind in (*DATES, None):
        iso = _iso(dates[kind]) if kind in dates else ""
        if iso:
            return iso
    return ""


def _iso(date: Any) -> str:
    """ISO, as precise as the element is."""
    year, month, day = ((date.findtext(part) or "").strip() for part in ("year", "month", "day"))
    if len(year) != 4 or not year.isdigit():
        return ""
    number = int(month) if month.isdigit() else MONTHS.get(month[:3].lower(), 0)
    return iso_date("-".join((year, str(number), day) if number and day.isdigit() else (year, str(number))))
