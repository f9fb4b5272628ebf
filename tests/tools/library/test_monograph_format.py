"""Monographs: the format, and that every starter monograph keeps it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import pytest

from prompts.errors import DataError
from support.monographs import check_monograph
from tools.library.monograph import (
    Monograph,
    locate,
    paragraphs,
    parse_monograph,
    read_monograph,
    sections,
)

STARTER = Path(__file__).parents[3] / "tools" / "library" / "starter"
GERD = (STARTER / "gerd.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def starter() -> dict[str, Monograph]:
    return {path.stem: read_monograph(path) for path in sorted(STARTER.glob("*.md"))}


def test_every_starter_monograph_keeps_the_format(starter: dict[str, Monograph]) -> None:
    problems = {name: check_monograph(monograph, name) for name, monograph in starter.items()}
    assert {name: found for name, found in problems.items() if found} == {}


def test_presentations_name_dangerous_causes_that_the_graph_knows(starter: dict[str, Monograph]) -> None:
    from agent.knowledge_graph import STARTER_GRAPH
    from tools.knowledge_graph.loader import read_graph

    named = {m.front.id: m.front.must_not_miss for m in starter.values() if m.front.kind == "presentation"}
    known = {d.id for d in read_graph(STARTER_GRAPH).diseases}
    assert len(named) >= 120
    assert {page: ids for page, ids in named.items() if len(ids) < 3 or not set(ids) <= known} == {}


def test_sections_and_paragraphs_are_exact_slices() -> None:
    monograph = parse_monograph(GERD, "gerd")
    assert [s.title for s in monograph.sections][:2] == ["Overview", "Presentation"]
    for section in monograph.sections:
        content = monograph.text[section.start : section.end]
        assert content == content.strip()
        assert not content.startswith("#")
    for paragraph in paragraphs(monograph.text):
        assert "\n" not in paragraph.of(monograph.text)
    assert sum(len(p.of(monograph.text).split()) for p in paragraphs(monograph.text)) > 250


def test_offsets_do_not_depend_on_line_ends_or_a_byte_order_mark() -> None:
    plain = parse_monograph(GERD, "gerd")
    assert parse_monograph("\ufeff" + GERD.replace("\n", "\r\n"), "gerd").text == plain.text


def test_a_body_with_an_introduction_or_without_headings_has_a_section_without_title() -> None:
    assert [(s.title, s.start) for s in sections("Intro.\n\n## One\nText.")] == [("", 0), ("One", 15)]
    assert [s.title for s in sections("Only text.")] == [""]
    assert [s.title for s in sections("## Empty\n\n## Two\nText.")] == ["Two"]


def test_a_span_counts_only_in_one_paragraph_and_once() -> None:
    text = "## One\nIt helps. It helps a lot.\n\nIt heals.\nIt heals."
    place = locate(text, "It helps a lot.")
    assert place is not None
    assert place[0].of(text) == "It helps a lot."
    assert place[1].of(text) == "It helps. It helps a lot."
    for span in ("It heals.", "It helps", "a lot.\n\nIt heals", "One", "not there"):
        assert locate(text, span) is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("---\nid", "id", "front matter"),
        ("kind: condition", "kind: poem", "kind"),
        ("kind: condition\n", "", "kind"),
        ("language: en", "language: en\ncolour: red", "colour"),
        ("review_by: 2028-11-21", "review_by: soon", "review_by"),
        ("title:", "title: : [", "YAML"),
        ("id: gerd", "id: GERD ", "id"),
    ],
)
def test_broken_front_matter_is_refused_with_the_place(old: str, new: str, said: str) -> None:
    assert old in GERD
    with pytest.raises(DataError, match=said) as caught:
        parse_monograph(GERD.replace(old, new, 1), "gerd")
    assert caught.value.advice


def test_what_the_format_asks_for_is_checked() -> None:
    monograph = parse_monograph(GERD, "gerd")
    assert "the file other.md" in " ".join(check_monograph(monograph, "other"))
    short = parse_monograph(GERD[: GERD.index("## Presentation")], "gerd")
    problems = " ".join(check_monograph(short, "gerd"))
    assert "words, not 250 to 700" in problems
    assert "does not stand in exactly one paragraph" in problems
    assert "the sections are Overview" in problems
    early = parse_monograph(GERD.replace("review_by: 2028", "review_by: 2025"), "gerd")
    assert "review date" in " ".join(check_monograph(early, "gerd"))
    front = monograph.front.model_copy(update={"questions": (monograph.front.questions[0],) * 2})
    few = " ".join(check_monograph(monograph.model_copy(update={"front": front}), "gerd"))
    assert "fewer than 5" in few
    assert "stands twice" in few


def test_no_two_texts_say_the_same_in_the_same_words(starter: dict[str, Monograph]) -> None:
    """With the names of their subjects masked, no two share more than a tenth of their runs of eight words."""
    runs: dict[str, set[tuple[str, ...]]] = {}
    where: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, monograph in starter.items():
        title = set(re.findall(r"[a-z]+", monograph.front.title.lower()))
        words = [w for w in re.findall(r"[a-z]+", monograph.text.lower()) if w not in title]
        runs[name] = {tuple(words[n : n + 8]) for n in range(len(words) - 7)}
        for run in runs[name]:
            where[run].append(name)
    shared = Counter(pair for names in where.values() for pair in combinations(names, 2))
    alike = {pair: n for pair, n in shared.items() if n > 0.1 * min(len(runs[name]) for name in pair)}
    assert alike == {}
