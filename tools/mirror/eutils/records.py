"""efetch, esummary and epost: records by id, or by a list of the history."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from tools.mirror.engine import Mirror
from tools.mirror.eutils.citation import Citation, abstract, esummary_1, esummary_2, esummary_json, medline
from tools.mirror.eutils.replies import History, Parameters, Reply, RequestError, plain, sub, xml
from tools.mirror.stored import element_of

MOST = 10_000  # records an answer, as at NCBI
MOST_JSON = 500  # summaries an answer in JSON, as at NCBI
SET = "PubmedArticleSet"


def efetch(mirror: Mirror, history: History, parameters: Parameters) -> Reply:
    """Records as XML, MEDLINE, abstracts, or PMIDs alone; PMIDs that are not held are left out, as at NCBI."""
    parameters.database()
    asked = _asked(history, parameters)
    form, mode = parameters.text("rettype").lower(), parameters.text("retmode").lower()
    if form == "uilist" and mode in ("", "text"):
        return plain("".join(f"{pmid}\n" for pmid in mirror.stored(asked)))
    if form == "uilist" and mode == "xml":
        ids = Element("IdList")
        for pmid in mirror.stored(asked):
            sub(ids, "Id", pmid)
        return xml(ids)
    if form in ("medline", "abstract") and mode in ("", "text"):
        return plain(_text(mirror, asked, form))
    if mode == "xml" or form == "xml" or (not mode and form in ("", "full")):
        return _whole(mirror, asked)
    raise RequestError(
        f"Cannot process rettype '{form[:20]}' with retmode '{mode[:20]}'",
        "Use retmode=xml, or retmode=text with rettype medline, abstract or uilist.",
    )


def esummary(mirror: Mirror, history: History, parameters: Parameters) -> Reply:
    """Summaries as JSON, or as XML of version 1 or 2.0."""
    parameters.database()
    asked = _asked(history, parameters)
    if parameters.wants_json and len(asked) > MOST_JSON:
        raise RequestError(f"Too many UIDs in request. Maximum number of UIDs is {MOST_JSON} for JSON format output.")
    found = {pmid: Citation.of(element_of(stored.xml())) for pmid, stored in mirror.stored(asked).items()}
    if parameters.wants_json:
        return esummary_json(asked, found)
    return esummary_2(asked, found) if parameters.text("version") == "2.0" else esummary_1(asked, found)


def epost(history: History, parameters: Parameters) -> Reply:
    """Keep a list of ids; ids that are none are named, as at NCBI."""
    parameters.database()
    ids, invalid = parameters.ids(), parameters.invalid()
    if not ids:
        raise RequestError("Empty ID list; Nothing to store", "Give PMIDs as id.")
    environment, key = history.put(ids, parameters.text("WebEnv"))
    root = Element("ePostResult")
    if invalid:
        listed = sub(root, "InvalidIdList")
        for text in invalid:
            sub(listed, "Id", text[:40])
    sub(root, "QueryKey", key)
    sub(root, "WebEnv", environment)
    return xml(root)


def _asked(history: History, parameters: Parameters) -> list[str]:
    """The ids of the request, or the part of a kept list that it asks for."""
    start, most = parameters.number("retstart", 0), min(parameters.number("retmax", MOST), MOST)
    if parameters.has("WebEnv") or parameters.has("query_key"):
        return list(history.get(parameters)[start : start + most])
    ids = parameters.ids()
    if not ids:
        raise RequestError("ID list is empty! Possibly it has no correct IDs.", "Give PMIDs as id.")
    return ids[start : start + most]


def _whole(mirror: Mirror, asked: Sequence[str]) -> Reply:
    root = Element(SET)
    mark = "records"
    root.text = mark
    head = xml(root)
    before, _, after = head.body.partition(mark.encode())
    records = b"\n".join(stored.xml() for stored in mirror.stored(asked).values())
    return head._replace(body=before + b"\n" + records + b"\n" + after)


def _text(mirror: Mirror, asked: Sequence[str], form: str) -> str:
    found = [Citation.of(element_of(stored.xml())) for stored in mirror.stored(asked).values()]
    if form == "medline":
        return "".join(f"\n{medline(citation)}" for citation in found)
    return "\n\n".join(abstract(citation, number) for number, citation in enumerate(found, 1))
