"""What the reader is trained on: nothing of the articles that it is judged on, and well-formed labels of our own."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from prompts.errors import InputError
from tools.reading import corpus
from tools.reading.contract import Direction, Pair, Role, Stance, role_of
from tools.reading.corpus import ANNOTATIONS, EXAMPLES, SILENT, Example, division, epoch, own, rows, swapped

MARK = "Zzheldback"  # in every text of a row that is for judging only
PASSES = 3
PAGE = """---
id: {id}
title: {name}
kind: condition
language: en
written: 2026-11-01
review_by: 2028-11-01
clinically_reviewed: false
questions: []
---
## Treatment
{said}
"""
PAGES = {
    "Ague": "Ague is a fever. Rest helps Ague. Ague ends by itself.",
    "Gout": "Rest helps a joint. Rest does little for Ague.",
}


def dice(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311


def written(path: Path, found: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in found))


def named(source: str, count: int = 4) -> Iterator[tuple[str, str]]:
    """Names of articles with a word for their texts: as many for judging as for training."""
    yield from ((name, MARK) for name in sorted(division()[source])[:count])
    yield from ((f"{source}-fit-{n}", f"Given {n}") for n in range(count))


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data folder of made-up rows of both sides."""
    labels = ("increased", "decreased", "no difference")
    articles = list(named("evidence_inference"))
    written(tmp_path / corpus.COMPARISONS, [
        {"pmcid": a, "intervention": f"{word} drug", "comparator": "placebo" if n else "", "outcome": f"{word} pain",
         "label": labels[n], "evidence": [f"{word} pain was compared in the groups."]}
        for a, word in articles for n in range(3)
    ])  # fmt: skip
    written(tmp_path / corpus.ABSTRACTS, [
        {"pmcid": a, "title": f"{word} title", "abstract": [
            {"section": "METHODS", "text": f"{word} people took part. {word} diaries were kept."},
            {"section": "RESULTS", "text": f"{word} pain was less."},
        ]} for a, word in articles
    ])  # fmt: skip
    written(tmp_path / corpus.PUBMEDQA, [
        {"id": a, "question": f"{word}: does it help?", "pmid": a, "answer": ("yes", "no", "maybe")[n % 3],
         "long_answer": f"{word} conclusion was drawn. {word} again.", "contexts": [
             {"label": "METHODS", "text": f"{word} method."}, {"label": "RESULTS", "text": f"{word} result was seen."},
         ]} for n, (a, word) in enumerate(named("pubmedqa"))
    ])  # fmt: skip
    written(tmp_path / corpus.BIOASQ, [
        {"id": a, "type": "yesno" if n % 2 else "factoid", "question": f"{word} of which question?",
         "exact_answer": "yes", "ideal_answer": [f"Yes, {word} is the answer that was given here."],
         "documents": [a], "snippets": [{"pmid": a, "text": f"{word} snippet of more than twenty characters."}]}
        for n, (a, word) in enumerate(named("bioasq"))
    ])  # fmt: skip
    row = ["pubmedqa-fit-1", 1, 0, 15, "supports", "unclear", "result"]
    written(tmp_path / "annotations.jsonl", [{"source": "pubmedqa", "id": "pubmedqa-fit-1", "rows": [row]}])
    monkeypatch.setattr(corpus, "ANNOTATIONS", tmp_path / "annotations.jsonl")
    monkeypatch.setattr(corpus, "THEIRS", 1.0)
    few = tmp_path / "examples"
    few.mkdir()
    lines = (EXAMPLES / "contrast_a.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (few / "few.jsonl").write_text("".join(lines[:60]), encoding="utf-8")
    monkeypatch.setattr(corpus, "EXAMPLES", few)
    monkeypatch.setattr(corpus, "PAGES", tmp_path / "pages")
    monkeypatch.setattr(corpus, "KNOWN", tmp_path / "known")
    (tmp_path / "pages").mkdir()
    for name, said in PAGES.items():
        (tmp_path / "pages" / f"{name.lower()}.md").write_text(
            PAGE.format(id=name.lower(), name=name, said=said), encoding="utf-8"
        )
    answered = {
        "sentence": "Rest helps Ague.",
        "questions": [[f"Does rest help Ague {n}?", "supports"] for n in range(40)],
    }
    written(tmp_path / "known" / "a.jsonl", [answered])
    for remembered in (corpus.library, corpus.found):
        remembered.cache_clear()
    yield tmp_path
    for remembered in (corpus.library, corpus.found):
        remembered.cache_clear()


def test_nothing_that_is_for_judging_is_trained_on(data: Path) -> None:
    held = division()
    names = frozenset().union(*held.values())
    for seed in range(PASSES):
        examples = epoch(data, dice(seed))
        assert {*division(), "own", "known", "library"} == {e.source for e in examples}
        assert [e for e in examples if e.article in names] == []
        assert [e for e in examples if MARK.casefold() in " ".join(e.pair).casefold()] == []


def test_the_two_sides_are_all_there_is_and_share_nothing(data: Path) -> None:
    for read, key in (
        (corpus.comparisons, "pmcid"),
        (corpus.abstract_questions, "id"),
        (corpus.snippet_questions, "id"),
    ):
        fit, judge = ({r[key] for r in read(data, side)} for side in (False, True))
        assert fit
        assert judge
        assert fit & judge == set()
    assert {r["id"] for r in corpus.abstract_questions(data, judge=True)} <= division()["pubmedqa"]


def test_labels_are_as_the_data_say(data: Path) -> None:
    examples = epoch(data, dice(5))
    for e in examples:
        assert e.stances
        assert 0 < e.weight <= 1
        assert e.pair.question
        assert e.pair.sentence
        if e.role in (Role.METHOD, Role.AIM, Role.BACKGROUND) and e.source != "own":
            assert e.stances == SILENT, "a method is no answer"
    (labelled,) = [e for e in examples if e.article == "pubmedqa-fit-1" and e.stances == (Stance.SUPPORTS,)][:1]
    assert labelled.source == "pubmedqa"


def test_a_pass_depends_on_the_seed_and_on_nothing_else(data: Path) -> None:
    assert epoch(data, dice(1)) == epoch(data, dice(1))
    assert epoch(data, dice(1)) != epoch(data, dice(2))


def test_a_known_question_is_held_against_sentences_that_were_not_written_for_it(data: Path) -> None:
    assert {e.pair.sentence for e in corpus.known(judge=False)} == {"Rest helps Ague."}
    asked = [{e.article for e in corpus.known(judge=side)} for side in (False, True)]
    assert all(asked)
    assert asked[0] & asked[1] == set()
    elsewhere, same = corpus.found(judge=False)
    assert {e.pair.sentence for e in elsewhere} == {"Rest helps a joint."}, "another that names its subject may answer"
    assert {e.stances for e in elsewhere} == {SILENT}
    assert {e.pair.title for e in same} == {"Ague"}
    assert {len(e.stances) for e in corpus.beside(dice(1), 10)} == {len(Stance)}


def test_a_medicine_is_swapped_in_both_or_makes_the_pair_unrelated() -> None:
    example = Example(
        Pair("Is codeine safe in asthma?", "Codeine is avoided in asthma.", "Codeine"), "own", "a", (Stance.REFUTES,),
        Direction.UNCLEAR,
    )  # fmt: skip
    drawn = [swapped(example, dice(seed)) for seed in range(200)]
    both = [e for e in drawn if e.stances == example.stances and e != example]
    foreign = [e for e in drawn if e.stances == (Stance.UNRELATED,)]
    assert min(len(both), len(foreign), drawn.count(example)) > 3
    assert [e for e in both if "Codeine" in " ".join(e.pair)] == []
    assert [e for e in foreign if "Is codeine" in e.pair.question or "Codeine" not in e.pair.sentence] == []
    other = replace(example, pair=Pair("Is codeine safe in asthma?", "Aspirin is avoided in asthma."))
    assert {swapped(other, dice(seed)) for seed in range(50)} == {other}


def test_a_missing_file_of_the_data_is_told_with_advice(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="data folder"):
        epoch(tmp_path, dice(1))


def test_our_labels_of_single_sentences_are_of_articles_that_may_be_trained_on() -> None:
    names = frozenset().union(*division().values())
    found = list(rows(ANNOTATIONS))
    assert len(found) > 100
    for row in found:
        assert row["source"] in ("pubmedqa", "bioasq")
        assert {row["id"], *(place[0] for place in row["rows"])} & names == set()
        for _, place, start, end, stance, direction, role in row["rows"]:
            assert place >= 0
            assert 0 <= start < end
            assert stance in set(Stance)
            assert direction in set(Direction)
            assert role in set(Role)


def test_our_own_pairs_name_no_article_that_is_for_judging() -> None:
    names = sorted({n for source in ("pubmedqa", "bioasq") for n in division()[source]})
    names += [f"PMC{n}" for n in sorted(division()["evidence_inference"])]
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.jsonl")))
    words = set(re.findall(r"[\w-]+", text))
    assert len(words) > 10_000
    assert [n for n in names if n in words or n.removeprefix("pubmedqa-") in words] == []


def test_our_own_pairs_are_divided_by_question() -> None:
    fit, judge = (own(judge=side, rng=dice(1)) for side in (False, True))
    assert len(fit) > 4 * len(judge) > 200
    assert {e.article for e in fit} & {e.article for e in judge} == set()
    assert {e.pair for e in fit} & {e.pair for e in judge} == set()
    for stance in Stance:
        assert sum(e.stances == (stance,) for e in fit) >= 50


@pytest.mark.parametrize(
    ("heading", "role"),
    [
        ("CONCLUSIONS", Role.CONCLUSION),
        ("Main results", Role.RESULT),
        ("Design and setting", Role.METHOD),
        ("OBJECTIVE", Role.AIM),
        ("Background", Role.BACKGROUND),
        ("Methods and results", None),
        ("METHODS/FINDINGS", None),
        ("Funding", None),
        ("", None),
    ],
)
def test_headings_tell_the_role_unless_they_join_several(heading: str, role: Role | None) -> None:
    assert role_of(heading) is role
