"""Published clinical cases with their diagnoses: CMB-Clin, CMEMR and ClinicalBench as ICA-RAG uses them; AgentClinic.

The three are not shipped; `anamnesis eval data` says where each is to be had, and converts it to the one form. Formats:

- CMB-Clin: the repository FreedomIntelligence/CMB (README.md, "CMB-Clin Item": id, title, description, QA_pairs of
  question and solution; Data/CME-test-qa/CMB-test-qa.json has the same with answer for solution, and ids as text); Wang
  et al. 2023. The title names the disease after a dash; that is our reading of the titles, the release has no field.
- CMEMR: the repository CSU-NLP-Group/mediKAL: data/CEMR/<department>.json is a list of addresses (README.md: for
  copyright and privacy the addresses alone are given). What is read is the form in which src/main/main.py reads the
  records: objects with the parts below, any of them missing, and label, the list of diagnoses.
- ClinicalBench: the repository WeixiangYAN/ClinicalLab (data_examples/DATASET_CARD.md and the two examples beside it,
  one object each; code/inference/eval.py reads a list of them). The whole is sent on application.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from evals.datasets.releases import (
    Conversion,
    Converted,
    Found,
    Member,
    Original,
    Record,
    json_entries,
    json_first,
    named,
    read_files,
)
from evals.datasets.rows import Row, read_jsonl

CASES = "cases/agentclinic_medqa.jsonl"
Source = Literal["cmb_clin", "cmemr", "clinicalbench"]
PARTS = ("基本信息", "主诉", "现病史", "既往史", "查体", "辅助检查")  # code: mediKAL's src/main/main.py, in its order
NOTHING = "无"  # code: what src/main/main.py puts for a part that a record lacks


class Asked(Row):
    """A question about a case, and the reference answer."""

    question: str = Field(min_length=1)
    answer: str = Field(alias="solution")


class ClinicalCase(Record):
    """A case.

    Attributes:
        text: what is known of the patient, without the diagnosis.
        diagnoses: the reference diagnoses by name; for CMB-Clin the case's title, which names the disease.
        asked: CMB-Clin's questions about it.
    """

    source: Source
    language: Literal["en", "zh"]
    department: str = ""
    text: str = Field(min_length=1)
    diagnoses: tuple[Annotated[str, Field(min_length=1)], ...] = Field(min_length=1)
    asked: tuple[Asked, ...] = ()


class ClinicCase(Row):
    """A case of AgentClinic: what the patient tells, what examination and tests show, and the diagnosis.

    Source: Schmidgall et al. 2024, "AgentClinic: a multimodal agent benchmark to evaluate AI in simulated clinical
    environments": OSCE-like records of MedQA questions.
    """

    id: str = Field(min_length=1)
    gold_diagnosis: str = Field(min_length=1)
    patient: dict[str, Any]
    physical_exam: dict[str, Any]
    tests: dict[str, Any]

    @property
    def text(self) -> str:
        """The whole case: the patient's own part as sentences, then examination and tests as ``what: found``."""
        told = [value for _, value in _leaves(self.patient)]
        found = [
            f"{', '.join(path)}: {value}" for part in (self.physical_exam, self.tests) for path, value in _leaves(part)
        ]
        return " ".join(_closed(said) for said in (*told, *found) if said.strip())


def clinical_file(source: Source) -> str:
    """Where the cases of a source lie below the data folder."""
    return f"cases/{source}.jsonl"


def read_clinical(data: Path, source: Source) -> list[ClinicalCase]:
    """The cases of a source; raises DataError for a missing file or a damaged row."""
    return read_jsonl(data / clinical_file(source), ClinicalCase)


def read_clinic(data: Path) -> list[ClinicCase]:
    """Every case of AgentClinic; raises DataError with the row's number for a damaged one."""
    return read_jsonl(data / CASES, ClinicCase)


def _leaves(part: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """The values of nested objects and lists, each with the names above it in words."""
    if isinstance(part, dict):
        for name, value in part.items():
            yield from _leaves(value, (*path, name.replace("_", " ")))
    elif isinstance(part, list):
        for value in part:
            yield from _leaves(value, path)
    elif part is not None:
        yield path, str(part)


def _closed(said: str) -> str:
    said = " ".join(said.split())
    return said if said[-1] in ".!?" else f"{said}."


class CmbCase(ClinicalCase):
    """A case of CMB-Clin, about which something is asked."""

    asked: tuple[Asked, ...] = Field(alias="QA_pairs", min_length=1)


class EmrAddress(Record):
    """Where a record of CMEMR is to be had. ``id``: department and place in its list."""

    url: str = Field(pattern=r"^https?://\S+$")


def convert(records: Iterator[Record], conversion: Conversion) -> Converted:
    """The cases, as `diagnosis` reads them; addresses are left out."""
    for row in records:
        if isinstance(row, ClinicalCase):
            yield clinical_file(row.source), row.model_dump(mode="json", exclude_unset=True)
        else:
            conversion.leave_out("an address: its record is not in the release")


def _cmb_clin(member: Member) -> Found:
    for entry in json_entries(member):
        yield entry.placed(CmbCase, _of_cmb, source="cmb_clin", language="zh")


def _of_cmb(value: dict[str, Any]) -> dict[str, Any]:
    disease = str(value["title"]).replace("－", "-").rpartition("-")[2].strip()
    more = {"QA_pairs": value["QA_pairs"]}
    return more | {"id": f"cmb_clin-{value['id']}", "text": value["description"], "diagnoses": [disease]}


def _cmemr(member: Member) -> Found:
    for number, entry in enumerate(json_entries(member), 1):
        key = f"{member.stem}-{number}"
        if isinstance(entry.value, str):
            yield entry._replace(value={"url": entry.value}).placed(EmrAddress, id=f"cmemr-{key}")
        else:
            more = {"source": "cmemr", "language": "zh", "department": member.stem}
            yield entry.placed(ClinicalCase, _of_cmemr, id=f"cmemr-{key}", **more)


def _of_cmemr(value: dict[str, Any]) -> dict[str, Any]:
    parts = {name: value[name] for name in PARTS if value.get(name) not in (None, "", NOTHING)}
    label = value.get("label")
    told = "\n".join(f"{name}：{said}" for name, said in parts.items())
    return {"text": told, "diagnoses": [label] if isinstance(label, str) else label}


def _clinicalbench(member: Member) -> Found:
    for entry in json_entries(member, depth=int(json_first(member) == "[")):
        yield entry.placed(ClinicalCase, _of_clinicalbench, source="clinicalbench")


def _of_clinicalbench(value: dict[str, Any]) -> dict[str, Any]:
    uid, language = value.get("clinical_case_uid"), value.get("language")
    return {
        "id": f"clinicalbench-{language}-{uid}" if uid else "",
        "language": language,
        "department": value["clinical_department"],
        "text": value["clinical_case_summary"],
        "diagnoses": [value["principal_diagnosis"]],
    }


def _original(name: Source, files: str, read: Callable[[Member], Found]) -> Original:
    return Original(name, files, lambda path: read_files(path, named(".json"), read), convert)


CMB_CLIN = _original("cmb_clin", "CMB-Clin-qa.json", _cmb_clin)
CMEMR = _original("cmemr", "<department>.json with addresses or records, or a folder of them", _cmemr)
CLINICALBENCH = _original("clinicalbench", "a JSON file with one case or a list of them", _clinicalbench)
