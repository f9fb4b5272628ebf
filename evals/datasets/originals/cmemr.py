"""CMEMR: Chinese medical records by department. The release holds addresses of web pages, not the records.

Format: the repository CSU-NLP-Group/mediKAL: data/CEMR/<department>.json is a list of addresses (README.md: for
copyright and privacy the addresses alone are given). The form of the records themselves is not released; what is read
here is the form in which src/main/main.py reads them: a list of objects with 主诉, 现病史, 既往史, 查体, 辅助检查, any
of them missing, and label, the list of diagnoses. Who has fetched the pages gives them in this form.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import Field, field_validator

from evals.datasets.clinical import clinical_file
from evals.datasets.originals.contract import Conversion, Converted, Found, Original, Row, placed
from evals.datasets.originals.entries import is_json, json_entries
from evals.datasets.originals.json_rows import JsonText
from evals.datasets.originals.members import Member, members

PARTS = ("基本信息", "主诉", "现病史", "既往史", "查体", "辅助检查")  # code: src/main/main.py, in its order
NOTHING = "无"  # code: what src/main/main.py puts for a part that a record lacks


class EmrAddress(Row):
    """Where a record is to be had. ``id``: department and place in its list."""

    department: str
    url: str = Field(pattern=r"^https?://\S+$")


class EmrRecord(Row):
    """A record: its parts by their names, in the order of the form, and the diagnoses."""

    department: str
    parts: dict[str, str] = Field(min_length=1)
    diagnoses: tuple[str, ...] = Field(min_length=1)

    @field_validator("diagnoses", mode="before")
    @classmethod
    def _one_or_more(cls, label: object) -> object:
        return (label,) if isinstance(label, str) else label

    @property
    def text(self) -> str:
        """The parts with their names, a line each."""
        return "\n".join(f"{name}：{said}" for name, said in self.parts.items())


def read(path: Path) -> Found:
    """The addresses or records of a department's file, or of a folder of them."""
    return json_entries(members(path, is_json), _records)


def convert(records: Iterator[Row], conversion: Conversion) -> Converted:
    """The records in the form of `evals.datasets.clinical`; addresses are left out."""
    for row in records:
        if isinstance(row, EmrRecord):
            made = {"id": f"cmemr-{row.id}", "source": "cmemr", "language": "zh", "department": row.department}
            yield clinical_file("cmemr"), made | {"text": row.text, "diagnoses": list(row.diagnoses)}
        else:
            conversion.leave_out("an address: its record is not in the release")


def _records(text: JsonText, member: Member) -> Found:
    for number, (line, _) in enumerate(text.entries(), start=1):
        value = text.value()
        named: dict[str, object] = {"id": f"{member.stem}-{number}", "department": member.stem}
        if isinstance(value, str):
            yield placed(EmrAddress, named | {"url": value}, member.name, line)
        elif isinstance(value, dict):
            parts = {p: value[p] for p in PARTS if value.get(p) not in (None, "", NOTHING)}
            made = named | {"parts": parts, "diagnoses": value.get("label")}
            yield placed(EmrRecord, made, member.name, line)
        else:
            yield placed(EmrRecord, value, member.name, line)


ORIGINAL = Original("cmemr", "<department>.json with addresses or records, or a folder of them", read, convert)
