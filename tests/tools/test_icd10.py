"""The compiled ICD-10 table."""

from __future__ import annotations

from pathlib import Path

import pytest

from prompts.errors import DataError
from tools.icd10 import ICD10, compile_icd10, load_icd10


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> ICD10:
    target = tmp_path_factory.mktemp("icd10") / "icd10.json"
    assert compile_icd10(target) > 10_000
    return load_icd10(target)


def test_a_code_has_its_name_chapter_and_block(table: ICD10) -> None:
    code = table.get("J93.1")
    assert code is not None
    assert (code.name, code.chapter, code.block) == ("Other spontaneous pneumothorax", "10", "J90-J94")


def test_an_unknown_subdivision_falls_back_to_its_category_and_nonsense_to_nothing(table: ICD10) -> None:
    nearest = table.nearest("J30.4")
    assert nearest is not None
    assert nearest.code == "J30"
    assert table.get("J30.4") is None
    assert table.nearest("X?") is None


def test_a_missing_or_damaged_table_is_a_data_error(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "old.json").write_text('{"format": 0, "codes": {}}')
    for name in ("none.json", "bad.json", "old.json"):
        with pytest.raises(DataError, match="setup"):
            load_icd10(tmp_path / name)
