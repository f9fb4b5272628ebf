"""The compiled ICD-10 table."""

from __future__ import annotations

from pathlib import Path

import pytest

from prompts.errors import DataError
from tools.icd10 import ICD10, is_current, load_icd10


def test_categories_that_are_a_block_of_their_own_are_in_the_table(table: ICD10) -> None:
    found = {code: table.get(code) for code in ("B20", "C50")}
    assert {code: row and row.chapter for code, row in found.items()} == {"B20": "1", "C50": "2"}
    assert len(table) > 10_000


def test_a_table_of_the_former_version_is_read_and_known_to_be_old(tmp_path: Path) -> None:
    old = tmp_path / "former.json"
    old.write_text('{"format": 1, "codes": {"J45": ["Asthma", "10", "J40-J4A"]}}')
    assert load_icd10(old).get("J45") is not None
    assert not is_current(old)


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
