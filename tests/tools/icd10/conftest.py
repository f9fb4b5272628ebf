"""The compiled table and names, once for all tests of the room; a small Chinese table."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.icd10 import ICD10, compile_icd10, load_icd10
from tools.icd10.chinese import ChineseNames, open_chinese
from tools.icd10.contract import Name
from tools.icd10.linking import Linker
from tools.icd10.names import NamedCodes, open_names

CHINESE = """code,name_zh
A33,新生儿破伤风
A33xx01,新生儿破伤风
E11,非胰岛素依赖型糖尿病
E11.221+N08.3*,2型糖尿病性肾病
J18.9,未特指的肺炎
J18.901,肺炎
J44,其他慢性阻塞性肺病
J44.101,慢性阻塞性肺疾病急性加重
K35,急性阑尾炎
K36,其他阑尾炎
M800000/3,恶性肿瘤
Z95.501,冠状动脉支架植入术后状态
"""


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("icd10")


@pytest.fixture(scope="session")
def table(home: Path) -> ICD10:
    compile_icd10(home / "icd10.json")
    return load_icd10(home / "icd10.json")


@pytest.fixture(scope="session")
def named(home: Path, table: ICD10) -> NamedCodes:
    return open_names(home / "names.json", table, "a graph", lambda: [Name("K22.3", "ruptured gullet", "alias")])


@pytest.fixture(scope="session")
def chinese(home: Path) -> ChineseNames:
    (home / "zh.csv").write_text(CHINESE, encoding="utf-8")
    return open_chinese(home / "zh.csv", home / "zh.json")


@pytest.fixture(scope="session")
def strict(table: ICD10, named: NamedCodes, chinese: ChineseNames) -> Linker:
    return Linker(table, named, "strict", chinese)


@pytest.fixture(scope="session")
def paper(table: ICD10, named: NamedCodes, chinese: ChineseNames) -> Linker:
    return Linker(table, named, "paper", chinese)
