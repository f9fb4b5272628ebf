"""Published patients with a genetic disease, as GA4GH phenopackets: terms, diagnosis and the paper they come from.

Source: the Phenopacket Store of the Monarch Initiative. Format: the Phenopacket Schema 2.0 (phenotypicFeatures with
type and excluded; interpretations with diagnosis.disease and genomicInterpretations; diseases with term, onset and
excluded; subject.timeAtLastEncounter; metaData with phenopacketSchemaVersion and externalReferences), and the files of
the repository monarch-initiative/phenopacket-store, such as notebooks/LMNA/phenopackets/PMID_10580070_A_III-1.json. Its
releases are an archive of them, a folder a gene. The lay wordings of a hundred patients are this product's own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from evals.datasets.releases import (
    Conversion,
    Converted,
    Entry,
    Found,
    Original,
    Placed,
    Problem,
    Record,
    json_entries,
    named,
    read_files,
)
from evals.datasets.rows import RESOURCES, Row, read_jsonl, read_yaml_rows
from prompts.errors import DataError
from tools.evidence import Frozen

PATIENTS = "cases/phenopackets_dev.jsonl"
LAY = RESOURCES / "lay_hpo_cases.yaml"
OBSERVED, EXCLUDED = 12, 4  # ours: terms that a patient told as prose has at most
SEXES = {"MALE": "male", "FEMALE": "female"}
YEARS = re.compile(r"P(\d+)Y")
PMID = re.compile(r"^PMID:(\d+)$")
VERSION = "2"  # what the schema version must begin with: version 1 says `negated` for `excluded`
LEAST_TERMS = 3  # the task's own rule: a patient with fewer observed terms is not ranked


class Named(Row):
    """An id with its label."""

    id: str = Field(min_length=1)
    label: str = Field(min_length=1)


class Patient(Row):
    """A patient: terms observed and looked for in vain, the diagnosis, and the PubMed id of the paper.

    ``sex`` is MALE or FEMALE, ``age`` a duration as the standard writes it (P28Y).
    """

    id: str = Field(min_length=1)
    observed: tuple[Named, ...]
    excluded: tuple[Named, ...]
    gold_diagnosis: Named
    pmid: str = Field(pattern=r"^\d+$")
    sex: str | None = None
    age: str | None = None

    def labels(self) -> str:
        """The labels of the terms as a text, one sentence each."""
        told = [f"{term.label}." for term in self.observed]
        return " ".join([*told, *(f"No {term.label}." for term in self.excluded)])

    def prose(self) -> str:
        """The patient as a short letter would say: age and sex, the first findings, and what was looked for in vain."""
        years = YEARS.match(self.age or "")
        who = SEXES.get(self.sex or "", "patient")
        has = [_begun(term.label) for term in self.observed[:OBSERVED]]
        lacks = [f"no {_begun(term.label)}" for term in self.excluded[:EXCLUDED]]
        told = f"A {years[1] + '-year-old ' if years else ''}{who} has {', '.join(has[:-1])} and {has[-1]}."
        return f"{told} There is {', '.join(lacks)}." if lacks else told


class LayCase(Frozen):
    """A patient in the words of the patient or a parent."""

    id: str = Field(min_length=1)
    text: str = Field(min_length=1)


def read_patients(data: Path, annotated: Collection[str]) -> list[Patient]:
    """One patient a paper: the first of it with enough terms and a diagnosis among ``annotated``, in file order."""
    first: dict[str, Patient] = {}
    for row in read_jsonl(data / PATIENTS, Patient):
        if len(row.observed) >= LEAST_TERMS and row.gold_diagnosis.id in annotated:
            first.setdefault(row.pmid, row)
    if not first:
        raise DataError(f"{Path(PATIENTS).name} has no patient whose disease is annotated.", "Give the whole file.")
    return list(first.values())


def read_lay(patients: Sequence[Patient]) -> list[tuple[Patient, str]]:
    """The patients that have a lay wording, with it."""
    texts = {case.id: case.text for case in read_yaml_rows(LAY, LayCase)}
    return [(p, texts[p.id]) for p in patients if p.id in texts]


def _begun(label: str) -> str:
    """A label inside a sentence: its first letter small, unless it begins an abbreviation."""
    return label if any(c.isupper() for c in label.split()[0][1:]) else label[:1].lower() + label[1:]


class Phenopacket(Record):
    """A patient of the release. ``diagnoses``: those interpreted, else the diseases that are not excluded, each once.

    Attributes:
        age: ISO 8601 duration at the last encounter, else at onset; age_term: the same as a term's label.
        cohort: the folder that the file lies in. pmid, title: of the first paper referred to.
    """

    sex: str = ""
    age: str | None = None
    age_term: str | None = None
    observed: tuple[Named, ...]
    excluded: tuple[Named, ...]
    genes: tuple[str, ...] = ()
    pmid: str = ""
    cohort: str = ""
    diagnoses: tuple[Named, ...]
    title: str = ""


def read(path: Path) -> Found:
    """The phenopackets of a file, a folder, or a release's archive."""
    return read_files(path, named(".json"), lambda m: map(_packet, json_entries(m, depth=0)))


