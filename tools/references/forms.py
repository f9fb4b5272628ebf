"""References as RIS, nbib (PubMed's MEDLINE form), BibTeX and CSL-JSON. What is not known of one is not written.

A value of RIS, nbib or BibTeX stays on one line: readers take a second line for another name or tag.

RIS is written by rispy and BibTeX by bibtexparser (the extra ``exports``); the other two need no library.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from prompts.errors import InputError
from tools.literature.article import Author
from tools.references.contract import PREPRINT, Collected, Reference

Form = Literal["ris", "nbib", "bibtex", "csl-json"]
FORMS: tuple[Form, ...] = get_args(Form)
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
CSL_TYPES = {"article": "article-journal", "book": "chapter", "document": "document", "entry": "entry"}
RIS_TYPES = {"article": "JOUR", "book": "CHAP", "document": "GEN", "entry": "DBASE"}
BIB_TYPES = {"article": "article", "book": "incollection", "document": "misc", "entry": "misc"}
SPECIAL = str.maketrans(
    {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {sign: f"\\{sign}" for sign in "&%$#_{}"}
)
UNPAIRED = str.maketrans({"{": r"\textbraceleft{}", "}": r"\textbraceright{}"})  # BibTeX counts escaped braces too
NEEDED = "pip install 'anamnesis[exports]'"


class Made(NamedTuple):
    """How a form is made, what its files are called, and their media type."""

    write: Callable[[Sequence[Reference]], str]
    suffix: str
    media: str


def form_of(path: Path | None) -> Form:
    """The form that a file's name asks for, CSL-JSON for none; raises InputError for another name."""
    if path is None:
        return "csl-json"
    for form, made in MADE.items():
        if path.suffix.lower() == f".{made.suffix}":
            return form
    known = ", ".join(f".{made.suffix} ({form})" for form, made in MADE.items())
    raise InputError(f"{path.name} names no form of references.", f"Its name must end in one of: {known}.")


def written(references: Sequence[Reference], form: Form) -> str:
    """The references in a form, ending in a line break; "" where the form can hold none of them.

    Raises:
        InputError: the library that writes the form is not installed.
    """
    return MADE[form].write(references)


def holds(reference: Reference, form: str) -> bool:
    """Whether a form can hold a reference: nbib is of PubMed's records alone."""
    return form != "nbib" or bool(reference.pmid)


def said_of(collected: Collected, form: str) -> str:
    """What the form of some references leaves out and why, and what they may lack; "" where nothing is to be said."""
    left = sum(not holds(r, form) for r in collected.references)
    nbib = f"nbib holds PubMed's records alone: {left} documents were left out." if left else ""
    return " ".join(filter(None, (nbib, collected.told)))


def csl_items(references: Sequence[Reference]) -> list[dict[str, Any]]:
    """The references as items of CSL-JSON (Citation Style Language 1.0.2)."""
    return [{name: value for name, value in _csl(r).items() if value} for r in references]


def _csl(r: Reference) -> dict[str, Any]:
    alone = r.kind == "book" and not r.container
    return {
        "id": r.id,
        "type": "article" if r.preprint else "book" if alone else CSL_TYPES[r.kind],
        "genre": PREPRINT if r.preprint else "",  # of any other article styles would print it beside the title
        "title": r.title,
        "original-title": r.vernacular,
        "abstract": r.abstract,
        "keyword": "; ".join(r.subjects),
        "author": [_csl_name(a) for a in r.authors],
        "container-title": r.container,
        "container-title-short": r.short,
        "ISSN": r.issn,
        "volume": r.volume,
        "issue": r.issue,
        "page": r.pages,
        "issued": {"date-parts": [[int(part) for part in r.date.split("-")]]} if r.date else None,
        "language": r.languages[0] if r.languages else "",
        "DOI": r.doi,
        "PMID": r.pmid,
        "PMCID": r.pmcid,
        "URL": r.url,
        "source": r.source or ("PubMed" if r.pmid else ""),
        "note": "; ".join(r.notes),
    }


