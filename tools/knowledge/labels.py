"""US drug labels in each form they are published in: openFDA's JSON, SPL XML (DailyMed), FHIR bundles (HL7).

A label is known by its active ingredients, route, whether it is sold over the counter, and a slow release, so that the
labels of many makers join (`tools.knowledge.staging`). Its text must name the medicine that its identifiers name.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple

from prompts.errors import DataError
from tools.medicines.names import medicines_in
from tools.readers.contract import Problem, Record
from tools.readers.files import BLOCK, LARGEST_TEXT, name_of, open_bytes, problem, read_bytes, read_faults
from tools.readers.jats import parse_jats
from tools.readers.layout import Layout, Markup
from tools.readers.normal import iso_date, one_line, slug
from tools.readers.webpage import lay_out, parse_html
from tools.yaml_files import read_yaml

SECTIONS: list[dict[str, Any]] = read_yaml(Path(__file__).with_name("label_sections.yaml"))
BY_FIELD = {field: row["title"] for row in SECTIONS for field in row["openfda"]}
BY_LOINC = {code: row["title"] for row in SECTIONS for code in row["loinc"]}
ORDER = {row["title"]: n for n, row in enumerate(SECTIONS)}
INDICATIONS, POPULATIONS, INTERACTIONS = "Indications and usage", "Use in specific populations", "Drug interactions"
SUBSECTION = re.compile(r"(?=\b8\.\d+ [A-Z])")  # of section 8 of a label; its text has lost its lines in openFDA
ORGANS = {"renal": "Kidney impairment", "kidney": "Kidney impairment", "hepatic": "Liver impairment"}
OWN_FIELDS = {  # words of a subsection's heading: the section that holds it where the record has its field
    "pregnancy": "Pregnancy",
    "lactation": "Breast feeding",
    "nursing": "Breast feeding",
    "pediatric": "Children",
    "geriatric": "Old age",
}
HEAD = 60  # ours: characters in which a subsection says what it is about
SLOW = re.compile(
    r"\b(?:extended|delayed|sustained|controlled|prolonged|modified)[- ]release\b|\b[EX]R\b", re.IGNORECASE
)
CONTRAINDICATIONS = "Contraindications"
FIRST = 400  # ours: characters in which the indications say which form of the medicine they are about
LEVEL = "US drug label (the maker's text; not clinically reviewed here)"
WORD = re.compile(r"[a-z]{4,}")
TAG = re.compile(r"<[^>]*>")
# ours: words of names that tell no medicine from another
COMMON = frozenset(
    """acid sodium potassium calcium magnesium hydrochloride sulfate phosphate acetate citrate tartrate
