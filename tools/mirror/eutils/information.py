"""einfo, elink and espell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.etree.ElementTree import Element

from tools.mirror.engine import Mirror
from tools.mirror.eutils.replies import DATABASE, Parameters, Reply, RequestError, as_json, sub, xml
from tools.mirror.parser import NAMES
from tools.mirror.syntax import DATES, Field

SHORT = {  # NCBI's names of the fields that are held
    Field.ALL: "ALL", Field.TITLE_ABSTRACT: "TIAB", Field.TITLE: "TITL", Field.ABSTRACT: "ABST", Field.TEXT: "WORD",
    Field.KEYWORD: "OTRM", Field.MESH: "MESH", Field.MAJOR: "MAJR", Field.TYPE: "PTYP", Field.PUBLISHED: "PDAT",
    Field.ENTERED: "EDAT", Field.LANGUAGE: "LANG", Field.AUTHOR: "AUTH", Field.JOURNAL: "JOUR", Field.PMID: "UID",
    Field.IDENTIFIER: "AID", Field.SUBSET: "FILT",
}  # fmt: skip
FIELD_TAGS = "Name FullName Description TermCount IsDate IsNumerical SingleToken Hierarchy".split()
LINK = "pubmed_pmc"
DESCRIPTION = "A local copy of PubMed records"


def einfo(mirror: Mirror, parameters: Parameters) -> Reply:
    """The one database, or its state and fields. Numbers of terms are not kept, and given as 0."""
    if not parameters.has("db"):
        return _databases(parameters)
    parameters.database()
    manifest = mirror.manifest()
    state = {
        "dbname": DATABASE, "menuname": "PubMed", "description": DESCRIPTION, "dbbuild": f"Build{manifest.generation}",
        "count": str(manifest.records), "lastupdate": manifest.updated.replace("-", "/").replace("T", " ")[:16],
    }  # fmt: skip
    fields = [_field(field) for field in NAMES]
    if parameters.wants_json:
        link = {"name": LINK, "menu": "PMC", "description": "The same article in PubMed Central", "dbto": "pmc"}
        return as_json("einfo", "einforesult", {"dbinfo": [state | {"fieldlist": fields, "linklist": [link]}]})
    root = Element("eInfoResult")
    info = sub(root, "DbInfo")
    tags = ("DbName", "MenuName", "Description", "DbBuild", "Count", "LastUpdate")
    for tag, text in zip(tags, state.values(), strict=True):
        sub(info, tag, text)
    listed = sub(info, "FieldList")
    for row in fields:
        element = sub(listed, "Field")
        for tag in FIELD_TAGS:
            sub(element, tag, row[tag.lower()])
        sub(element, "IsHidden", "N")
    links = sub(sub(info, "LinkList"), "Link")
    for tag, text in (("Name", LINK), ("Menu", "PMC"), ("Description", "The same article in PMC"), ("DbTo", "pmc")):
        sub(links, tag, text)
    return xml(root)


def elink(mirror: Mirror, parameters: Parameters) -> Reply:
    """PMCIDs of records, a link set for each ``id`` that was given. Other links are an error, never an empty set."""
    parameters.database("dbfrom")
    target, name = parameters.text("db", DATABASE).lower(), parameters.text("linkname", LINK).lower()
    command = parameters.text("cmd", "neighbor").lower()
    if target != "pmc" or name != LINK or command != "neighbor":
        asked = f" {name[:40]}" if parameters.has("linkname") else ""
        raise RequestError(
            f"The link{asked} to {target[:20]} (cmd={command[:20]}) is not held by this mirror",
            "It holds pubmed_pmc: dbfrom=pubmed, db=pmc.",
        )
    groups = parameters.id_groups()
    if not groups:
        raise RequestError("No ids were given", "Give PMIDs as id.")
    records = {r.pmid: r.pmcid for r in mirror.records([i for group in groups for i in group])}
    sets = [(group, [records[i].removeprefix("PMC") for i in group if records.get(i)]) for group in groups]
    return _links_json(sets) if parameters.wants_json else _links_xml(sets)


def espell(mirror: Mirror, parameters: Parameters) -> Reply:
    """The term with the words of the collection in the place of those that it does not have."""
    parameters.database()
    term = parameters.text("term")
    if not term:
        raise RequestError("Empty term", "Give words as term.")
    better = mirror.corrections(term)
    root = Element("eSpellResult")
    sub(root, "Database", DATABASE)
    sub(root, "Query", term)
    corrected = term
    together = Element("SpelledQuery")
    rest = term
    for wrong, right in better.items():
        at = rest.lower().find(wrong)
        if at < 0:  # an accent was taken off: the whole query is given anew
            continue
        sub(together, "Original", rest[:at])
        sub(together, "Replaced", right)
        rest = rest[at + len(wrong) :]
    if len(together):
        if rest:
            sub(together, "Original", rest)
        corrected = "".join(e.text or "" for e in together)
    sub(root, "CorrectedQuery", corrected if corrected != term else "")
    root.append(together)
    sub(root, "ERROR")
    return xml(root)


def _databases(parameters: Parameters) -> Reply:
    if parameters.wants_json:
        return as_json("einfo", "einforesult", {"dblist": [DATABASE]})
    root = Element("eInfoResult")
    sub(sub(root, "DbList"), "DbName", DATABASE)
    return xml(root)


def _field(field: Field) -> dict[str, str]:
    tags = ", ".join(f"[{name}]" for name in NAMES[field].split("|"))
    return {
        "name": SHORT[field], "fullname": field.value, "description": f"Tags: {tags}", "termcount": "0",
        "isdate": "Y" if field in DATES else "N", "isnumerical": "Y" if field is Field.PMID else "N",
        "singletoken": "N", "hierarchy": "Y" if field in (Field.MESH, Field.MAJOR) else "N",
    }  # fmt: skip


def _links_xml(sets: Sequence[tuple[list[str], list[str]]]) -> Reply:
    root = Element("eLinkResult")
    for sources, targets in sets:
        links = sub(root, "LinkSet")
        sub(links, "DbFrom", DATABASE)
        ids = sub(links, "IdList")
        for pmid in sources:
            sub(ids, "Id", pmid)
        if targets:
            database = sub(links, "LinkSetDb")
            sub(database, "DbTo", "pmc")
            sub(database, "LinkName", LINK)
            for target in targets:
                sub(sub(database, "Link"), "Id", target)
    return xml(root)


def _links_json(sets: Sequence[tuple[list[str], list[str]]]) -> Reply:
    rows: list[dict[str, Any]] = []
    for sources, targets in sets:
        row: dict[str, Any] = {"dbfrom": DATABASE, "ids": sources}
        if targets:
            row["linksetdbs"] = [{"dbto": "pmc", "linkname": LINK, "links": targets}]
        rows.append(row)
    return as_json("elink", "linksets", rows)