def convert(records: Iterator[Phenopacket], conversion: Conversion) -> Converted:
    """The patients with one diagnosis and a paper, as `differential` reads them."""
    for row in records:
        if len(row.diagnoses) != 1:
            conversion.leave_out("a patient with no diagnosis or with several")
        elif not row.pmid:
            conversion.leave_out("a patient without a PubMed id")
        else:
            made = row.model_dump(mode="json", exclude={"cohort", "diagnoses", "title"})
            gold = {"gold_diagnosis": row.diagnoses[0].model_dump(), "reference_title": row.title}
            yield PATIENTS, made | gold | {"gene_cohort": row.cohort, "source": "phenopacket-store"}


def _packet(entry: Entry) -> Placed | Problem:
    meta = entry.value.get("metaData") if isinstance(entry.value, dict) else None
    if not isinstance(meta, dict):
        return entry.problem("No phenopacket: there is no metaData.")
    if not str(meta.get("phenopacketSchemaVersion", "")).startswith(VERSION):
        return entry.problem("No phenopacket of version 2.")
    folder, above = entry.member.folder, entry.member.name.split("/")[:-2]
    return entry.placed(Phenopacket, _values, cohort=above[-1] if folder == "phenopackets" and above else folder)


def _values(value: dict[str, Any]) -> dict[str, Any]:
    subject, read = value.get("subject") or {}, value.get("interpretations") or []
    features, diseases = value.get("phenotypicFeatures") or [], value.get("diseases") or []
    papers = [p for p in value["metaData"].get("externalReferences") or [] if PMID.match(p.get("id", ""))]
    terms = [i["diagnosis"]["disease"] for i in read if i.get("diagnosis")]
    terms = terms or [d["term"] for d in diseases if not d.get("excluded")]
    age, age_term = _age([t for t in (subject.get("timeAtLastEncounter"), *(d.get("onset") for d in diseases)) if t])
    return {
        "id": value.get("id"), "sex": subject.get("sex", ""), "age": age, "age_term": age_term,
        "observed": [f["type"] for f in features if not f.get("excluded")],
        "excluded": [f["type"] for f in features if f.get("excluded")],
        "diagnoses": list({term["id"]: term for term in terms}.values()), "genes": _genes(read),
        "pmid": papers[0]["id"].removeprefix("PMID:") if papers else "",
        "title": papers[0].get("description", "") if papers else "",
    }  # fmt: skip


def _genes(interpretations: list[dict[str, Any]]) -> list[str]:
    found = [
        (g.get("variantInterpretation") or {}).get("variationDescriptor", {}).get("geneContext", {}).get("symbol")
        for i in interpretations
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