maleate succinate fumarate tablets tablet capsules capsule oral solution injection cream release extended delayed human
unspecified form""".split()
)
TOLD = 3  # ours: medicines that a report names
KEY = 8  # ours: hexadecimal digits by which labels of one name and other ingredients stay apart

Piece = tuple[tuple[str, ...], str]  # headings, the outermost first, and a paragraph


class Label(NamedTuple):
    """A label as it was read.

    Attributes:
        claimed: the medicine that the file says it is on, "" when it says none. ingredients: active ones.
        names: generic and brand names. kind: what sort of label its publisher calls it. pieces: in its own order.
    """

    claimed: str
    ingredients: tuple[str, ...]
    names: tuple[str, ...]
    routes: tuple[str, ...]
    kind: str
    maker: str
    set_id: str
    version: str
    date: str
    pieces: Sequence[Piece]

    @property
    def where(self) -> str:
        """How the label is called in a report."""
        return self.set_id or self.claimed or "label"


class LabelReader:
    """Reads labels: ``.json`` of openFDA or FHIR, ``.xml`` of SPL."""

    suffixes = (".json", ".json.gz", ".xml", ".xml.gz")

    def read(self, path: Path) -> Iterator[Record | Problem]:
        """A record a label; one that is not what its identifiers say, or says nothing, is a problem."""
        try:
            for label in self._labels(path):
                yield record_of(label) if isinstance(label, Label) else label
        except DataError as error:
            yield problem(error)

    def _labels(self, path: Path) -> Iterator[Label | Problem]:
        if ".xml" in path.suffixes[-2:]:
            yield read_spl(parse_jats(read_bytes(path)), name_of(path))
            return
        for number, row in enumerate(objects_of(path), start=1):
            try:
                yield read_bundle(row) if "resourceType" in row else read_openfda(row, name_of(path))
            except (AttributeError, TypeError, LookupError, ValueError) as error:
                what = f"The record is not as its format has it: {type(error).__name__}: {str(error)[:80]}."
                yield Problem(where=f"record {number}", what=what, advice="Fetch it anew from its publisher.")


def record_of(label: Label) -> Record | Problem:
    """The document of a label, or why it is none."""
    layout = Layout()
    for path, text in sorted(label.pieces, key=lambda p: ORDER[p[0][0]]):  # stable: as the label has them
        layout.paragraph(path, text)
    text, sections = layout.finish()
    if not text:
        advice = "Nothing of it is of use here (an index file, a device or a container, for example)."
        return Problem(where=label.where, what="The label has none of the sections that are kept.", advice=advice)
    wrong = "It is a label of a medicine for animals." if "ANIMAL" in label.kind.upper() else _not_its_own(label)
    if wrong:
        return Problem(where=label.where, what=wrong, advice="Leave it out, or fetch it from its publisher.")
    ingredients = [i.lower() for i in label.ingredients or label.names[:1] or (label.claimed,)]
    used = " ".join(words for path, words in label.pieces if path[0] == INDICATIONS)
    slow = "slow release" if SLOW.search(" ".join((*label.names, used[:FIRST]))) else ""
    ways = [*sorted(r.lower() for r in label.routes), slow, "OTC" if "OTC" in label.kind.upper() else ""]
    digest = hashlib.sha256("/".join((*sorted(ingredients), "", *ways)).encode()).hexdigest()[:KEY]
    name = one_line(label.names[0] if label.names else label.claimed)
    title = name.capitalize() if name.isupper() else name
    if name.lower() not in ingredients:
        title += f" ({', '.join(ingredients)})"
    told = [f"set id {label.set_id}" if label.set_id else "", f"version {label.version}" if label.version else ""]
    return Record(
        id=f"label:{slug(' '.join(ingredients))}-{digest}",
        title=f"{', '.join(filter(None, (title, *ways)))}: US drug label",
        text=text,
        kind="label",
        sections=sections,
        language="en",
        date=label.date,
        level=LEVEL,
        source=", ".join(filter(None, (*told, label.maker))),
    )


def _not_its_own(label: Label) -> str:
    """What tells that a text is not that of the medicine which the file or its identifiers name; "" when nothing."""
    if not (label.ingredients or label.names or label.claimed):
        return "It names no medicine: it has neither a generic name nor active ingredients."
    known = _words((*label.ingredients, *label.names))
    claimed = _words((label.claimed,))
    if claimed and known and not claimed & known and not _same(label.claimed, (*label.ingredients, *label.names)):
        return f"It is called {label.claimed}, and its identifiers say {', '.join(label.ingredients or label.names)}."
    own = known or claimed
    text = " ".join(words for path, words in label.pieces if path[0] != INTERACTIONS).lower()
    if not own or own & set(WORD.findall(text)):
        return ""
    called = label.claimed or ", ".join(label.names)
    used = " ".join(words for path, words in label.pieces if path[0] == INDICATIONS)
    others = {m.generic for m in medicines_in(used) if m.generic and not m.everyday}
    if others:
        named = ", ".join(sorted(others)[:TOLD])
        return f"It is the label of {called}, says the file, but its indications name {named} alone."
    return "" if known else f"Nothing identifies it as the label of {called}: its text never names it."


def _same(claimed: str, names: Iterable[str]) -> bool:
    """Whether two names are known to mean the same (albuterol and salbutamol)."""
    mine = {m.generic for m in medicines_in(claimed)}
    return bool(mine & {m.generic for m in medicines_in("; ".join(names))})


def _words(names: Iterable[str]) -> set[str]:
    return set(WORD.findall(" ".join(names).lower())) - COMMON


def read_openfda(row: Mapping[str, Any], name: str) -> Label:
    """A record of openFDA's, as the service gives it, or as an extract with ``sections`` and ``openfda_meta`` has it.

    Args:
        name: the file's name, which says what a record without identifiers is on.
    """
    about = row.get("openfda") or row.get("openfda_meta") or {}
    inside = row.get("sections")
    fields: Mapping[str, Any] = inside if isinstance(inside, dict) else row
    held = {field: _told(fields.get(field)) for field in BY_FIELD if fields.get(field)}
    populations = held.pop("use_in_specific_populations", "")
    pieces: list[Piece] = [((BY_FIELD[field],), text) for field, text in held.items()]
    pieces += _populations(populations, {path[0] for path, _ in pieces})
    identified = about.get("generic_name") or about.get("substance_name")
    return Label(
        claimed=str(row.get("drug_name") or ("" if identified or row.get("set_id") else name)),
        ingredients=tuple(_list(about.get("substance_name"))),
        names=tuple(dict.fromkeys((*_list(about.get("generic_name")), *_list(about.get("brand_name"))))),
        routes=tuple(_list(about.get("route"))),
        kind=" ".join(_list(about.get("product_type"))) or ("OTC" if "purpose" in held else ""),
        maker=", ".join(_list(about.get("manufacturer_name"))[:1]),
        set_id=str(row.get("set_id") or next(iter(_list(about.get("spl_set_id"))), "")),
        version=str(row.get("version") or ""),
        date=_day(str(row.get("effective_time") or "")),
        pieces=pieces,
    )


def _populations(text: str, has: set[str]) -> Iterator[Piece]:
    """Section 8: kidney and liver by themselves, without the subsections that the record has as fields of their own."""
    for part in SUBSECTION.split(text):
        head = part[:HEAD].lower() if part.startswith("8.") else ""
        organ = next((title for word, title in ORGANS.items() if word in head), "")
        own = next((title for word, title in OWN_FIELDS.items() if word in head), "")
        if own not in has:
            yield (POPULATIONS, organ) if organ else (POPULATIONS,), part


def _told(value: Any) -> str:
    return " ".join(" ".join(_list(value)).split())


def _list(value: Any) -> list[str]:
    return [str(v) for v in value] if isinstance(value, list) else [str(value)] if value else []


def _day(stamp: str) -> str:
    """ISO of ``20240131``."""
    return iso_date("-".join(filter(None, (stamp[:4], stamp[4:6], stamp[6:8]))))


def read_spl(root: Any, name: str) -> Label | Problem:
    """A structured product label, namespaces taken off."""
    if root.tag != "document":
        what = f"The XML has the root {root.tag}, and is no label."
        return Problem(where="", what=what, advice="SPL files have the root document.")
    walker = _Spl(Layout())
    body = root.find("component/structuredBody")
    for section in () if body is None else body.iterfind("component/section"):
        walker.section(section, ())
    substances = [*root.iterfind(".//ingredient"), *root.iterfind(".//activeIngredient")]
    active = [s for s in substances if s.tag == "activeIngredient" or str(s.get("classCode", "")).startswith("ACT")]
    found = [s.findtext("ingredientSubstance/name") or s.findtext("activeIngredientSubstance/name") for s in active]
    products = [p for p in root.iter("manufacturedProduct", "manufacturedMedicine") if p.find("name") is not None]
    generic = [g.findtext("name") for g in root.iter("genericMedicine")]
    brands = [walker.inline(p.find("name")) for p in products]
    routes = [r.get("displayName") for r in root.iter("routeCode")]
    stamp = root.find("effectiveTime")
    return Label(
        claimed="" if any(found) or any(generic) else name,
        ingredients=_once(found),
        names=_once((*generic, *brands)),
        routes=_once(routes),
        kind=str(root.find("code").get("displayName", "")) if root.find("code") is not None else "",
        maker=one_line(root.findtext("author/assignedEntity/representedOrganization/name") or ""),
        set_id=_attribute(root, "setId", "root"),
        version=_attribute(root, "versionNumber", "value"),
        date=_day("" if stamp is None else stamp.get("value") or ""),
        pieces=walker.pieces,
    )


class _Spl(Markup):
    blocks: ClassVar = frozenset("text paragraph list item table caption tr td th thead tbody tfoot".split())
    dropped: ClassVar = frozenset({"renderMultiMedia", "col", "colgroup", "footnoteRef"})

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.pieces: list[Piece] = []

    def section(self, element: Any, path: tuple[str, ...]) -> None:
        """Read a section that is kept, and what of the others is kept in them; highlights are left out."""
        title = BY_LOINC.get(_attribute(element, "code", "code"))
        own = "" if element.find("title") is None else self.inline(element.find("title"))
        here = _place(title, own, path)
        inner = element.findall("component/section")
        text = element.find("text")
        lines: list[str] = []
        if text is not None:
            self.layout, self.path = Layout(headings=False), ()
            self.flow(text)
            lines = self.layout.finish()[0].split("\n")
        self.pieces += _pieces(here, own, lines, within=bool(path), alone=not inner)
        for part in inner:
            self.section(part, here)


def read_bundle(row: Mapping[str, Any]) -> Label | Problem:
    """A FHIR bundle with the composition of a label."""
    found = [e["resource"] for e in row.get("entry", ()) if isinstance(e.get("resource"), dict)]
    of = {kind: [r for r in found if r.get("resourceType") == kind] for kind in {r.get("resourceType") for r in found}}
    if not of.get("Composition"):
        return Problem(where="", what="The bundle holds no Composition.", advice="Give a bundle of a drug label.")
    label = of["Composition"][0]
    active = {
        r["substance"]["code"].get("reference", {}).get("reference", "").rpartition("/")[2]
        for r in of.get("Ingredient", ())
        if str(r["role"]["coding"][0]["code"]).startswith("ACT")
    }
    substances = [r["name"][0]["name"] for r in of.get("SubstanceDefinition", ()) if r.get("id") in active]
    named = [n.get("productName") for r in of.get("MedicinalProductDefinition", ()) for n in r.get("name", ())]
    pieces: list[Piece] = []
    for section in label.get("section", ()):
        _composed(section, (), pieces)
    identifier = label.get("identifier") or [{}]
    return Label(
        claimed="" if substances else str(label.get("id", "")),
        ingredients=_once(substances),
        names=_once(named or substances),
        routes=(),
        kind=str(label.get("type", {}).get("coding", [{}])[0].get("display", "")),
        maker=", ".join(_once(r.get("name") for r in of.get("Organization", ()))[:1]),
        set_id=str(identifier[0].get("value", "")).removeprefix("urn:uuid:"),
        version=str(label.get("version", "")),
        date=iso_date(label.get("date")),
        pieces=pieces,
    )


def _composed(section: Mapping[str, Any], path: tuple[str, ...], pieces: list[Piece]) -> None:
    codes = [c.get("code", "") for c in section.get("code", {}).get("coding", ())]
    title = next((BY_LOINC[c] for c in codes if c in BY_LOINC), None)
    own = one_line(TAG.sub(" ", str(section.get("title", ""))))
    here = _place(title, own, path)
    div, inner = (section.get("text") or {}).get("div", ""), section.get("section") or ()
    text, spans = lay_out(parse_html(div)) if div else ("", ())
    lines = [line for span in spans for line in text[span.start : span.end].split("\n")]
    pieces += _pieces(here, own, lines, within=bool(path), alone=not inner)
    for part in inner:
        _composed(part, here, pieces)


def _place(title: str | None, own: str, path: tuple[str, ...]) -> tuple[str, ...]:
    """The headings of a section: its kept ``title``; for a subsection without one, that above and its own.

    What stands among the contraindications stays there, pregnancy too.
    """
    if title and not (path and path[0] == CONTRAINDICATIONS):
        return (title,)
    return (path[0], own) if path and own else path


def _pieces(here: tuple[str, ...], own: str, lines: Iterable[str], *, within: bool, alone: bool) -> list[Piece]:
    """The paragraphs of a section that is kept; the heading of a subsection without text is its statement."""
    said = [line for line in lines if line.strip()]
    if here and not said and within and alone and own:
        return [(here[:1], own)]
    return [(here, line) for line in said] if here else []


def _once(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one_line(str(v)) for v in values if v))


def _attribute(element: Any, tag: str, name: str) -> str:
    found = element.find(tag)
    return "" if found is None else str(found.get(name) or "")


# Objects of a JSON file one at a time: the one that it is, or each of its `results`, however many they are.

RESULTS = re.compile(r'"results"\s*:\s*\[')  # openFDA: {"meta": {...}, "results": [...]}
PEEK = 100_000  # ours: characters in which the results begin; what stands before them is a notice and counts
CUT = "The JSON is damaged or cut off."
ANEW = "Fetch the file anew."


def objects_of(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file.

    Raises:
        DataError: damaged, cut off, no objects, or one of more than the limit of a document.
    """
    decoder = json.JSONDecoder()
    with read_faults(), open_bytes(path) as file:
        text = _Text(file)
        text.fill(PEEK)
        found = RESULTS.search(text.held[:PEEK])
        at = found.end() if found else 0
        while True:
            start = _next(text, at)
            if start < 0 or (found and text.held[start] == "]"):
                break
            value, at = _value(decoder, text, start)
            if not isinstance(value, dict):
                raise DataError("The JSON holds something else than objects.", "Give the file as it is published.")
            yield value
            text.held, at = text.held[at:], 0
            if not found:
                return
        if start < 0:
            raise DataError(CUT, ANEW)


