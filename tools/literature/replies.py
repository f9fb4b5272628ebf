"""Answers of the E-utilities: XML with the root that was asked for, or a typed failure."""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import Element, ParseError, tostring

from tools.evidence import Frozen
from tools.literature.failures import EUtilitiesError, Reason, failure

QUOTED = 200  # characters of PubMed's own message that are shown; ours
WEB_PAGE = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+)?html", re.IGNORECASE | re.DOTALL)
# What PubMed's messages are about, the first that fits; from the recorded answers and the E-utilities' documentation
MESSAGES = (
    (Reason.BEYOND_LIMIT, re.compile(r"retstart|first 9,?999|10,?000", re.IGNORECASE)),
    (Reason.TOO_MANY_REQUESTS, re.compile(r"rate limit|too many requests", re.IGNORECASE)),
    (Reason.REFUSED, re.compile(r"api[ _-]?key", re.IGNORECASE)),
    (
        Reason.SERVER_ERROR,
        re.compile(r"backend|server|time[d -]?out|temporar|unavailable|try again|unable to|can ?not connect", re.I),
    ),
)
# U+2070 and its like: an exponent that follows a number must not become one of its digits
EXPONENTS = str.maketrans("0123456789+-\u2212n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻ⁿ")
EXPONENT = re.compile("[0-9+\u2212n-]+")


