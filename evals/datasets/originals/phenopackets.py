"""GA4GH phenopackets, version 2, as JSON: a patient's features, observed and excluded, and the diagnosis.

Format: the Phenopacket Schema 2.0 (phenotypicFeatures with type and excluded; interpretations with diagnosis.disease
and genomicInterpretations; diseases with term, onset and excluded; subject.timeAtLastEncounter; metaData with
phenopacketSchemaVersion and externalReferences), and the files of the repository monarch-initiative/phenopacket-store,
such as notebooks/LMNA/phenopackets/PMID_10580070_A_III-1.json. Its releases are an archive of them, a folder a gene.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evals.datasets.originals.contract import Conversion, Converted, Found, Original, Placed, Problem, Row, placed
from evals.datasets.originals.entries import is_json, json_entries
from evals.datasets.originals.json_rows import JsonText
from evals.datasets.originals.members import Member, members
from evals.datasets.phenopackets import PATIENTS, Named

PMID = re.compile(r"^PMID:(\d+)$")
VERSION = "2"  # what the schema version must begin with: version 1 says `negated` for `excluded`


class Phenopacket(Row):
    """A patient. ``diagnoses`` are those interpreted, else the diseases that are not excluded, each once.

    Attributes:
        age: ISO 8601 duration at the last encounter, else at onset; age_term: the same as a term's label.
        cohort: the folder that the file lies in. pmid, title: of the first paper referred to.
    """

    subject: str
    cohort: str = ""
    sex: str = ""
    age: str | None = None
    age_term: str | None = None
    observed: tuple[Named, ...]
    excluded: tuple[Named, ...]
    diagnoses: tuple[Named, ...]
    genes: tuple[str, ...] = ()
    pmid: str = ""
    title: str = ""


def read(path: Path) -> Found:
    """The phenopackets of a file, a folder, or a release's archive."""
    return json_entries(members(path, is_json), _packet)


def convert(records: Iterator[Row], conversion: Conversion) -> Converted:
    """The patients with one diagnosis and a paper, as `differential` reads them."""
    for row in records:
        if not isinstance(row, Phenopacket) or len(row.diagnoses) != 1:
            conversion.leave_out("a patient with no diagnosis or with several")
        elif not row.pmid:
            conversion.leave_out("a patient without a PubMed id")
        else:
            made = row.model_dump(mode="json", exclude={"subject", "cohort", "diagnoses", "title"})
            gold = {"gold_diagnosis": row.diagnoses[0].model_dump(), "reference_title": row.title}
            yield PATIENTS, made | gold | {"gene_cohort": row.cohort, "source": "phenopacket-store"}


def _packet(text: JsonText, member: Member) -> Found:
    line = text.line
    value = text.value()
    meta = value.get("metaData") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(meta, dict):
        yield Problem(member.name, line, "No phenopacket: there is no metaData.")
    elif not str(meta.get("phenopacketSchemaVersion", "")).startswith(VERSION):
        yield Problem(member.name, line, "No phenopacket of version 2.")
    else:
        yield _placed(value, meta, member, line)


def _placed(value: dict[str, Any], meta: dict[str, Any], member: Member, line: int) -> Placed | Problem:
    try:
        values = _values(value, meta)
    except (TypeError, AttributeError, KeyError):
        return Problem(member.name, line, "No phenopacket: its parts do not have the form of the schema.")
    folder = member.folder
    cohort = member.name.split("/")[-3] if folder == "phenopackets" and member.name.count("/") > 1 else folder
    return placed(Phenopacket, values | {"cohort": cohort}, member.name, line)


def _values(value: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    subject = value.get("subject") or {}
    features = value.get("phenotypicFeatures") or []
    diseases = value.get("diseases") or []
    papers = [p for p in meta.get("externalReferences") or [] if PMID.match(p.get("id", ""))]
    times = [subject.get("timeAtLastEncounter"), *(d.get("onset") for d in diseases)]
    age, term = _age([t for t in times if t])
    return {
        "id": value.get("id"), "subject": subject.get("id", ""), "sex": subject.get("sex", ""),
        "age": age, "age_term": term,
        "observed": [f["type"] for f in features if not f.get("excluded")],
        "excluded": [f["type"] for f in features if f.get("excluded")],
        "diagnoses": _diagnoses(value, diseases), "genes": _genes(value),
        "pmid": papers[0]["id"].removeprefix("PMID:") if papers else "",
        "title": papers[0].get("description", "") if papers else "",
    }  # fmt: skip


def _diagnoses(value: dict[str, Any], diseases: list[dict[str, Any]]) -> list[dict[str, str]]:
    read = [i["diagnosis"]["disease"] for i in value.get("interpretations") or [] if i.get("diagnosis")]
    terms = read or [d["term"] for d in diseases if not d.get("excluded")]
    return list({term["id"]: term for term in terms}.values())


def _genes(value: dict[str, Any]) -> list[str]:
    found = [
        (g.get("variantInterpretation") or {}).get("variationDescriptor", {}).get("geneContext", {}).get("symbol")
        for i in value.get("interpretations") or []
        for g in (i.get("diagnosis") or {}).get("genomicInterpretations") or []
    ]
    return list(dict.fromkeys(g for g in found if g))


def _age(times: list[dict[str, Any]]) -> tuple[str | None, str | None]:
    for time in times:
        if "age" in time:
            return time["age"].get("iso8601duration"), None
        if "ontologyClass" in time:
            return None, time["ontologyClass"].get("label")
    return None, None


ORIGINAL = Original("phenopackets", "a phenopacket, a folder of them, or all_phenopackets.zip", read, convert)
