"""The task `segmentation`: on a handful of texts written here, and how its figures are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.settings import Settings
from evals.contract import TaskContext
from evals.datasets.medquad import PAGES, Page, read_pages
from evals.tasks import segmentation
from evals.tasks.segmentation import (
    ARTICLES,
    HANDED,
    Agreement,
    Article,
    Documents,
    Library,
    Pair,
    Passages,
    Question,
    Text,
    agreement,
    agreement_figures,
    by_both,
    coverage_figures,
    cuts,
    draw_questions,
    read_articles,
    read_pairs,
)
from evals.tasks.segmentation.segmenters import BASELINES, SEGMENTERS, Fixed
from prompts.errors import DataError
from support.small_questions import write_rows as write
from support.word_encoder import WordEncoder
from tools.encoders import Encoder
from tools.text.sentences import Span

SUBJECTS = {
    "Asthma": ("Asthma narrows the airways of the lungs.", "Inhaled steroids treat asthma. They reduce attacks."),
    "Gout": ("Gout is an arthritis from urate crystals.", "Colchicine treats gout. It must be started early."),
}
ABSTRACT = "Statins are used widely. In patients with myopathy the risk is high. They should not be given a statin."


def context(home: Path, data: Path, limit: int = 10) -> TaskContext:
    return TaskContext(data, limit, 0, settings=Settings(home=home, literature={"live": "off"}))  # type: ignore[arg-type]


def page(focus: str, *answers: str) -> dict[str, object]:
    kinds = ("What is {} ?", "What are the treatments for {} ?")
    rows = [{"question": q.format(focus), "text": a} for q, a in zip(kinds, answers, strict=False)]
    return {"url": f"https://example.org/{focus}", "focus": focus, "segments": rows}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write(tmp_path / PAGES, [page(focus, *answers) for focus, answers in SUBJECTS.items()])
    sections = [{"sentences": [s, "This was seen."]} for answers in SUBJECTS.values() for s in answers]
    write(tmp_path / ARTICLES, [{"id": "PMC1", "segments": sections}, {"id": "PMC2", "segments": sections[:1]}])
    write(tmp_path / "literature/abstracts.jsonl", [{"pmid": "7", "title": "Statins", "abstract": ABSTRACT}])
    article = tmp_path / "fulltext/nxml/PMC3.nxml"
    article.parent.mkdir(parents=True)
    article.write_text("<article/>")
    return tmp_path


def test_every_segmenter_is_measured_in_every_way(
    data: Path, tmp_path: Path, built_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, governed = (ABSTRACT.index(word) for word in ("In patients", "They"))
    kept = Pair.of("pubmed:7", ABSTRACT, Span(told, governed - 1), Span(governed, len(ABSTRACT)))
    gone = Pair.of("pubmed:8", ABSTRACT, Span(0, 3), Span(4, 8))
    write(tmp_path / "pairs.jsonl", [kept.model_dump(), gone.model_dump()])
    monkeypatch.setattr(segmentation.read_pairs, "__defaults__", (tmp_path / "pairs.jsonl",))
    figures = {f.name: f for f in segmentation.run(context(built_home, data))}
    for name in SEGMENTERS:
        for retriever in ("bm25", "dense", "hybrid"):
            assert figures[f"{name}.{retriever}.coverage"].n == 2
            assert figures[f"{name}.{retriever}.half"].value == 100  # all of these pages fits in what is handed on
        assert figures[f"{name}.qualifiers.kept"].n == 1
        if name != "paragraph":
            assert 0 <= figures[f"{name}.boundaries.pk"].value <= 1
            assert figures[f"{name}.boundaries.windowdiff_own"].n == 1
    assert figures["seos.qualifiers.kept"].value == 100
    assert figures["sentence.qualifiers.kept"].value == 0
    for name in BASELINES:
        assert f"seos_over_{name}.hybrid.coverage" in figures
        assert f"seos_over_{name}.qualifiers.kept" in figures
    assert figures["seos_over_sentence.qualifiers.kept"].value == 100
    assert "seos_over_best_fixed.dense.coverage" in figures


def test_the_pairs_that_are_kept_are_places_only() -> None:
    pairs = read_pairs()
    assert len(pairs) >= 150
    assert len({p.check for p in pairs}) == len(pairs)
    for pair in pairs:
        (a, b), (c, d) = sorted([pair.qualifier, pair.statement])
        assert a < b <= c < d


def test_a_pair_in_a_changed_document_is_noticed(data: Path, built_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Pair.of("pubmed:7", ABSTRACT, Span(0, 24), Span(25, 60))
    assert pair.stands_in(ABSTRACT)
    assert not pair.stands_in("X" + ABSTRACT)
    write(data / "pairs.jsonl", [pair.model_copy(update={"check": "0"}).model_dump()])
    monkeypatch.setattr(segmentation.read_pairs, "__defaults__", (data / "pairs.jsonl",))
    with pytest.raises(DataError, match="None of the pairs"):
        segmentation.run(context(built_home, data))


def test_pages_and_articles_are_put_together_without_headings(data: Path) -> None:
    first = read_pages(data)[0]
    assert first.text == "\n\n".join(SUBJECTS["Asthma"])
    assert [first.text[a.start : a.end] for a in first.answers] == list(SUBJECTS["Asthma"])
    (article,) = read_articles(data)  # the other has one section only
    assert article.sections == (2, 2, 2, 2)
    assert [article.text[s : s + 4] for s in article.starts[1::2]] == ["This"] * 4
    assert draw_questions(read_pages(data), 5, 1) == draw_questions(read_pages(data), 5, 1)


def test_coverage_counts_handed_tokens_and_each_character_once(data: Path) -> None:
    words = [f"w{i}" for i in range(1000)]
    text = " ".join(words)
    starts = [text.index(f"{word} ") for word in words[:-1]]
    answer = {"question": "?", "start": starts[400], "end": starts[700] - 1}
    library = Library([Page(url="u", focus="f", text=text, answers=(answer,))], WordEncoder())  # type: ignore[arg-type]
    question = Question(0, library.pages[0].answers[0])

    def share(*spans: tuple[int, int]) -> float:
        places = [Span(starts[a], starts[b] - 1) for a, b in spans]
        none, zero = [None] * len(places), [0] * len(places)
        passages = Passages(zero, places, none, zero, zero, [False] * len(places))
        return library.covered(question, range(len(places)), passages)

    written = sum(len(w) for w in words[400:700])
    assert share((400, 700)) == 1.0
    assert share((400, 500), (450, 550)) == pytest.approx(sum(len(w) for w in words[400:550]) / written)
    assert share((0, 500), (500, 700)) == pytest.approx(sum(len(w) for w in words[400 : 500 + HANDED - 500]) / written)
    assert share((0, 600), (600, 700)) == pytest.approx(sum(len(w) for w in words[400:HANDED]) / written)
    assert share((0, 200), (800, 900)) == 0.0


def test_what_the_encoder_does_not_read_is_counted() -> None:
    pages = [Page(url="u", focus="two words", text=" ".join("abcdefgh" * 3), answers=())]
    run = TaskContext(Path(), 1, 0, settings=Settings())
    cut = Library(pages, WordEncoder(limit=14)).cut(Fixed(12), run, "fixed")
    assert cut.tokens == [12, 12]
    assert cut.cut == [True, True]  # 12, two words before them and two special tokens are more than 14
    assert Library(pages, WordEncoder(limit=16)).cut(Fixed(12), run, "fixed").cut == [False, False]


class Led:
    """Cuts like Fixed(12) and reads the first two words of the text before the second passage."""

    def __call__(self, text: str, title: str, encoder: Encoder, count: int | None = None) -> list[Span]:
        return Fixed(12)(text, title, encoder, count)

    def led(self, text: str, title: str, encoder: Encoder) -> list[tuple[Span, Span | None]]:
        return list(zip(self(text, title, encoder), (None, Span(0, 3)), strict=True))


def test_a_sentence_before_a_passage_is_searched_and_counted_and_not_handed_on() -> None:
    run = TaskContext(Path(), 1, 0, settings=Settings())
    text = " ".join("abcdefghijklmnopqrstuvwx")
    library = Library([Page(url="u", focus="f", text=text, answers=())], WordEncoder(limit=15))
    cut = library.cut(Led(), run, "led")
    assert library.texts(cut) == [f"f\n{text[:23]}", f"f\na b\n{text[24:]}"]
    assert (cut.tokens, cut.read, cut.cut) == ([12, 12], [12, 14], [False, True])
    held = documents(limit=100)
    cuts, leads = held.cut(Fixed(50), run, "")
    assert held.kept(cuts, {key: [30] * len(spans) for key, spans in leads.items()}).tokens == 100 + 60
    narrow = documents(limit=60)
    assert narrow.kept(cuts).pairs == [True, False]
    assert narrow.kept(cuts, {key: [50] * len(spans) for key, spans in leads.items()}).pairs == [False, False]


def test_both_rankings_are_fused_by_rank() -> None:
    assert by_both([3, 1, 2], [1, 4])[0] == 1


def test_cuts_fall_on_the_nearest_sentence() -> None:
    text = "aaa bbb\nccc ddd\neee fff\nggg"
    starts = (0, 8, 16, 24)
    assert cuts([Span(0, 7), Span(8, 23), Span(20, 27)], starts) == {1, 3}
    assert cuts([Span(0, 11), Span(12, 27)], starts) == {1}
    assert cuts([Span(0, 1), Span(2, 27)], starts) == frozenset()
    article = Article(id="a", text=text, starts=starts, sections=(2, 2))
    whole = agreement(article, lambda *_: [Span(0, 15), Span(16, 27)], WordEncoder(), counted=True)
    assert whole == Agreement(0.0, 0.0, 1.0)


def documents(limit: int) -> Documents:
    text = " ".join(f"w{i}" for i in range(100))
    at = [text.index(f"w{i} ") for i in range(99)]
    pairs = [
        Pair.of("d", text, Span(at[8], at[10]), Span(at[10], at[12])),
        Pair.of("d", text, Span(at[48], at[49]), Span(at[51], at[52])),
    ]
    return Documents([Text(id="d", title="", text=text), Text(id="e", title="", text="x")], pairs, WordEncoder(limit))


def test_pairs_are_kept_where_both_sentences_are_read() -> None:
    run = TaskContext(Path(), 1, 0, settings=Settings())
    wide = documents(limit=100)
    assert wide.kept(*wide.cut(Fixed(50), run, "")).pairs == [True, False]
    narrow = documents(limit=10)
    found = narrow.kept(*narrow.cut(Fixed(50), run, ""))
    assert (found.pairs, found.stored, found.tokens) == ([False, False], [True, False], 100)
    assert all(found.cut)


def test_an_index_of_the_same_size_gets_uniform_overlap() -> None:
    run = TaskContext(Path(), 1, 0, settings=Settings())
    held = documents(limit=100)
    bare, shared = held.cut(Fixed(25), run, "")[0], held.cut(Fixed(25, 5), run, "")[0]
    assert held.kept(bare).tokens == 100
    widened = held.widened(bare, 116)  # three passages can begin five tokens earlier, and not six
    assert held.kept(widened).tokens == 115
    assert held.kept(widened).pairs == [True, True]
    assert held.kept(held.widened(shared, 100)).tokens == 100
    assert held.widened(bare, 50) == bare


def test_figures_compare_with_the_best_fixed_baseline() -> None:
    shares = {"bm25": {name: [0.0, 0.4] for name in SEGMENTERS}}
    shares["bm25"]["seos"] = [0.5, 0.9]
    shares["bm25"]["fixed_budget"] = [0.2, 0.6]
    shares["bm25"]["recursive"] = [0.9, 0.9]
    figures = {f.name: f.value for f in coverage_figures(shares, 0)}
    assert figures["seos.bm25.coverage"] == pytest.approx(70)
    assert figures["seos.bm25.half"] == 100
    assert figures["fixed_budget.bm25.half"] == 50
    assert figures["seos_over_best_fixed.bm25.coverage"] == pytest.approx(30)
    assert figures["seos_over_recursive.bm25.coverage"] == pytest.approx(-20)


def test_below_zero_is_better_for_pk() -> None:
    found = {"seos": [Agreement(0.2, 0.3, 0.5)] * 2, "sentence": [Agreement(0.5, 0.6, 0.1)] * 2}
    figures = {f.name: f.value for f in agreement_figures(found, "_own", 0)}
    assert figures["seos_over_sentence.boundaries.pk_own"] == pytest.approx(-0.3)
    assert figures["sentence.boundaries.similarity_own"] == pytest.approx(0.1)