def parse_xml(body: bytes, root: str) -> Element:
    """The root element of an answer; entities are never expanded, nothing is loaded.

    Raises:
        EUtilitiesError: nothing, a web page or JSON instead of XML; XML that is cut; another root; an ERROR element.
    """
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    start = body[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start:
        raise failure(Reason.NOT_XML, "PubMed sent an empty answer.")
    if start[:1] in b"{[":
        raise _json(start)
    if WEB_PAGE.match(start):
        raise failure(Reason.NOT_XML, "PubMed sent a web page instead of data.")
    if start[:1] != b"<":
        raise failure(Reason.NOT_XML, "PubMed sent text instead of XML.")
    try:
        element: Element = fromstring(body)
    except (ParseError, ValueError, LookupError, DefusedXmlException):
        element = Element("")
    if not element.tag:
        raise failure(Reason.DAMAGED, "PubMed's answer is damaged or cut off.")
    message = text_of(element if element.tag == "ERROR" else element.find("ERROR"))
    if message:
        raise error_element(message)
    if element.tag != root:
        raise failure(Reason.WRONG_DOCUMENT, f"PubMed sent {element.tag[:40]} instead of {root}.")
    return element


def error_element(message: str) -> EUtilitiesError:
    """The failure that an ERROR element stands for."""
    reason = next((r for r, pattern in MESSAGES if pattern.search(message)), Reason.BAD_QUERY)
    return failure(reason, f"PubMed answered with an error: {message[:QUOTED].rstrip('. ')}.")


def _json(start: bytes) -> EUtilitiesError:
    """Never quoted: such an answer repeats the key or the caller's address."""
    text = start.decode("utf-8", "replace")
    if MESSAGES[1][1].search(text):
        return failure(Reason.TOO_MANY_REQUESTS, "PubMed has had too many requests.")
    if '"error"' in text and re.search(r"api key (?:is )?(?:invalid|unknown|wrong)", text, re.IGNORECASE):
        return failure(Reason.REFUSED, "PubMed does not know the API key.")
    return failure(Reason.NOT_XML, "PubMed sent JSON instead of XML.")


def text_of(element: Any) -> str:
    """All text below an element, white space made single; an exponent after a number stays one (10⁹, not 109)."""
    if element is None:
        return ""
    if len(element) == 0:
        return " ".join((element.text or "").split())
    pieces: list[str] = []
    _gather(element, pieces)
    return " ".join("".join(pieces).split())


def _gather(element: Any, pieces: list[str]) -> None:
    pieces.append(element.text or "")
    for child in element:
        if child.tag == "sup" and len(child) == 0:
            pieces.append(_raised(child.text or "", pieces))
        elif isinstance(child.tag, str):  # a comment has no text of the record
            _gather(child, pieces)
        pieces.append(child.tail or "")


def _raised(text: str, before: list[str]) -> str:
    last = next((p for p in reversed(before) if p), "")
    return text.translate(EXPONENTS) if last[-1:].isdigit() and EXPONENT.fullmatch(text.strip()) else text


class SearchResult(Frozen):
    """What esearch found: how many in all, the first ids in the order asked for, how the query was understood, and
    PubMed's warnings (phrases not found, tags ignored)."""

    count: int
    ids: tuple[str, ...]
    translation: str = ""
    warnings: tuple[str, ...] = ()


def search_result(body: bytes, *, start: int, asked: int) -> SearchResult:
    """An esearch answer; ``start`` and ``asked`` are the retstart and retmax that were sent.

    Raises:
        EUtilitiesError: no count, an id that is none, or no ids although the count says that there are some.
    """
    root = parse_xml(body, "eSearchResult")
    count = _number(root.findtext("Count"))
    if count is None:
        raise failure(Reason.INCOMPLETE, "PubMed's answer has no count.")
    ids = tuple(text_of(i) for i in root.iterfind("IdList/Id"))
    if not all(i.isascii() and i.isdigit() for i in ids):
        raise failure(Reason.INCOMPLETE, "PubMed's answer lists something that is no id.")
    due = max(0, min(asked, count - start))
    if due and not ids:
        raise failure(Reason.INCOMPLETE, f"PubMed counts {count} records and lists none.")
    warnings = _warnings(root)
    if len(ids) < due:
        warnings += (f"Incomplete: PubMed listed {len(ids)} of {due} ids",)
    translation = text_of(root.find("QueryTranslation"))
    return SearchResult(count=count, ids=ids, translation=translation, warnings=warnings)


def _warnings(root: Element) -> tuple[str, ...]:
    items = [*root.iterfind("ErrorList/*"), *root.iterfind("WarningList/*")]
    return tuple(f"{i.tag}: {text_of(i)}" for i in items if text_of(i))


def pmc_links(body: bytes) -> dict[str, str]:
    """PMCID by PMID out of an elink answer; a PMID without a copy is left out.

    Raises:
        EUtilitiesError: a failed link set, or links of several records in one: which is whose is then unknown.
    """
    found: dict[str, str] = {}
    for links in parse_xml(body, "eLinkResult").iterfind("LinkSet"):
        message = text_of(links.find("ERROR"))
        if message:
            raise error_element(message)
        sources = [text_of(i) for i in links.iterfind("IdList/Id")]
        targets = [
            text_of(i)
            for database in links.iterfind("LinkSetDb")
            if text_of(database.find("LinkName")) == "pubmed_pmc"
            for i in database.iterfind("Link/Id")
        ]
        if targets and len(sources) != 1:
            raise failure(Reason.INCOMPLETE, "PubMed's links do not say which record they belong to.")
        if targets:
            found[sources[0]] = f"PMC{targets[0].upper().removeprefix('PMC')}"
    return found


def pmc_articles(body: bytes) -> dict[str, bytes]:
    """The articles of an efetch answer of PubMed Central, as XML by PMCID.

    Raises:
        EUtilitiesError: an article without a PMCID: it cannot be joined to its record.
    """
    found = {}
    for article in parse_xml(body, "pmc-articleset").iterfind("article"):
        pmcid = _pmcid(article)
        if not pmcid:
            raise failure(Reason.INCOMPLETE, "PubMed Central sent an article without its PMCID.")
        article.tail = None
        found[pmcid] = tostring(article, encoding="utf-8")
    return found


def _pmcid(article: Element) -> str:
    for element in article.iterfind("front/article-meta/article-id"):
        number = text_of(element).upper().removeprefix("PMC").split(".")[0]
        if element.get("pub-id-type") in ("pmc", "pmcid") and number.isdigit():
            return f"PMC{number}"
    return ""


def _number(text: str | None) -> int | None:
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() else None