def _csl_name(author: Author) -> dict[str, str]:
    if author.collective:
        return {"literal": author.collective}
    given = author.fore or author.initials
    return {k: v for k, v in (("family", author.last), ("given", given), ("suffix", author.suffix)) if v}


def _csl_json(references: Sequence[Reference]) -> str:
    return json.dumps(csl_items(references), ensure_ascii=False, indent=2) + "\n"


def _ris(references: Sequence[Reference]) -> str:
    try:
        import rispy
    except ImportError:
        raise InputError("RIS is written by rispy, which is not installed.", NEEDED) from None
    entries = [{name: _in_a_line(value) for name, value in _ris_entry(r).items() if value} for r in references]
    text = rispy.dumps(entries)
    return "\n".join(line for line in str(text).splitlines() if not re.fullmatch(r"\d+\.", line)).strip("\n") + "\n"


def _in_a_line(value: Any) -> Any:
    """A value, or each of several, with every run of white space made one space."""
    return " ".join(value.split()) if isinstance(value, str) else [_in_a_line(part) for part in value]


def _ris_entry(r: Reference) -> dict[str, Any]:
    first, last = r.span
    alone = r.kind == "book" and not r.container
    return {
        "type_of_reference": "UNPB" if r.preprint else "BOOK" if alone else RIS_TYPES[r.kind],
        "id": r.id,
        "title": r.title,
        "authors": [", ".join(_parts(a)) for a in r.authors],
        "secondary_title": r.container,
        "alternate_title2": r.short,
        "year": r.date[:4],
        "date": "/".join([*r.date.split("-"), "", "", ""][:3]) + "/" if r.date else "",
        "volume": r.volume,
        "number": r.issue,
        "start_page": first,
        "end_page": last,
        "issn": r.issn,
        "doi": r.doi,
        "accession_number": r.pmid,
        "custom2": r.pmcid,
        "name_of_database": r.source or ("PubMed" if r.pmid else ""),
        "language": r.languages[0] if r.languages else "",
        "urls": [r.url] if r.url else [],
        "abstract": r.abstract,
        "keywords": list(r.subjects),  # types too: Zotero takes the M3 of an article for its DOI
        "notes": list(r.notes),
    }


def _parts(author: Author) -> list[str]:
    """Family name, given names and suffix, as far as there are any; of a group its name."""
    if author.collective:
        return [author.collective]
    return [part for part in (author.last, author.fore or author.initials, author.suffix) if part]


def _bibtex(references: Sequence[Reference]) -> str:
    try:
        from bibtexparser.entrypoint import write_string
        from bibtexparser.library import Library
        from bibtexparser.model import Entry, Field
    except ImportError:
        raise InputError("BibTeX is written by bibtexparser, which is not installed.", NEEDED) from None
    library = Library()
    for r in references:
        fields = [Field(name, _in_a_line(value)) for name, value in _bib_fields(r).items() if value]
        alone = r.kind == "book" and not r.container
        kind = "misc" if r.preprint else "book" if alone else BIB_TYPES[r.kind]
        library.add(Entry(kind, re.sub(r"[^A-Za-z0-9]+", "-", r.id), fields))
    return str(write_string(library)).strip("\n") + "\n"


