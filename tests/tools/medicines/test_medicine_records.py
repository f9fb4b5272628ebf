"""Records of medicines: what is shipped is whole, says no dose, and names nothing that nobody knows."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path

import pytest

from prompts.errors import DataError
from tools.library.monograph import unusable
from tools.medicines.checks import SUBSTANCES
from tools.medicines.names import medicines_in
from tools.medicines.pages import page, starter_pages, told
from tools.medicines.records import Record, read_records, starter_records

DOSE = re.compile(r"\d ?(?:mg|micrograms?|mcg|g|ml|units?)\b(?! ?(?:/|per))")
UNTOLD = ("is not known", "are not known", "no information")
BESIDE = {"condom", "diaphragm", "ethanol", "histamine-rich fish", "protein-rich food", "enteral feed", "cannabis"}
ROW = {
    "name": "examplol",
    "classes": ["beta-blocker"],
    "works": "Examplol blocks beta receptors.",
    "uses": ["Examplol treats high blood pressure."],
    "side_effects": ["Examplol may tire people."],
    **{
        state: {"advice": "caution", "says": f"Examplol needs care with {state}."}
        for state in ("pregnancy", "breastfeeding", "kidneys", "liver")
    },
}


def _said(record: Record) -> list[str]:
    cautions = [record.of(s) for s in ("pregnancy", "breastfeeding", "kidneys", "liver", "children", "older")]
    told_of = [c.says for c in (*cautions, *record.contraindications) if c is not None]
    return [
        record.works,
        *record.uses,
        *record.taking,
        *record.side_effects,
        *record.monitoring,
        *told_of,
        *map(told, record.interactions),
    ]


def test_at_least_four_hundred_records_of_different_names() -> None:
    names = [r.name.lower() for r in starter_records()]
    assert len(names) >= 400
    assert len(set(names)) == len(names)


def test_no_record_gives_a_dose_or_leaves_something_untold() -> None:
    said = [(r.name, s) for r in starter_records() for s in _said(r)]
    assert [(n, s) for n, s in said if DOSE.search(s) or any(u in s.lower() for u in UNTOLD)] == []
    assert [(n, s) for n, s in said if not s.rstrip().endswith((".", "!"))] == []


def test_no_combination_is_called_safe() -> None:
    safe = re.compile(
        r"\bsafe(?:ly)? (?:to combine|together|in combination)|\bcan safely be (?:combined|taken) with", re.I
    )
    assert [(r.name, i.action) for r in starter_records() for i in r.interactions if safe.search(told(i))] == []


def test_what_interactions_name_is_known() -> None:
    known = {*SUBSTANCES, *BESIDE}
    others = {
        (r.name, o) for r in starter_records() for i in r.interactions for o in i.others if o.lower() not in known
    }
    assert [(n, o) for n, o in sorted(others) if not any(m.written.lower() == o.lower() for m in medicines_in(o))] == []


def test_every_page_is_usable_and_holds_every_sentence() -> None:
    pages = {p.front.title.lower(): p for p in starter_pages()}
    assert [(p.front.id, problem) for p in pages.values() for problem in unusable(p, p.front.id)] == []
    assert [(r.name, s) for r in starter_records() for s in _said(r) if s not in pages[r.name.lower()].text] == []


def test_with_names_masked_no_two_records_are_near_copies() -> None:
    """Of the eight-word runs of a record's text at most a tenth stands in any other record."""
    runs = {}
    for record in starter_records():
        text = " ".join(_said(record)).lower()
        for name in (record.name, *record.names, *record.classes):
            text = re.sub(rf"\b{re.escape(name.lower())}s?\b", "it", text)
        words = text.split()
        runs[record.name] = {tuple(words[i : i + 8]) for i in range(len(words) - 7)}
    shared = [(a, b, len(runs[a] & runs[b]) / min(len(runs[a]), len(runs[b]))) for a, b in combinations(runs, 2)]
    assert [(a, b, round(share, 2)) for a, b, share in shared if share > 0.1] == []


def test_a_page_has_a_heading_for_each_part_that_the_record_fills() -> None:
    row = ROW | {"interactions": [{
        "others": ["verapamil"], "severity": "severe",
        "mechanism": "Examplol and verapamil both slow the heart.", "action": "Never inject verapamil beside examplol.",
    }]}  # fmt: skip
    made = page(Record.model_validate(row))
    assert [s.title for s in made.sections] == [
        "What it is", "Uses", "Pregnancy and breastfeeding", "Kidneys and liver", "Side effects", "Interactions",
    ]  # fmt: skip
    assert "Examplol and verapamil both slow the heart. Never inject verapamil beside examplol." in made.text


@pytest.mark.parametrize(
    ("change", "told_of"),
    [({"uses": []}, "uses"), ({"liver": {"advice": "never", "says": "It is bad for it."}}, "liver")],
)
def test_a_damaged_record_is_named_with_its_field(tmp_path: Path, change: dict[str, object], told_of: str) -> None:
    file = tmp_path / "some.json"
    file.write_text(json.dumps([ROW | change]), encoding="utf-8")
    with pytest.raises(DataError, match=f"examplol: {told_of}"):
        read_records(file)


def test_a_file_that_is_no_json_is_told(tmp_path: Path) -> None:
    file = tmp_path / "some.json"
    file.write_text("- name: examplol", encoding="utf-8")
    with pytest.raises(DataError, match=r"some\.json is not JSON"):
        read_records(file)
