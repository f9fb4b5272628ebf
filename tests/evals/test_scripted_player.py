"""The playing model: its replies are valid in every role and every form, and its calls in a row are found as a path."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from evals.bench.model import covered, longest_chain, outside, sent_before
from evals.scripted.player import ROLES, play, role_of
from prompts.forms import METHODS, Method, form_of, form_of_tools
from prompts.language_model import Asking
from prompts.templates import load_prompt
from support.asking_model import reply_schemas

PROMPTS = {
    "AnswerReply": "answer", "BackgroundPointsReply": "background_points", "BackgroundReply": "background",
    "CaseReply": "answer_case", "ReadingReply": "reading",
    "CaseVerdictReply": "filter_case", "ChoiceReply": "choice", "ExamReply": "choice", "ChoosingReply": "choosing",
    "DirectReply": "direct", "GapsReply": "gaps",
    "GateReply": "gate", "MendReply": "answer_mend", "QueryPlanReply": "query_plan",
    "QuestionVerdictReply": "filter_question", "ReportReply": "report", "SelectionReply": "selection",
    "SelfJudgedReply": "gate_self", "SummaryReply": "summary", "TriageReply": "triage",
    "VerificationReply": "verification",
}  # fmt: skip
SHOWN = "[1] retrieved, Croup | Dexamethasone relieves croup within six hours."
NUMBERED = "[1] retrieved, Croup\n[1.1] Dexamethasone relieves croup within six hours."


def schemas() -> dict[str, type[BaseModel]]:
    """The reply schemas of all prompts of a turn."""
    return {schema.__name__: schema for schema in reply_schemas() if schema.__name__ in PROMPTS}


def request(name: str, schema: type[BaseModel], method: Method) -> dict[str, object]:
    """A request as the client sends it."""
    prompt = load_prompt(PROMPTS[name])
    shown = NUMBERED if ROLES[name] in ("answer", "report") else SHOWN
    fields = dict.fromkeys(("documents", "document", "statements", "summaries", "sentences"), shown)
    values = dict.fromkeys(set(prompt.user.replace("$", " $").split()), "")
    user = prompt.user
    for field in [w.strip(".:,;)") for w in values if w.startswith("$")]:
        user = user.replace(field, fields.get(field[1:], f"croup {field[1:]}"))
    asking = Asking([("system", prompt.system), ("human", user)], prompt, lambda: 1.0).told(method, schema)
    roles = {"human": "user", "system": "system"}
    return {
        "messages": [{"role": roles[role], "content": text} for role, text in asking.messages],
        **form_of(method, schema).get("extra_body", {}),
    }


def test_every_reply_of_a_turn_has_a_prompt_here_and_a_role() -> None:
    assert set(schemas()) == set(PROMPTS) == set(ROLES)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", PROMPTS)
def test_what_is_played_is_a_valid_reply_in_every_form(name: str, method: Method) -> None:
    schema = schemas()[name]
    asked = request(name, schema, method)
    assert role_of(asked) == ROLES[name]
    answer = play(asked)
    said = answer.calls[0][1] if method == "function_calling" else answer.content
    reply = schema.model_validate_json(said if isinstance(said, str) else json.dumps(said))
    if name in ("AnswerReply", "ChoiceReply", "ExamReply", "CaseReply"):
        cited = [(s.text, s.cites) for s in reply.statements]  # type: ignore[attr-defined]
        assert cited == [("Dexamethasone relieves croup within six hours.", ["1.1"])]


ASKED = "Does dexamethasone relieve croup in children?"
SAID = """[1] retrieved, Croup
[1.1] Does dexamethasone relieve croup in children with stridor?
[1.2] Croup is common in children.
[2] retrieved, Croup, Short answer
[2.1] {said}
"""


def choosing(said: str, options: str) -> dict[str, list[dict[str, object]] | str]:
    """The reply to a choice between options from these sentences."""
    text = f"~~~\nQuestion: {ASKED}\n\nOptions:\n{options}\n\nDocuments:\n{SAID.format(said=said)}~~~"
    form = form_of("json_schema", schemas()["ChoiceReply"]).get("extra_body", {})
    return json.loads(play({"messages": [{"role": "user", "content": text}], **form}).content)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("said", "options", "option"),
    [
        ("Yes, dexamethasone relieves croup.", "yes\nno\ndepends. it depends", "yes"),
        ("No, dexamethasone is of little use in croup.", "yes\nno\ndepends. it depends", "no"),
        ("It depends: dexamethasone relieves croup that is mild.", "yes\nno\ndepends. it depends", "depends"),
        ("Children with croup were not relieved by dexamethasone.", "yes\nno\ndepends. it depends", "no"),
        ("Dexamethasone is given for croup in children.", "A. Amoxicillin\nB. Dexamethasone", "B"),
    ],
)
def test_a_choice_is_what_the_nearest_sentence_says(said: str, options: str, option: str) -> None:
    reply = choosing(said, options)
    assert reply["option"] == option
    assert reply["statements"] == [
        {"text": said, "cites": ["2.1"]}, {"text": "Croup is common in children.", "cites": ["1.2"]}
    ]  # fmt: skip


def test_a_document_speaks_by_the_two_sentences_that_hold_most_of_the_question() -> None:
    said = [
        "Does dexamethasone relieve croup in children?",
        "Croup in children is common.",
        "Children with croup bark.",
    ]
    said.append("Dexamethasone helps children with croup.")
    line = "[1] Croup | " + " ".join(f"[1.{n}] {s}" for n, s in enumerate(said, start=1))
    text = f"~~~\nQuestion: {ASKED}\n\nNeeded:\n1. all\n\nDocuments:\n{line}\n[2] Gout | [2.1] Gout hurts.\n~~~"
    form = form_of("json_schema", schemas()["ReadingReply"]).get("extra_body", {})
    reply = json.loads(play({"messages": [{"role": "user", "content": text}], **form}).content)
    assert reply["documents"] == [{"number": 1, "stance": "speaks", "sentences": [2, 4]}]


def test_documents_that_a_reading_told_of_are_chosen_before_others() -> None:
    lines = [f"[{n}] Gout | not read | [{n}.1] Croup in children." for n in range(1, 6)]
    lines += ["[6] Gout. Treatment | speaks | [… 3 left out]", "[7] Croup in children | speaks | [… 3 left out]"]
    text = f"~~~\nQuestion: {ASKED}\n\nNeeded:\n1. all\n\nDocuments:\n" + "\n".join(lines) + "\n~~~"
    form = form_of("json_schema", schemas()["ChoosingReply"]).get("extra_body", {})
    reply = json.loads(play({"messages": [{"role": "user", "content": text}], **form}).content)
    assert [kept["number"] for kept in reply["keep"]] == [7, 6, 1, 2, 3]


def test_research_is_planned_in_two_rounds_and_ends() -> None:
    said: list[dict[str, object]] = [
        {"role": "system", "content": ""},
        {"role": "user", "content": "Kind of question: a patient's case.\n~~~\nA child has croup.\n~~~"},
    ]
    tools = form_of_tools([{"name": "search_literature", "description": "", "parameters": {}}])["extra_body"]
    rounds = []
    for _ in range(3):
        answer = play({"messages": said, **tools})
        rounds.append([name for name, _ in answer.calls])
        said = [*said, {"role": "assistant", "content": ""}, {"role": "tool", "content": "library:croup"}]
    assert rounds == [["search_literature", "lookup_differential"], ["retrieve_passages", "fill_knowledge_gaps"], []]


times = st.lists(
    st.tuples(st.integers(0, 50), st.integers(1, 20)).map(lambda t: (float(t[0]), float(t[0] + t[1]))), max_size=12
)


@given(times)
def test_the_longest_chain_lies_between_the_longest_call_and_the_whole(calls: list[tuple[float, float]]) -> None:
    number, seconds = longest_chain(calls)
    assert number <= len(calls)
    assert seconds <= covered(calls)
    assert seconds >= max((end - start for start, end in calls), default=0.0)


def test_calls_in_parallel_are_one_step_of_the_path() -> None:
    calls = [(0.0, 1.0), (1.0, 2.0), (1.1, 2.1), (1.2, 2.2), (3.0, 4.0)]
    number, seconds = longest_chain(calls)
    assert (number, seconds) == (3, pytest.approx(3.0))


@given(times, times)
def test_what_lies_outside_is_what_the_others_do_not_cover(
    calls: list[tuple[float, float]], others: list[tuple[float, float]]
) -> None:
    left = outside(calls, others)
    assert covered(left) == pytest.approx(covered([*calls, *others]) - covered(others))


def test_what_was_sent_before_counts_by_its_words_whatever_number_it_has() -> None:
    said = "Dexamethasone relieves the stridor of croup within six hours of one dose."
    again = f"[3] Croup [3.1] {said} [3.2] Ask at once."
    assert sent_before([said]) == 0
    assert sent_before([f"[1] {said}", again]) == pytest.approx(12 / (12 + 16))
    assert sent_before([said, "Croup within six hours."]) == 0
