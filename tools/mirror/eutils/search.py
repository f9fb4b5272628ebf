"""esearch: the query with what the parameters add to it, and the answer in XML or JSON."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from xml.etree.ElementTree import Element

from tools.literature.replies import SearchResult
from tools.mirror.engine import Mirror, Sort
from tools.mirror.eutils.replies import History, Parameters, Reply, RequestError, as_json, sub, xml
from tools.mirror.parser import Kind, scan

CEILING = 9_999  # PubMed lists the first 9,999 records of a search (E-utilities manual, ESearch)
LISTED = 20  # the default of retmax (E-utilities manual)
SORTS: dict[str, Sort] = {
    "": "date", "relevance": "relevance", "pub_date": "date", "pub date": "date", "date": "date", "most recent": "date",
    "most+recent": "date", "pub+date": "date",
}  # fmt: skip
DATE_TYPES = {"pdat": "dp", "edat": "edat"}  # the kinds of date that are held
LISTS = (  # of a warning: where it stands in XML, its name there and in JSON
    ("ErrorList", "PhraseNotFound", "phrasesnotfound"), ("ErrorList", "FieldNotFound", "fieldsnotfound"),
    ("WarningList", "PhraseIgnored", "phrasesignored"),
    ("WarningList", "QuotedPhraseNotFound", "quotedphrasesnotfound"),
    ("WarningList", "OutputMessage", "outputmessages"),
)  # fmt: skip


def esearch(mirror: Mirror, history: History, parameters: Parameters) -> Reply:
    """Search. Without ``sort`` the newest come first, as at NCBI.

    Raises:
        RequestError: a parameter that cannot be followed. QueryError: the query cannot be read, or not be answered.
    """
    parameters.database()
    start, asked = parameters.number("retstart", 0), parameters.number("retmax", LISTED)
    if start > CEILING - 1:
        raise RequestError(
            f"'retstart' cannot be larger than {CEILING - 1}",
            f"Only the first {CEILING:,} records of a search are listed; cut it by dates.",
        )
    if parameters.has("query_key"):  # at NCBI it joins the term with a kept search; left out it would find too much
        raise RequestError("query_key is not held for searches by this mirror", "Write the whole search as term.")
    keep = parameters.text("usehistory").lower() == "y"
    counting = parameters.text("rettype").lower() == "count"
    listed = 0 if counting else min(asked, CEILING - start)
    query, sort = _query(parameters), _sort(parameters)
    result = mirror.find(query, CEILING if keep else start + listed, sort=sort)
    place: dict[str, str] = {}
    if keep:
        environment, number = history.put(result.ids, parameters.text("WebEnv"))
        place = {"QueryKey": str(number), "WebEnv": environment}
    shown = result.model_copy(update={"ids": result.ids[start : start + listed]})
    if parameters.wants_json:
        return _json(shown, start, counting, place)
    return _xml(shown, start, counting, place)


def _query(parameters: Parameters) -> str:
    term = parameters.text("term")
    if not term:
        raise RequestError("Empty term and query_key - nothing todo", "Give a query as term.")
    if parameters.has("field"):
        term = _in_field(term, parameters.text("field"))
    dates = _dates(parameters)
    return f"({term}) AND {dates}" if dates else term


def _in_field(term: str, field: str) -> str:
    """Every term that has no tag of its own gets one."""
    if not set(field).isdisjoint('[]"()'):
        raise RequestError(f"Invalid field: {field[:40]}", "Give a name such as title.")
    tokens = scan(term)
    parts: list[str] = []
    for token, following in pairwise(tokens):
        forms = {Kind.QUOTED: f'"{token.text}"', Kind.TAG: f"[{token.text}]"}
        parts.append(forms.get(token.kind, token.text))
        ended = following.kind not in (Kind.WORD, Kind.TAG, Kind.COLON)
        if token.kind is Kind.QUOTED and following.kind is Kind.WORD:
            ended = True
        if token.kind in (Kind.WORD, Kind.QUOTED) and ended:
            parts.append(f"[{field}]")
    return " ".join(parts)


def _dates(parameters: Parameters) -> str:
    low, high = parameters.text("mindate"), parameters.text("maxdate")
    kind = parameters.text("datetype", "pdat").lower()
    if not low and not high and not parameters.has("reldate"):
        return ""
    if kind not in DATE_TYPES:
        raise RequestError(f"The datetype {kind[:20]} is not held by this mirror", "Use pdat or edat.")
    if parameters.has("reldate"):
        return f'"last {parameters.number("reldate", 0)} days"[{DATE_TYPES[kind]}]'
    if not low or not high:
        raise RequestError("mindate and maxdate must be used together", "Give both, or use reldate.")
    if not set(low + high) <= set("0123456789/"):
        raise RequestError("mindate or maxdate is no date", "Write dates as YYYY, YYYY/MM or YYYY/MM/DD.")
    return f"{low}:{high}[{DATE_TYPES[kind]}]"


def _sort(parameters: Parameters) -> Sort:
    asked = parameters.text("sort").lower().replace("_", " ").replace("pub date", "pub_date")
    if asked not in SORTS:
        raise RequestError(f"Unknown sort schema '{asked[:30]}'", "Use relevance or pub_date.")
    return SORTS[asked]


def _warnings(result: SearchResult) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for warning in result.warnings:
        name, _, text = warning.partition(": ")
        found.setdefault(name, []).append(text.strip("[]") if name == "FieldNotFound" else text)
    return found


def _xml(result: SearchResult, start: int, counting: bool, place: dict[str, str]) -> Reply:
    root = Element("eSearchResult")
    sub(root, "Count", result.count)
    if counting:
        return xml(root)
    sub(root, "RetMax", len(result.ids))
    sub(root, "RetStart", start)
    for name, value in place.items():
        sub(root, name, value)
    ids = sub(root, "IdList")
    for pmid in result.ids:
        sub(ids, "Id", pmid)
    sub(root, "TranslationSet")
    sub(root, "QueryTranslation", result.translation)
    found = _warnings(result)
    for group in ("ErrorList", "WarningList"):
        names = [name for owner, name, _ in LISTS if owner == group and name in found]
        if names:
            parent = sub(root, group)
            for name in names:
                for text in found[name]:
                    sub(parent, name, text)
    return xml(root)


def _json(result: SearchResult, start: int, counting: bool, place: dict[str, str]) -> Reply:
    content: dict[str, Any] = {"count": str(result.count)}
    if not counting:
        content |= {"retmax": str(len(result.ids)), "retstart": str(start)}
        content |= {name.lower(): value for name, value in place.items()}
        content |= {"idlist": list(result.ids), "translationset": [], "querytranslation": result.translation}
        found = _warnings(result)
        for group in ("ErrorList", "WarningList"):
            if any(name in found for owner, name, _ in LISTS if owner == group):
                lists = {short: found.get(name, []) for owner, name, short in LISTS if owner == group}
                content[group.lower()] = lists
    return as_json("esearch", "esearchresult", content)
