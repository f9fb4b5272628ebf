"""The index of answered questions: built once, taken over, gone on with after a kill, searched."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from prompts.errors import DataError, InputError, ServiceError
from support.small_pages import pages, question
from tools.encoders import Encoder
from tools.questions.building import build
from tools.questions.contract import Answer, Judgement, Question, QuestionsReport, SourceDocument, Verdict
from tools.questions.index import fused, open_questions
from tools.questions.local import WriterLocal
from tools.questions.settings import BuildSettings, SearchSettings


def made(folder: Path, encoder: Encoder, documents: Sequence[SourceDocument] = (), **more: object) -> QuestionsReport:
    return asyncio.run(build(list(documents) or pages(), folder, encoder, **more))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Path:
    folder = tmp_path_factory.mktemp("questions") / "index"
    report = made(folder, encoder)
    assert report.questions == report.kept - report.merged
    assert 0 < report.share_kept <= 1
    own, other = report.nearness.question_own_document, report.nearness.question_other_document
    assert own is not None
    assert other is not None
    assert own > other + 0.1
    return folder


def test_a_question_finds_its_document_and_the_words_that_answer(built: Path, encoder: Encoder) -> None:
    index = open_questions(built, encoder)
    text = {d.id: d.text for d in pages()}
    for asked, document, words in (
        ("Which medicine stops further attacks of gout?", "own:gout", "Allopurinol"),
        ("Do antibiotics work in croup?", "own:croup", "Antibiotics do not help"),
        ("How long do people with scurvy take vitamin C?", "own:scurvy", "three months"),
    ):
        hits = index.search(asked, 3)
        assert hits[0].document == document
        assert words in text[document][hits[0].start : hits[0].end]
        assert len({h.document for h in hits}) == len(hits)
    assert index.search_many(["croup", ""], 2)[1] == []


def test_a_smaller_coverage_lies_within_a_larger_one(built: Path, encoder: Encoder) -> None:
    sizes = [len(open_questions(built, encoder, SearchSettings(coverage=n))) for n in (1, 3, 1000)]
    assert sizes[:2] == [3, 9]
    assert sizes[2] == len(open_questions(built, encoder))
    small = open_questions(built, encoder, SearchSettings(coverage=1))
    large = open_questions(built, encoder, SearchSettings(coverage=3))
    assert set(small._rows.tolist()) < set(large._rows.tolist())


def test_only_what_has_changed_is_written_again(tmp_path: Path, encoder: Encoder) -> None:
    writer = CountingWriter()
    made(tmp_path / "i", encoder, writer=writer)
    changed = [*pages("gout", "croup"), pages("scurvy")[0].model_copy(update={"text": "Scurvy is caused by hunger."})]
    report = made(tmp_path / "i", encoder, changed, writer=writer)
    assert writer.asked == ["own:gout", "own:croup", "own:scurvy", "own:scurvy"]
    assert report.reused == 2
    again = made(tmp_path / "i", encoder, changed, writer=writer)
    assert (again.reused, len(writer.asked)) == (3, 4)


def test_what_one_writer_wrote_outlives_the_build_of_another(tmp_path: Path, encoder: Encoder) -> None:
    paid = CountingWriter()
    made(tmp_path / "i", encoder, pages("gout", "croup"), writer=paid)
    changed = pages("croup")[0].model_copy(update={"text": "Croup is a cough of children."})
    made(tmp_path / "i", encoder, [*pages("gout"), changed])  # by the local writer
    report = made(tmp_path / "i", encoder, pages("gout", "croup"), writer=paid)
    assert report.reused == 1  # that of the changed document was forgotten
    assert paid.asked == ["own:gout", "own:croup", "own:croup"]


def test_work_of_a_file_that_names_no_documents_is_taken_over(tmp_path: Path, encoder: Encoder) -> None:
    writer = CountingWriter()
    made(tmp_path / "i", encoder, pages("gout"), writer=writer)
    with contextlib.closing(sqlite3.connect(tmp_path / "i.work.sqlite")) as db:
        db.execute("alter table written drop column document")
    made(tmp_path / "i", encoder, pages("gout", "croup"))
    assert made(tmp_path / "i", encoder, pages("gout", "croup"), writer=writer).reused == 1
    assert writer.asked == ["own:gout", "own:croup"]


def test_a_build_that_failed_goes_on_and_the_old_index_stays(tmp_path: Path, encoder: Encoder) -> None:
    made(tmp_path / "i", encoder, pages("gout"))
    failing = CountingWriter(fails="own:croup")
    with pytest.raises(ServiceError):
        made(tmp_path / "i", encoder, writer=failing)
    assert open_questions(tmp_path / "i", encoder).search("gout", 1)[0].document == "own:gout"
    failing.fails = ""
    report = made(tmp_path / "i", encoder, writer=failing)
    assert failing.asked.count("own:gout") == failing.asked.count("own:scurvy") == 1
    assert (report.reused, failing.asked.count("own:croup")) == (2, 2)


def test_a_question_that_its_document_does_not_answer_is_left_out(tmp_path: Path, encoder: Encoder) -> None:
    report = made(tmp_path / "i", encoder, writer=StrayWriter())
    found = {hit.question.text for hit in open_questions(tmp_path / "i", encoder).search("croup in children", 9)}
    assert report.kept == 2  # of gout the question about croup is not kept, of croup and scurvy their own is
    assert "What is the dose of dexamethasone in croup?" in found


def test_by_the_published_rule_no_other_document_matters(tmp_path: Path, encoder: Encoder) -> None:
    class Overlapping:
        name = "overlapping"

        async def write(self, document: SourceDocument, wanted: int) -> list[Question]:
            at = document.text.index("Antibiotics")
            answer = Answer(document=document.id, start=at, end=len(document.text))
            return [Question(text="Do antibiotics help in croup?", answers=(answer,), writer=self.name)]

    told = SourceDocument(id="own:cough", title="", text="A cough has many causes. Antibiotics do not help in croup.")
    documents = [*pages("croup"), told]
    stray = made(tmp_path / "s", encoder, writer=StrayWriter(), settings=BuildSettings(judge="pair"))
    assert stray.kept == 2  # what no statement of the document holds is not kept by either rule
    by_rule = made(tmp_path / "p", encoder, documents, writer=Overlapping(), settings=BuildSettings(judge="pair"))
    by_round_trip = made(tmp_path / "r", encoder, documents, writer=Overlapping())
    assert (by_rule.kept, by_round_trip.kept) == (2, 1)
    assert (by_rule.judge, by_round_trip.judge) == ("pair of round trip@1", "round trip@1")


def test_pairs_are_judged_once(tmp_path: Path, encoder: Encoder) -> None:
    judge = CountingJudge()
    made(tmp_path / "i", encoder, judge=judge, settings=BuildSettings(per_document=4))
    first = judge.pairs
    made(tmp_path / "i", encoder, pages("gout", "croup"), judge=judge, settings=BuildSettings(per_document=4))
    assert (first, judge.pairs) == (12, 12)


def test_a_document_in_another_language_is_not_asked_for_in_english_and_is_told(
    tmp_path: Path, encoder: Encoder
) -> None:
    french = SourceDocument(id="own:f", title="Goutte", text="La goutte est une arthrite. On la traite.", language="fr")
    british = pages("scurvy")[0].model_copy(update={"language": "en-GB"})
    report = made(tmp_path / "i", encoder, [french, british])
    assert report.empty == 1
    assert any("1 documents are not in English" in warning for warning in report.warnings)
    hits = open_questions(tmp_path / "i", encoder).search("La goutte est une arthrite.", 9)
    assert {hit.document for hit in hits} == {"own:scurvy"}
    by_another = made(tmp_path / "j", encoder, [french], writer=StrayWriter(), judge=CountingJudge())
    assert not any("not in English" in warning for warning in by_another.warnings)


def test_low_coverage_and_empty_documents_are_told(tmp_path: Path, encoder: Encoder) -> None:
    documents = [*pages("gout"), SourceDocument(id="own:z", title="痛风", text="痛风是尿酸结晶引起的关节炎。")]
    warnings = " ".join(made(tmp_path / "i", encoder, documents, settings=BuildSettings(per_document=2)).warnings)
    assert "Coverage is low" in warnings
    assert "1 of 2 documents have no question" in warnings
    assert "1 documents are not in English" in warnings


def test_of_equal_documents_the_newer_stands_first_then_the_more_general(tmp_path: Path, encoder: Encoder) -> None:
    text = "Gout is caused by crystals of uric acid."
    dates = {"own:old": "2020-01-01", "own:new": "2024-01-01", "own:newest-narrow": "2025-01-01", "own:b": "2024-01-01"}
    documents = [SourceDocument(id=key, title="Gout", text=text, date=date) for key, date in dates.items()]
    given = [question("What makes uric acid?", "b", 1)]
    made(tmp_path / "i", encoder, documents, given=given)
    hits = open_questions(tmp_path / "i", encoder).search("Is it true that gout is caused by crystals of uric acid?", 4)
    assert [h.document for h in hits] == ["own:newest-narrow", "own:b", "own:new", "own:old"]


def test_direct_retrieval_adds_what_no_question_foresaw(built: Path, encoder: Encoder) -> None:
    hits = open_questions(built, encoder).search("Do antibiotics work in croup?", 2)
    order = fused(hits, {"bm25": ["own:unforeseen", "own:croup"], "dense": ["own:croup"]})
    assert order[0] == "own:croup"
    assert "own:unforeseen" in order


def test_faults_are_told(tmp_path: Path, built: Path, encoder: Encoder) -> None:
    with pytest.raises(InputError, match="no documents"):
        asyncio.run(build([], tmp_path / "i", encoder))
    with pytest.raises(InputError, match="Two documents"):
        made(tmp_path / "i", encoder, [*pages("gout"), *pages("gout")])
    with pytest.raises(DataError, match="nothing built"):
        open_questions(tmp_path / "none", encoder)
    damaged = next(built.glob("*/answers.npz"))
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:-9] + b"123456789")
    try:
        with pytest.raises(DataError, match="damaged"):
            open_questions(built, encoder)
    finally:
        damaged.write_bytes(whole)


class CountingWriter:
    name = "counting"

    def __init__(self, fails: str = "") -> None:
        self.asked: list[str] = []
        self.fails = fails

    async def write(self, document: SourceDocument, wanted: int) -> list[Question]:
        self.asked.append(document.id)
        if document.id == self.fails:
            raise ServiceError("The server is away.", "Try again.")
        return [q.model_copy(update={"writer": self.name}) for q in WriterLocal().write_now(document, wanted)]


class StrayWriter:
    """Asks every document the same two things."""

    name = "stray"

    async def write(self, document: SourceDocument, wanted: int) -> list[Question]:
        place = (Answer(document=document.id, start=0, end=60),)
        return [
            Question(text="What is the dose of dexamethasone in croup?", answers=place, writer=self.name),
            Question(text="Does fresh fruit prevent scurvy?", answers=place, writer=self.name),
        ]


class CountingJudge:
    name, of_pair = "counting", True

    def __init__(self) -> None:
        self.pairs = 0

    async def judge(self, pairs: Sequence[tuple[Question, SourceDocument]]) -> list[Judgement]:
        self.pairs += len(pairs)
        return [Judgement(verdict=Verdict.FULL, start=0, end=5) for _ in pairs]
