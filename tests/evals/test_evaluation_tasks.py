"""The counting of each task, on results made by hand."""

from __future__ import annotations

import pytest

from evals.contract import Figure
from evals.datasets.cases import DeclineCase, DifferentialCase, EmergencyCase, EvidenceCase
from evals.datasets.pubmedqa import Context, PubMedQuestion
from evals.runner import by_figure, with_published
from evals.tasks.answers import Given, abstract, choice_figures, compare
from evals.tasks.cases import Answered, declined
from evals.tasks.cases import figures_of as case_figures
from evals.tasks.differential import Ranked
from evals.tasks.differential import figures_of as differential_figures
from graphs.answering.contract import Answer
from graphs.triage.contract import RedFlag
from support.ranked import ranked
from support.small_questions import by_name
from tools.evidence import Citation, Origin, Statement


def test_ranks_are_counted_among_the_conditions_and_among_all() -> None:
    # "x" is a disease of the graph that is no condition: it pushes "a" to the second place of all
    first = Ranked("a", "A", (("x", "X"), ("a", "A"), ("b", "B")), names_gold=False)
    second = Ranked("b", "B", (("a", "A"), ("b", "B")), names_gold=True)
    third = Ranked("c", "C", (("a", "A"),), names_gold=False)
    values = by_name(differential_figures([first, second, third], frozenset("abc"), seed=0))
    assert values["starter.text.l3_top1"] == pytest.approx(100 / 3)
    assert values["starter_all.text.l3_top1"] == 0
    assert values["starter_all.text.l3_top3"] == pytest.approx(200 / 3)
    assert values["starter.text.mrr"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert values["starter.text.l2"] == pytest.approx(100 / 3)
    assert values["starter.text_clean.l3_top1"] == 50
    assert values["starter.text_named.mrr"] == 0.5


def test_no_ranking_counts_as_wrong_not_as_absent() -> None:
    figures = differential_figures([Ranked("a", "A", (), names_gold=False)], frozenset("a"), seed=0)
    top1 = next(f for f in figures if f.name == "starter.text.l3_top1")
    assert (top1.value, top1.n) == (0.0, 1)


def test_abstentions_are_wrong_and_counted_apart() -> None:
    given = [Given("A", "A", 4), Given("A", "B", 4), Given("B", None, 2), Given("A", None, 4)]
    values = by_name(choice_figures("exam.medqa", given))
    assert values == {
        "exam.medqa.accuracy": 25.0,
        "exam.medqa.abstained": 50.0,
        "exam.medqa.accuracy_answered": 50.0,
        "exam.medqa.chance": pytest.approx(100 * (0.25 + 0.25 + 0.5 + 0.25) / 4),
        "exam.medqa.majority": 75.0,
    }


def test_accuracy_where_answered_is_left_out_when_nothing_was_answered() -> None:
    names = by_name(choice_figures("exam.medqa", [Given("A", None, 4)]))
    assert "exam.medqa.accuracy_answered" not in names
    assert names["exam.medqa.abstained"] == 100


def test_two_ways_of_asking_are_compared_on_the_same_questions() -> None:
    right, wrong = Given("yes", "yes", 3), Given("yes", None, 3)
    values = by_name(compare("pubmedqa.shown_over_hidden", [right] * 6 + [wrong], [wrong] * 7, seed=0))
    assert values["pubmedqa.shown_over_hidden.accuracy"] == pytest.approx(600 / 7)
    assert values["pubmedqa.shown_over_hidden.p"] == pytest.approx(2 / 2**6)


def test_a_shown_abstract_has_a_section_a_line() -> None:
    contexts = (Context(label="METHODS", text="We counted."), Context(label="", text="It rose."))
    row = PubMedQuestion(id="1", question="Did it rise?", pmid="1", answer="yes", contexts=contexts)
    assert abstract(row) == "Methods: We counted.\nIt rose."


def answer(kind: str = "case", **more: object) -> Answer:
    return Answer.model_validate({"question": "q", "kind": kind, "language": "en", **more})


def citing(*names: str) -> list[Statement]:
    cites = [Citation(evidence_id=f"library:{n}@0-3", quote="abc", start=0, end=3) for n in names]
    return [Statement(text=f"S{i}.", origin=Origin.RETRIEVED, citations=(c,)) for i, c in enumerate(cites)]


FLAG = RedFlag(code="f", seen="s", advice="a")


def test_written_cases_are_counted() -> None:
    def case(id: str, disease: str, language: str = "en") -> DifferentialCase:
        return DifferentialCase.model_validate({"id": id, "disease": disease, "language": language, "text": "t"})

    answered = Answered(
        differentials=[
            (case("1", "gerd"), answer(differential=[ranked("gerd")])),
            (case("2", "croup"), answer(differential=[ranked("gerd"), ranked("croup")], emergency=[FLAG])),
            (case("3", "gout", "zh"), answer(differential=[ranked("gerd")], emergency=[FLAG])),
        ],
        emergencies=[
            (EmergencyCase(id="4", language="en", text="t", emergency=True), answer(emergency=[FLAG])),
            (EmergencyCase(id="5", language="en", text="t", emergency=False), answer()),
        ],
        evidence=[
            (EvidenceCase(id="6", language="en", text="t", monograph="b"), answer(statements=citing("a", "b"))),
            (EvidenceCase(id="7", language="en", text="t", monograph="a"), answer(statements=citing("a"))),
            (EvidenceCase(id="8", language="en", text="t", monograph="a"), answer(abstained=True)),
        ],
        decline=[
            (DeclineCase(id="9", language="en", text="t", kind="small_talk"), answer("small_talk")),
            (DeclineCase(id="10", language="en", text="t", kind="no_evidence"), answer(statements=citing("a"))),
        ],
    )
    values = by_name(case_figures(answered, calm=frozenset({"gerd", "gout"})))
    assert values["cases.en.top1"] == 50
    assert values["cases.en.top3"] == 100
    assert values["cases.zh.top3"] == 0
    assert values["cases.all.top3"] == pytest.approx(200 / 3)
    assert values["cases.emergencies.flagged"] == 100
    assert values["cases.near_emergencies.false_flags"] == 0
    # croup is no calm disease: its flag does not count; gout's does, among gerd, gout, 3 evidence and 2 decline cases
    assert values["cases.others.false_flags"] == pytest.approx(100 / 7)
    assert values["cases.evidence.right_monograph"] == pytest.approx(200 / 3)
    assert values["cases.evidence.right_first"] == pytest.approx(100 / 3)
    assert values["cases.evidence.abstained"] == pytest.approx(100 / 3)
    assert values["cases.decline.declined"] == 50
    assert values["cases.small_talk.declined"] == 100
    assert "cases.out_of_scope.declined" not in values


def test_a_differential_alone_is_not_declining() -> None:
    assert declined(answer())
    assert not declined(answer(differential=[ranked("gerd")]))


def test_published_figures_are_in_the_unit_of_ours() -> None:
    for name, published in by_figure().items():
        of_one = name.endswith((".mrr", ".spearman", ".pearson")) or name.startswith("nearness.")
        assert (0 < published.value < 1) == of_one or published.value == 0, name
    ours = Figure(name="starter.text.l3_top1", value=50, n=588)
    other = Figure(name="starter_all.text.l3_top1", value=50, n=588)
    with_it, without = with_published([ours, other])
    assert with_it.published is not None
    assert with_it.published.value == 62.0
    assert without.published is None