def _bib_fields(r: Reference) -> dict[str, str]:
    first, last = r.span
    plain = {
        "volume": r.volume, "number": r.issue, "pages": f"{first}--{last}" if last else first, "issn": r.issn,
        "language": r.languages[0] if r.languages else "", "note": "; ".join(r.notes),
        "howpublished": r.source or (r.container if r.kind == "entry" or r.preprint else ""), "abstract": r.abstract,
    }  # fmt: skip
    within = "" if r.preprint else {"book": "booktitle", "article": "journal"}.get(r.kind)
    subjects = (f"{{{_tex(s)}}}" if "," in s else _tex(s) for s in r.subjects)
    return {
        "title": f"{{{_tex(r.title)}}}" if r.title else "",  # the second braces keep its capitals
        "author": " and ".join(_bib_name(a) for a in r.authors),
        **({within: _tex(r.container)} if within else {}),
        "year": r.date[:4],
        "month": MONTHS[int(r.date[5:7]) - 1].lower() if r.date[5:7] else "",
        **{name: _tex(value) for name, value in plain.items()},
        "doi": r.doi,
        "pmid": r.pmid,
        "pmcid": r.pmcid,
        "url": r.url,
        "keywords": ", ".join(subjects),  # braces keep a heading such as "Child, Preschool" whole
    }


def _bib_name(author: Author) -> str:
    if author.collective:
        return f"{{{_tex(author.collective)}}}"
    parts = (author.last, author.suffix, author.fore or author.initials)
    return ", ".join(_tex(part) for part in parts if part)


def _tex(text: str) -> str:
    """The text with what TeX would take for a command escaped."""
    open_ = list(accumulate((sign == "{") - (sign == "}") for sign in text))
    paired = not open_ or (min(open_) >= 0 and open_[-1] == 0)
    return text.translate(SPECIAL if paired else {**SPECIAL, **UNPAIRED})


def _nbib(references: Sequence[Reference]) -> str:
    records = [
        "\n".join(f"{tag:<4}- {_in_a_line(value)}" for tag, value in _medline(r) if value) for r in references if r.pmid
    ]
    return "\n\n".join(records) + "\n" if records else ""


def _medline(r: Reference) -> Iterator[tuple[str, str]]:
    """Tags and values of a MEDLINE record (NLM, MEDLINE/PubMed data element descriptions)."""
    yield "PMID", r.pmid
    yield "IS", f"{r.issn} ({r.issn_type})" if r.issn_type else r.issn
    yield "VI", r.volume
    yield "IP", r.issue
    yield "DP", " ".join(_medline_date(r.date))
    yield ("BTI", r.title) if r.kind == "book" and not r.container else ("TI", r.title)
    if r.kind == "book":
        yield "BTI", r.container
    yield "PG", r.pages
    yield "LID", f"{r.doi} [doi]" if r.doi else ""
    yield "AB", r.abstract
    for author in r.authors:
        if author.collective:
            yield "CN", author.collective
        else:
            yield "FAU", ", ".join(_parts(author))
            yield "AU", " ".join(part for part in (author.last, author.initials, author.suffix) if part)
    for language in r.languages:
        yield "LA", language
    for kind in r.types:
        yield "PT", kind
    yield "TT", r.vernacular
    if r.kind == "article":
        yield "TA", r.short.replace(".", "")
        yield "JT", r.container
    for heading in r.mesh:  # a star marks what a publication is mainly about
        parts = [(heading.name, heading.major), *((q.name, q.major) for q in heading.qualifiers)]
        yield "MH", "/".join(f"*{name}" if major else name for name, major in parts)
    for keyword in r.keywords:
        yield "OT", keyword
    yield "PMC", r.pmcid
    for note in r.notes:
        yield "GN", note
    yield "AID", f"{r.doi} [doi]" if r.doi else ""


def _medline_date(iso: str) -> list[str]:
    year, *rest = iso.split("-")
    return [year, *(MONTHS[int(part) - 1] for part in rest[:1]), *(str(int(part)) for part in rest[1:])]


MADE: dict[Form, Made] = {
    "ris": Made(_ris, "ris", "application/x-research-info-systems"),
    "nbib": Made(_nbib, "nbib", "application/nbib"),
    "bibtex": Made(_bibtex, "bib", "application/x-bibtex"),
    "csl-json": Made(_csl_json, "json", "application/vnd.citationstyles.csl+json"),
}
