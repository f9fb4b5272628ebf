"""What an E-utility sends back: status, media type, bytes; XML with NCBI's document types, JSON with its header.

Biopython's `Entrez.read` finds the DTD by the doctype line, so these lines are NCBI's own.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

from prompts.errors import InputError
from tools.mirror.article_xml import ILLEGAL

DTDS = {
    "eSearchResult": ("esearch 20060628", "20060628/esearch.dtd"),
    "ePostResult": ("epost 20090526", "20090526/epost.dtd"),
    "eLinkResult": ("elink 20101123", "20101123/elink.dtd"),
    "eInfoResult": ("einfo 20190110", "20190110/einfo.dtd"),
    "eSummaryResult": ("esummary v1 20041029", "20041029/esummary-v1.dtd"),
}
HOST = "https://eutils.ncbi.nlm.nih.gov/eutils/dtd"
OTHER_DTDS = {
    "eSpellResult": (
        "-//NLM//DTD eSpellResult, 23 November 2004//EN", "https://www.ncbi.nlm.nih.gov/entrez/query/DTD/eSpell.dtd",
    ),
    "PubmedArticleSet": (
        "-//NLM//DTD PubMedArticle, 1st January 2025//EN", "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd",
    ),
}  # fmt: skip
HEADER_VERSION = "0.3"  # of NCBI's JSON


class RequestError(InputError):
    """A request that an E-utility does not take; sent as its ERROR."""

    def __init__(self, what: str, advice: str = "") -> None:
        super().__init__(what if what[-1:] in ".!?" or not advice else f"{what}.", advice)


class Reply(NamedTuple):
    """An answer: HTTP status, media type, body."""

    status: int
    media: str
    body: bytes


def xml(root: Element, *, status: int = 200, doctype: bool = True) -> Reply:
    """An XML document with the doctype that its root has at NCBI."""
    kind, address = OTHER_DTDS.get(root.tag, ("", ""))
    if root.tag in DTDS:
        kind, address = f"-//NLM//DTD {DTDS[root.tag][0]}//EN", f"{HOST}/{DTDS[root.tag][1]}"
    line = f'<!DOCTYPE {root.tag} PUBLIC "{kind}" "{address}">\n' if doctype and kind else ""
    head = f'<?xml version="1.0" encoding="UTF-8" ?>\n{line}'
    return Reply(status, "text/xml; charset=UTF-8", head.encode() + tostring(root, encoding="utf-8") + b"\n")


def as_json(kind: str, name: str, content: Any, *, status: int = 200) -> Reply:
    """A JSON object with NCBI's header."""
    value = {"header": {"type": kind, "version": HEADER_VERSION}, name: content}
    return Reply(status, "application/json; charset=UTF-8", json.dumps(value, ensure_ascii=False).encode())


def plain(text: str) -> Reply:
    """Plain text."""
    return Reply(200, "text/plain; charset=UTF-8", text.encode())


def bare_error(status: int, **content: str) -> Reply:
    """NCBI's answer when no utility was reached: a JSON object with ``error``."""
    return Reply(status, "application/json; charset=UTF-8", json.dumps(content).encode())


def sub(parent: Element, tag: str, text: object = "", **attributes: str) -> Element:
    """A child element with text."""
    element = SubElement(parent, tag, {name: ILLEGAL.sub(" ", value) for name, value in attributes.items()})
    element.text = ILLEGAL.sub(" ", str(text))
    return element
