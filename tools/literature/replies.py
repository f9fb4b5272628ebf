"""Answers of the E-utilities: XML with the root that was asked for, or a typed failure."""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import Element, ParseError

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
