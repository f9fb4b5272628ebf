"""A few records of three invented patients' illnesses, and the parts of a local build."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.encoders import Encoder
from tools.icd10 import ICD10
from tools.knowledge_graph.building.contract import Judges, Record
from tools.knowledge_graph.building.judges import local_judges
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.schema import Graph

TABLE = ICD10(
    {
        "J45.9": ["Asthma, unspecified", "10", "J40-J4A"],
        "J40": ["Bronchitis, not specified as acute or chronic", "10", "J40-J4A"],
        "K21.9": ["Gastro-esophageal reflux disease without esophagitis", "11", "K20-K31"],
    }
)
TEXTS = {
    "Asthma": ["I wheeze at night. I have a cough. My left chest hurts.", "I have a cough. I do not have a fever."],
    "asthma (J45.9)": ["I wheeze at night. My left chest hurts.", "I have a cough. I have no fever."],
    "GERD": ["I have heartburn after meals.", "I have heartburn after meals. My pain is 4 out of 10."],
    "gastro-oesophageal reflux disease": ["I have heartburn after meals. My pain is 7 out of 10. I have a fever."],
    "Glumpf": ["I have a purple elbow."],
}


@pytest.fixture
def records() -> list[Record]:
    pairs = [(name, text) for name, texts in TEXTS.items() for text in texts]
    return [Record(id=str(n), diagnosis=name, text=text, age=30 + n) for n, (name, text) in enumerate(pairs)]


@pytest.fixture(scope="session")
def starter() -> Graph:
    return read_graph()


@pytest.fixture
def judges(encoder: Encoder, starter: Graph) -> Judges:
    return local_judges(encoder, TABLE, starter)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "built"
