"""What curators wrote of diseases: Monarch's disorder files (YAML) with their quotations, ontologies in OBO."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from prompts.errors import DataError
from tools.readers.contract import Problem, Record
from tools.readers.files import decode, name_of, problem, read_bytes
from tools.readers.layout import Layout
from tools.readers.normal import iso_date, one_line, slug

LEFT_OUT = frozenset({"datasets", "references", "history", "mappings", "clinical_trials", "computational_models"})
SUPPORTS = ("SUPPORT", "PARTIAL")  # what a quotation does for its statement; others are left out
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
JOINED = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")  # has_symptom: relations in definitions are written in words
RELEASE = re.compile(r"\d{4}-\d\d-\d\d")
XREFS = ("ICD10CM", "ICD11", "MESH", "UMLS_CUI", "ORDO", "OMIM")


class DisorderReader:
    """Reads a disorder of Monarch's dismech: each list of named statements is a section, each with its quotations."""

    suffixes = (".yaml", ".yml")

    def read(self, path: Path) -> Iterator[Record | Problem]:
        """One record; a file of another kind is a problem."""
        try:
            text = decode(read_bytes(path))
            found = yaml.load(text, yaml.CSafeLoader)
            if not isinstance(found, dict) or not found.get("name"):
                raise DataError("The YAML is no disorder: it has no name.", "Give files of kb/disorders.")
            yield _disorder(found, name_of(path))
        except (yaml.YAMLError, ValueError) as error:  # a date that no calendar has is the latter
            what = " ".join(str(error).split())[:120]
            yield Problem(where="", what=f"The YAML is damaged or cut off: {what}.", advice="Fetch it anew.")
        except DataError as error:
            yield problem(error)


def _disorder(found: Mapping[str, Any], name: str) -> Record | Problem:
    layout = Layout()
    layout.paragraph(("Description",), _said(found.get("description")))
    for key, rows in found.items():
        if isinstance(rows, list) and key not in LEFT_OUT:
            for row in rows:
                if isinstance(row, dict) and row.get("name"):
                    layout.paragraph((key.replace("_", " ").capitalize(),), _statement(row))
    text, sections = layout.finish()
    if not text:
        return Problem(where=name, what="The disorder has no statement.", advice="Leave it out.")
    named = found.get("disease_term")
    term = named.get("term") if isinstance(named, dict) else None
    return Record(
        id=f"disorder:{slug(name)}",
        title=_said(found["name"]) or name,
        text=text,
        kind="disorder",
        sections=sections,
        date=iso_date(found.get("updated_date") or found.get("creation_date")),
        source=_said(term.get("id")) if isinstance(term, dict) else "",
    )


def _statement(row: Mapping[str, Any]) -> str:
    often = _said(row.get("frequency")).replace("_", " ").lower()
    said = _said(row.get("description")) or _said(row.get("notes"))
    parts = [f"{_said(row['name'])}{f' ({often})' if often else ''}{f': {said}' if said else ''}"]
    stated = [e for e in row.get("evidence") or () if isinstance(e, dict) and e.get("supports") in SUPPORTS]
    # the reference stands first, so that no sentence is parted from it
    parts += [f"{_said(e.get('reference'))}: “{said}”" for e in stated if (said := _said(e.get("snippet")))]
    return " ".join(part if part.endswith((".", "”")) else f"{part}." for part in parts)


def _said(value: object) -> str:
    """A text on one line; "" for anything else, which aliases could make endless."""
    return one_line(value) if isinstance(value, str) else ""


class OboReader:
    """Reads an ontology in OBO 1.2 or 1.4 (Disease Ontology, Symptom Ontology): a record a term that is in use."""

    suffixes = (".obo", ".obo.gz")

    def read(self, path: Path) -> Iterator[Record | Problem]:
        """The terms; a file without any, or one that ends within a term, is a problem."""
        try:
            text = decode(read_bytes(path))
            head, *stanzas = re.split(r"^\[", text, flags=re.MULTILINE)
            release = RELEASE.search(head.partition("data-version:")[2].partition("\n")[0])
            terms = [s for s in stanzas if s.startswith("Term]")]
            if not terms or "format-version:" not in head:
                raise DataError("The file holds no term in OBO.", "Give the .obo file as it is published.")
            if not text.endswith("\n"):
                raise DataError("The file ends within a line: it is cut off.", "Fetch it anew.")
            for stanza in terms:
                found = _term(stanza, release[0] if release else "")
                if found is not None:
                    yield found
        except DataError as error:
            yield problem(error)


def _term(stanza: str, date: str) -> Record | Problem | None:
    tags: dict[str, list[str]] = {}
    for line in stanza.splitlines()[1:]:
        tag, colon, value = line.partition(": ")
        if colon:
            tags.setdefault(tag, []).append(value)
    if tags.get("is_obsolete") == ["true"]:
        return None
    code, name = (tags.get(tag, [""])[0] for tag in ("id", "name"))
    if not code or not name:
        return Problem(where=code or "term", what="The term has no id or no name.", advice="Fetch the file anew.")
    defined = QUOTED.match(tags.get("def", [""])[0])
    also = [m[1] for s in tags.get("synonym", ()) if " EXACT " in s and (m := QUOTED.match(s))]
    kinds = [parent.partition("! ")[2].partition(" {")[0] for parent in tags.get("is_a", ()) if "! " in parent]
    codes = [x.partition(" ")[0] for x in tags.get("xref", ()) if x.startswith(XREFS)]
    layout = Layout()
    if defined:
        layout.paragraph((), JOINED.sub(lambda m: m[0].replace("_", " "), defined[1].replace("\\", "")))
    for lead, values in (("Also called", also), ("A kind of", kinds), ("Codes", codes)):
        if values:
            layout.paragraph((), f"{lead}: {', '.join(values)}.")
    text, sections = layout.finish()
    if not text:
        return None
    return Record(
        id=f"term:{slug(code)}", title=one_line(name), text=text, kind="term", sections=sections, date=date, source=code
    )
