"""Annotation by masking: both strategies, what is kept, bounds, failures, and the files of cases and reviews."""

from __future__ import annotations

import asyncio
import csv
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.training.gate_annotation import (
    BY_PERSON,
    COLUMNS,
    UNDOCUMENTED,
    AnnotatedCase,
    Case,
    annotate,
    annotate_all,
    corrected,
    counted,
    masked,
    read_annotated,
    read_cases,
    read_review,
    write_annotated,
    write_review,
)
from evals.training.gate_diagnosers import DiagnoserKept
from graphs.completeness.contract import Label
from prompts.errors import DataError, InputError, ServiceError
from support.annotating import REFLUX, WordDiagnoser, WordReference, annotated
from tools.text.sentences import Span


def labels(case: AnnotatedCase) -> list[Label]:
    return [unit.label for unit in case.units]


def test_where_the_whole_is_right_what_it_cannot_do_without_is_critical() -> None:
    case = annotated()
    assert case.right
    assert labels(case) == [Label.A, Label.A, Label.C]
    assert case.units[0].reason == "without it: ulcer"


def test_where_the_whole_is_wrong_what_finds_a_document_of_the_disease_helps() -> None:
    case = annotated(Case(id="b", text="It rises after supper. I own a red bicycle.", reference="acid reflux"))
    assert not case.right
    assert labels(case) == [Label.B, Label.C]


def test_a_disease_without_a_document_is_told() -> None:
    case = annotated(Case(id="b", text="It rises after supper.", reference="pellagra"))
    assert labels(case) == [Label.C]
    assert case.units[0].reason == UNDOCUMENTED
    assert counted([case]).undocumented == 1


def test_a_case_of_one_sentence_cannot_do_without_it() -> None:
    assert labels(annotated(Case(id="b", text="It burns after supper.", reference="acid reflux"))) == [Label.A]


def test_repeated_content_hides_what_is_critical() -> None:  # the paper's own weakness
    twice = "It burns after supper. Yes, it burns after supper."
    assert labels(annotated(Case(id="b", text=twice, reference="acid reflux"))) == [Label.C, Label.C]


