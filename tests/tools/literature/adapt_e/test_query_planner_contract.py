"""One contract for both planners: by rules, and by a language model over a real socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest
from pydantic import SecretStr

from prompts.language_model import LanguageModel, ModelSettings
from support.scripted_model import Scripted, ScriptedModel, serving
from support.search_words import starter_vocabulary
from tools.literature.adapt_e.by_model import QueryPlannerByModel
from tools.literature.adapt_e.contract import Group, QueryPlanner, RungName, SearchPlan
from tools.literature.adapt_e.expressions import lint
from tools.literature.adapt_e.local import QueryPlannerLocal

LOCAL = QueryPlannerLocal(starter_vocabulary())
STORY = "My name is Maria Okonkwo and I am 54. Does colchicine stop pericarditis from coming back?"
REPLY = json.dumps(
    {
        "terms": [
            {
                "text": "pericarditis",
                "group": "P",
                "synonyms": ["pericardial inflammation"],
                "mesh": "Invented Heading",
            },
            {"text": "colchicine", "group": "I", "synonyms": []},
            {"text": "Maria Okonkwo", "group": "P"},
            {"text": 'croup"[tiab] OR all[sb]) NOT (', "group": "other"},
        ],
        "intent": "prevention",
        "since": 2015,
    }
)


@pytest.fixture
def server() -> Iterator[ScriptedModel]:
    with serving(Scripted(REPLY)) as running:
        yield running


def by_model(server: ScriptedModel) -> QueryPlannerByModel:
    settings = ModelSettings(name="scripted", base_url=server.url, api_key=SecretStr("k"), timeout=2.0, max_retries=0)
    return QueryPlannerByModel(LanguageModel(settings), LOCAL, starter_vocabulary())


def plan(planner: QueryPlanner, text: str = STORY, **arguments: object) -> SearchPlan:
    return asyncio.run(planner.plan(text, case=True, **arguments))  # type: ignore[arg-type]


@pytest.mark.parametrize("which", ["local", "model"])
def test_a_planner_gives_terms_and_linted_rungs_and_nothing_of_the_person(which: str, server: ScriptedModel) -> None:
    planner: QueryPlanner = LOCAL if which == "local" else by_model(server)
    made = plan(planner)
    assert {"pericarditis", "colchicine"} <= {t.text for t in made.terms}
    assert [t.group for t in made.terms if t.text == "colchicine"] == [Group.INTERVENTION]
    assert made.pico.intervention == ("colchicine",)
    assert made.expressions[0].rung is RungName.STRICT
    assert all(lint(e.query).good for e in made.expressions)
    sent = made.model_dump_json().lower()
    assert not any(secret in sent for secret in ("maria", "okonkwo", "54", "all[sb]", "invented"))
    assert plan(planner, terms=["croup", "John Smith"]).terms[0].text == "croup"
    assert SearchPlan.model_validate_json(made.model_dump_json()) == made.model_copy(update={"held": ()})


def test_the_models_plan_is_its_own_and_says_so(server: ScriptedModel) -> None:
    made = plan(by_model(server))
    assert made.planner == "scripted"
    assert made.dates is not None
    assert "2015/01/01:3000[dp]" in made.expressions[0].query
    assert made.notices == ()


@pytest.mark.parametrize("which", ["local", "model"])
def test_terms_that_came_with_the_call_are_planned_without_asking_and_without_the_patient(
    which: str, server: ScriptedModel
) -> None:
    planner: QueryPlanner = LOCAL if which == "local" else by_model(server)
    named = ["recurrent pericarditis | pericardial inflammation | Okonkwo disease", "Maria Okonkwo", "colchicine, 54"]
    made = plan(planner, terms=named)
    assert [t.text for t in made.terms] == ["recurrent pericarditis", "colchicine"]
    assert "pericardial inflammation" in made.terms[0].synonyms
    assert made.pico.intervention == ("colchicine",)
    strict = made.expressions[0].query
    assert '"pericardial inflammation"[tiab]' in strict
    assert strict.count(" AND ") == 1, "another name of a term is asked for beside it, not with it"
    sent = made.model_dump_json().lower()
    assert not any(secret in sent for secret in ("maria", "okonkwo", "54"))
    assert server.requests == []


def test_a_substance_that_no_list_has_is_known_by_its_stem_and_an_unknown_word_never_leaves() -> None:
    question = "What does retatrutide do for obesity?"
    terms = ["retatrutide", "obesity", "Okonkwo", "zorblax"]
    open_plan = asyncio.run(LOCAL.plan(question, case=False, terms=terms))
    assert [t.text for t in open_plan.terms] == ["retatrutide", "obesity"]
    strict = asyncio.run(LOCAL.plan(question, case=True, terms=terms))
    assert [t.text for t in strict.terms] == ["retatrutide", "obesity"]
    long = ["burning pain behind the breastbone and weight loss"]
    assert len(asyncio.run(LOCAL.plan(question, case=True, terms=long)).terms) > 1, "a long name gives several terms"


@pytest.mark.parametrize("terms", [["Maria Okonkwo"], ["54", "NHS 943 476 5919"], [" | "]])
def test_terms_of_which_none_may_be_sent_are_as_good_as_none(terms: list[str], server: ScriptedModel) -> None:
    made = plan(by_model(server), terms=terms)
    assert made.planner == "scripted"
    assert {"pericarditis", "colchicine"} <= {t.text for t in made.terms}
    assert len(server.requests) == 1
    assert plan(LOCAL, terms=terms).expressions == ()


@pytest.mark.parametrize(
    ("answer", "requests"),
    [
        (Scripted("I will not."), 2),
        (Scripted(body="{}", status=500), 1),
        (Scripted('{"terms": [{"text": "Maria Okonkwo"}]}'), 1),
    ],
)
def test_a_failing_model_is_replaced_by_the_rules_with_a_notice(
    answer: Scripted, requests: int, server: ScriptedModel
) -> None:
    server.script[:] = [answer]
    made = plan(by_model(server))
    assert [n.code for n in made.notices] == ["search_planned_locally"]
    assert made.planner == "local"
    assert made.expressions == plan(LOCAL).expressions
    assert len(server.requests) == requests
