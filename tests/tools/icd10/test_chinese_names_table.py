"""A user's table of Chinese names."""

from __future__ import annotations

from pathlib import Path

import pytest

from prompts.errors import InputError
from tools.icd10.chinese import open_chinese

GOOD = "code,name_zh\nJ18,肺炎\n"


def test_bad_rows_are_told_by_number_and_the_rest_is_kept(tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    source.write_text(
        f"{GOOD}N,N\nK35,\nK35,急性阑尾炎,x\n\nK36,其他阑尾炎\nM800000/3,恶性肿瘤\n", encoding="utf-8-sig"
    )
    table = open_chinese(source, tmp_path / "t.json")
    assert [(name.code, name.text) for name in table.names] == [("J18", "肺炎"), ("K36", "其他阑尾炎")]
    assert [(bad.row, bad.what[:11]) for bad in table.bad] == [(3, "no ICD-10 c"), (4, "no name"), (5, "3 columns i")]
    again = open_chinese(source, tmp_path / "t.json")
    assert (again.names, again.bad) == (table.names, table.bad)


def test_it_is_compiled_anew_when_the_source_changes_or_the_compiled_file_is_damaged(tmp_path: Path) -> None:
    source, target = tmp_path / "t.csv", tmp_path / "t.json"
    source.write_text(GOOD, encoding="utf-8")
    open_chinese(source, target)
    target.write_text(target.read_text(encoding="utf-8").replace("肺炎", "感冒"), encoding="utf-8")
    assert open_chinese(source, target).names[0].text == "感冒"  # the compiled file is what is read
    source.write_text(GOOD + "K36,其他阑尾炎\n", encoding="utf-8")
    assert [n.text for n in open_chinese(source, target).names] == ["肺炎", "其他阑尾炎"]
    target.write_text("{", encoding="utf-8")
    assert len(open_chinese(source, target)) == 2


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff\xfe\x00", "UTF-8"),
        (b"a,b\nJ18,x\n", "code,name_zh"),
        (b"", "code,name_zh"),
        (b"code,name_zh\nN,N\n", "no row"),
    ],
)
def test_a_table_that_cannot_be_used_is_an_input_error(tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / "t.csv").write_bytes(data)
    with pytest.raises(InputError, match=said):
        open_chinese(tmp_path / "t.csv", tmp_path / "t.json")
    assert not (tmp_path / "t.json").exists()


def test_no_such_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ANAMNESIS_ICD10_ZH"):
        open_chinese(tmp_path / "none.csv", tmp_path / "t.json")