@given(st.text(alphabet="ab. \n", max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_masking_takes_one_unit_and_no_other_word(text: str, one: int, other: int) -> None:
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    left = masked(text, Span(start, end))
    assert left.split() == text[:start].split() + text[end:].split()


def test_diagnoses_are_kept_so_that_a_stopped_annotation_goes_on(tmp_path: Path) -> None:
    cases = [REFLUX, REFLUX.model_copy(update={"id": "b", "text": REFLUX.text + " It is hot."})]

    def run(diagnoser: WordDiagnoser) -> list[AnnotatedCase]:
        kept = DiagnoserKept(diagnoser, tmp_path / "kept.sqlite", 1)
        try:
            return asyncio.run(annotate_all(cases, kept, WordReference(), jobs=1))
        finally:
            kept.close()

    first = WordDiagnoser(fails_after=3)
    with pytest.raises(ServiceError, match="down"):
        run(first)
    second, third = WordDiagnoser(), WordDiagnoser()
    done = run(second)
    assert not set(first.asked) & set(second.asked)
    assert set(first.asked) | set(second.asked) == {c.text for c in cases} | {
        masked(c.text, Span(u.start, u.end)) for c, a in zip(cases, done, strict=True) for u in a.units
    }
    assert run(third) == done
    assert third.asked == []


def test_a_damaged_file_of_diagnoses_is_told(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    path.write_bytes(b"no database " * 999)
    with pytest.raises(DataError, match=r"kept\.sqlite is damaged. Delete it"):
        DiagnoserKept(WordDiagnoser(), path, 1)
    path.unlink()
    kept = DiagnoserKept(WordDiagnoser(), path, 1)
    for n in range(200):
        asyncio.run(kept.diagnose(f"It burns {n}."))
    kept.close()
    page = 4096
    whole = path.read_bytes()
    path.write_bytes(whole[:page] + b"\xff" * (len(whole) - page))  # its first page is sound: it opens
    again = DiagnoserKept(WordDiagnoser(), path, 1)
    with pytest.raises(DataError, match="is damaged"):
        asyncio.run(again.diagnose("It burns 1."))
    again.close()


def test_another_version_of_the_diagnoser_diagnoses_anew(tmp_path: Path) -> None:
    async def ask(version: str) -> int:
        inner = WordDiagnoser()
        inner.version = version
        kept = DiagnoserKept(inner, tmp_path / "kept.sqlite", 2)
        await asyncio.gather(*(kept.diagnose("It burns.") for _ in range(5)))
        kept.close()
        return len(inner.asked)

    assert [asyncio.run(ask(v)) for v in ("1", "1", "2")] == [1, 0, 1]


def test_a_kept_diagnoser_serves_one_event_loop_after_another(tmp_path: Path) -> None:
    async def ask(kept: DiagnoserKept, *texts: str) -> None:
        await asyncio.gather(*(kept.diagnose(text) for text in texts))

    inner = WordDiagnoser()
    kept = DiagnoserKept(inner, tmp_path / "kept.sqlite", 1)
    for texts in (("It burns.", "It itches.", "It aches."), ("It stings.", "It throbs.", "It burns.")):
        asyncio.run(ask(kept, *texts))  # more than the one at once, so that some wait
    kept.close()
    assert sorted(inner.asked) == sorted({"It burns.", "It itches.", "It aches.", "It stings.", "It throbs."})


def test_no_more_diagnoses_run_at_once_than_were_allowed(tmp_path: Path) -> None:
    inner = WordDiagnoser()
    kept = DiagnoserKept(inner, tmp_path / "kept.sqlite", 3)
    cases = [Case(id=str(n), text=f"It burns. Supper {n}. Dish {n}.", reference="acid reflux") for n in range(8)]
    told: list[tuple[int, int]] = []
    done = asyncio.run(annotate_all(cases, kept, WordReference(), jobs=3, progress=lambda n, of: told.append((n, of))))
    kept.close()
    assert inner.most_at_once == 3
    assert [case.id for case in done] == [case.id for case in cases]
    assert told[-1] == (8, 8)


def test_cases_and_annotated_cases_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    rows = [{"text": "It burns.", "pathology": "acid reflux"}, {"id": "x", "text": "咳嗽。", "reference": "肺炎"}]
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n", encoding="utf-8")
    cases = read_cases(path)
    assert [(c.id, c.reference) for c in cases] == [("1", "acid reflux"), ("x", "肺炎")]
    done = [annotated(case) for case in cases]
    write_annotated(tmp_path / "out.jsonl", done)
    assert read_annotated(tmp_path / "out.jsonl") == done


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2"), ("[]", "no JSON object"), ('{"text": "a"}', "no reference"),
        ('{"reference": "a"}', "no text"), ('{"id": "1", "text": "a", "reference": "b"}', "stands 2 times"),
    ],
)  # fmt: skip
def test_damaged_cases_are_told_by_their_line(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text('{"id": "1", "text": "a", "reference": "b"}\n' + line, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_cases(path)


def test_an_annotated_case_whose_units_are_not_its_text_is_refused(tmp_path: Path) -> None:
    write_annotated(
        tmp_path / "out.jsonl", [annotated().model_copy(update={"text": "Another text altogether. It is."})]
    )
    with pytest.raises(InputError, match="line 1: its units"):
        read_annotated(tmp_path / "out.jsonl")


def test_a_persons_corrections_win(tmp_path: Path) -> None:
    case = annotated(REFLUX.model_copy(update={"text": "=My chest burns. It rises after supper. I own a red bicycle."}))
    path = tmp_path / "review.csv"
    write_review(path, [case])
    rows = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
    assert rows[0] == list(COLUMNS)
    assert rows[1][5] == "'=My chest burns."  # no spreadsheet takes it for a formula
    rows[1][-1], rows[3][-1] = "b", "A"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    done = corrected([case], read_review(path), path.name)
    assert labels(done[0]) == [Label.B, Label.A, Label.A]
    assert [u.reason == BY_PERSON for u in done[0].units] == [True, False, True]


def test_a_lone_carriage_return_in_a_sentence_survives_the_review(tmp_path: Path) -> None:
    case = annotated(REFLUX.model_copy(update={"text": "My chest\rburns. It rises after supper. I own a red bicycle."}))
    path = tmp_path / "review.csv"
    write_review(path, [case])
    path.write_bytes(path.read_bytes().replace(b",\r\n", b",A\r\n"))  # every empty correction filled in
    done = corrected([case], read_review(path), path.name)
    assert labels(done[0]) == [Label.A] * 3


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [(-1, "D", "line 2: the correction 'D'"), (2, "x", "line 2: the column start"), (5, "other", "line 2: case a has")],
)
def test_a_damaged_review_is_told_by_its_line(tmp_path: Path, column: int, value: str, said: str) -> None:
    path = tmp_path / "review.csv"
    write_review(path, [annotated()])
    rows = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
    rows[1][-1] = "A"
    rows[1][column] = value
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    with pytest.raises(InputError, match=said):
        corrected([annotated()], read_review(path), path.name)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sampled_from(["It burns.", "After supper.", "I own a cat."]), min_size=1, max_size=6))
def test_every_sentence_has_one_label_and_b_never_meets_a(said: list[str]) -> None:
    case = asyncio.run(
        annotate(Case(id="x", text=" ".join(said), reference="acid reflux"), WordDiagnoser(), WordReference())
    )
    assert [case.text[u.start : u.end] for u in case.units] == said
    assert not {Label.A, Label.B} <= set(labels(case))  # one strategy a case
    assert case.right is (Label.B not in labels(case) and "It burns." in said and "After supper." in said)
