"""Cases with reference reports, as a file of JSON lines that the user gives."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from evals.datasets.rows import read_jsonl
from prompts.errors import DataError

PATTERN = "*.jsonl"
SAMPLE = Path(__file__).parents[1] / "resources" / "report_references"


class ReportCase(BaseModel):
    """A case as it is told to the agent, and the report that a person wrote about it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    case: str = Field(min_length=1)
    report: str = Field(min_length=1)


def read_report_cases(folder: Path) -> list[ReportCase]:
    """The rows of every such file of a folder, by name.

    Raises:
        DataError: a row is damaged, or two have one id.
    """
    rows = [row for path in sorted(folder.glob(PATTERN)) for row in read_jsonl(path, ReportCase)]
    seen: set[str] = set()
    for row in rows:
        if row.id in seen:
            raise DataError(f"Two cases have the id {row.id!r}.", "Give each case an id of its own.")
        seen.add(row.id)
    return rows
