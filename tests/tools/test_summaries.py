"""What a planner reads of a result: what documents say to the question, both sides of a differential, what failed."""

from __future__ import annotations

from collections.abc import Sequence

from support.planning_tools import GERD
from tools.contract import AnsweredQuestion, Differential, Finding, Hypothesis, Outcome, RareDisease, ToolArtifact
from tools.encoders import Encoder
from tools.evidence import Evidence, Origin
from tools.summaries import TellingSentences, summarise

QUESTION = "Does dexamethasone help children with mild croup?"
AIM = "We asked whether dexamethasone helps children with mild croup."
METHOD = "Children with mild croup were given one dose of dexamethasone or a placebo, and parents were telephoned."
RESULT = "Returns to care within a week were 7 % with dexamethasone and 15 % with a placebo (P<0.001)."
CONCLUSION = "For children with mild croup, dexamethasone is an effective treatment."
ABSTRACT = f"{AIM} Croup is common. {METHOD} The trial ran in four hospitals. {RESULT} {CONCLUSION}"


def document(text: str, name: str = "pubmed:1", start: int = 0) -> Evidence:
    span = f"{name}@{start}-{start + len(text)}"
    return Evidence(
        id=span,
        text=text,
        title="Croup",
        kind="abstract",
        origin=Origin.RETRIEVED,
        level="randomised trial",
        date="2004",
    )


def shown(evidence: Sequence[Evidence], encoder: Encoder) -> list[str]:
    artifact = ToolArtifact(tool="search_literature", evidence=list(evidence))
    return summarise(artifact, QUESTION, TellingSentences(encoder)).splitlines()[1:]


def test_a_document_is_told_by_its_results_and_conclusions(encoder: Encoder) -> None:
    (line,) = shown([document(ABSTRACT)], encoder)
    assert line.startswith("pubmed:1 | Croup (randomised trial, 2004) | ")
    assert RESULT in line
    assert CONCLUSION in line
    assert line.index(RESULT) < line.index(CONCLUSION), "in the document's order"
    assert AIM not in line
    assert METHOD not in line


def test_pieces_of_a_document_are_one_line_and_no_sentence_stands_twice(encoder: Encoder) -> None:
    at = ABSTRACT.index(RESULT)
    part = document(ABSTRACT[at:], start=at).model_copy(update={"kind": "passage"})
    lines = shown([part, document(ABSTRACT), document("Who won the cup?", "library:croup")], encoder)
    assert [line.partition(" ")[0] for line in lines] == ["pubmed:1", "library:croup"]
    assert lines[0].count(RESULT) == 1
    assert lines[1] == "library:croup | Croup (randomised trial, 2004)", "nothing in it is near to the question"


def test_of_a_page_the_sentence_that_says_most_and_of_one_read_closely_more(encoder: Encoder) -> None:
    beside = "Children with croup breathe more easily after dexamethasone."
    page = document(f"{CONCLUSION} {beside} It is cheap.", "library:croup").model_copy(update={"kind": "section"})
    (line,) = shown([page], encoder)
    assert line.endswith(f"| {CONCLUSION}")
    (line,) = shown([page.model_copy(update={"kind": "passage"})], encoder)
    assert line.endswith(f"| {CONCLUSION} ... {beside}")


def test_a_document_that_is_held_is_told_whole_and_a_question_is_no_finding(encoder: Encoder) -> None:
    whole = f"Do corticosteroids help children with mild croup?\n{CONCLUSION}"
    said = TellingSentences(encoder, lambda name: whole if name == "library:croup" else "")
    found = said(QUESTION, [document(whole.partition("\n")[0], "library:croup")])
    assert CONCLUSION in found["library:croup"]
    alone = TellingSentences(encoder)(QUESTION, [document(f"{whole} {RESULT}")])
    assert RESULT in alone["pubmed:1"]
    assert "?" not in alone["pubmed:1"]


def test_headings_say_what_a_sentence_is(encoder: Encoder) -> None:
    (line,) = shown(
        [document(f"RESULTS: {RESULT} CONCLUSIONS: {CONCLUSION} OBJECTIVE: {AIM} METHODS: {METHOD}")], encoder
    )
    assert RESULT in line
    assert CONCLUSION in line
    assert AIM not in line


def test_another_language_and_nothing_at_all(encoder: Encoder) -> None:
    text = "哮喘很常见。地塞米松对儿童哮吼有效。"
    said = TellingSentences(encoder)("地塞米松对儿童哮吼有效吗？", [document(text)])
    assert "地塞米松对儿童哮吼有效。" in said["pubmed:1"]
    assert TellingSentences(encoder)(QUESTION, []) == {}


def test_a_differential_is_told_with_both_sides_hypotheses_and_rare_candidates() -> None:
    rare = RareDisease(
        disease="OMIM:1", name="Rumination", score=0.4, log_evidence=1.0, findings_for=("regurgitation",),
        evidence_id="graph:hpo/OMIM:1",
    )  # fmt: skip
    line = GERD.model_copy(update={"findings_against": ("no cough",)})
    found = Differential(
        findings=(Finding(name="heartburn", clause="burning"), Finding(name="cough", clause="no cough", present=False)),
        added=(Finding(name="dysphagia", clause="food sticks"),),
        ranking=(line,),
        hypotheses=(Hypothesis(name="reflux", disease=line, place=14), Hypothesis(name="Takotsubo")),
        rare=(rare,),
        unexplained=("fever",),
    )
    artifact = ToolArtifact(tool="lookup_differential", differential=found, remarks=["Not known: blue toes."])
    assert summarise(artifact).splitlines() == [
        "lookup_differential: ok",
        "read from the case: heartburn, no cough",
        "counted beside it: dysphagia",
        "1. Acid reflux 0.70; for: heartburn; against: no cough",
        "left unexplained: fever",
        "hypothesis reflux: 14. Acid reflux 0.70; for: heartburn; against: no cough",
        "hypothesis Takotsubo: not in the knowledge graph",
        "rare disease: Rumination (OMIM:1) 0.40; for: regurgitation",
        "note: Not known: blue toes.",
    ]


def test_a_failure_is_told_as_one_and_no_documents_are_nothing_found() -> None:
    failed = summarise(ToolArtifact(tool="search_literature", outcome=Outcome.UNAVAILABLE))
    assert failed == "search_literature: unavailable (a source failed; this does not mean that nothing exists)"
    assert summarise(ToolArtifact(tool="search_literature", outcome=Outcome.NOTHING_FOUND)).endswith("nothing_found")


def test_a_sentence_found_for_the_question_asked_is_told_as_no_question_that_asks_the_same() -> None:
    found = document(CONCLUSION, "library:croup")
    held = AnsweredQuestion(question="Croup: pregnancy?", similarity=1.0, evidence=found, start=0, end=12, direct=True)
    asked = held.model_copy(update={"question": "What helps in croup?", "similarity": 0.9, "direct": False})
    lines = summarise(ToolArtifact(tool="find_answered_question", answered=[held, asked])).splitlines()[1:]
    assert lines == [
        "may answer -> library:croup | Croup | For children",
        "answered: What helps in croup? (similarity 0.90) -> library:croup | Croup | For children",
    ]
