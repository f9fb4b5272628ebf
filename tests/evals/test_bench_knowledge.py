"""The labels of the benchmark of sources are read by the reader of labels, each of a medicine of its own."""

from __future__ import annotations

import json
from pathlib import Path

from evals.bench.knowledge import AGAIN, made, medicine, write
from support import knowledge_files
from tools.knowledge.catalogue import catalogue
from tools.knowledge.staging import stage


def test_every_label_is_of_a_medicine_of_its_own_and_one_in_ten_joins(tmp_path: Path) -> None:
    rows = [knowledge_files.extract("Warfarin"), knowledge_files.label("Zelnorine")]
    assert len({medicine(number) for number in range(20_000)}) == 20_000
    assert write(rows, 3 * AGAIN, tmp_path / "source") > 10_000
    report = stage(catalogue()["openfda"], [tmp_path / "source"], tmp_path / "records")
    assert (report.records, report.joined, report.wrong) == (27, 3, 0)
    assert "arfarin" not in json.dumps(list(made(rows[:1], 2)))