class _Text:
    """The part of a file that was read and not used yet."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.held, self.whole = file, "", False
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()

    def fill(self, wanted: int) -> None:
        """Read until so many characters are held, or the file ends."""
        while len(self.held) < wanted and not self.whole:
            data = self._file.read(max(BLOCK, wanted - len(self.held)))
            self.whole = not data
            try:
                self.held += self._decoder.decode(data, final=self.whole)
            except UnicodeDecodeError as error:
                raise DataError("The JSON is not UTF-8, or is cut off.", ANEW) from error


def _next(text: _Text, at: int) -> int:
    """Where the next value or the end of the list begins; -1 at the end of the file."""
    while True:
        while at < len(text.held) and text.held[at] in " \t\r\n,":
            at += 1
        if at < len(text.held):
            return at
        if text.whole:
            return -1
        text.fill(at + 1)


def _value(decoder: json.JSONDecoder, text: _Text, start: int) -> tuple[Any, int]:
    """The value that begins here, and where it ends; pieces twice as large are read until it is whole."""
    while True:
        try:
            return decoder.raw_decode(text.held, start)
        except (ValueError, RecursionError) as error:
            if text.whole or isinstance(error, RecursionError):
                raise DataError(CUT, ANEW) from error
        if len(text.held) - start > LARGEST_TEXT:
            raise DataError(f"One object holds more than {LARGEST_TEXT // 1_000_000} MB.", "Look at the file.")
        text.fill(2 * len(text.held))
