"""The machine with a planning model: rounds, refusals, repeats, endless calls, a spent budget, no tools at all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from agent.agent import Agent
from agent.settings import Settings
from graphs.answering.contract import Answer
from graphs.context import Limits
from graphs.planning.by_model import PlannerByModel
from graphs.planning.local import PlannerLocal
from prompts.model_settings import Budget
from support.machine_parts import parts
from support.planning_tools import PlainTool, five_tools, model_at
from support.scripted_model import Request, Scripted, ScriptedModel, serving, serving_by
from tools.contract import Tool, ToolArtifact, ToolContext
from tools.encoders import Encoder
from tools.evidence import Evidence, Origin
from tools.passages.contract import StoredDocument
from tools.passages.pool import PassagePool
from tools.passages.tool import RetrievePassages

SEARCH = ("search_literature", {"query": "dexamethasone in croup", "terms": ["croup"]})
READ = ("retrieve_passages", {"query": "dose of dexamethasone", "documents": ["library:croup"]})
GAPS: tuple[str, dict[str, Any]] = ("fill_knowledge_gaps", {"requirements": ["dose"]})
ABSTRACT = "Croup is common. Dexamethasone halved the returns to care of children with mild croup within a week."
LEFT_OUT = "A step of the research could not be carried out and was left out."


def ask(
    home: Path,
    server: ScriptedModel,
    message: str,
    tools: Sequence[Tool] | None = None,
    limits: Limits | None = None,
    **settings: Any,
) -> tuple[Answer, list[dict[str, Any]]]:
    """The answer, and the events of the trace."""
    tools = tools or five_tools()
    planner = PlannerByModel(model_at(server.url, "research"), PlannerLocal({"library:croup"}.__contains__), tools)
    made = replace(parts(limits=limits), planner=planner, tools=tools)
    with Agent(Settings(home=home / "home", **settings), parts=made) as agent:
        answer = agent.ask(message, session="s")
        trace = agent.home.traces / "s" / "1.jsonl"
        return answer, [json.loads(line) for line in trace.read_text().splitlines()]


def planned(events: list[dict[str, Any]]) -> list[str]:
    return [e["tool"] for e in events if e["kind"] == "planned"]


def test_a_case_is_researched_in_two_calls_of_the_model(tmp_path: Path) -> None:
    with serving(Scripted(calls=[SEARCH]), Scripted(calls=[READ, GAPS])) as server:
        answer, events = ask(tmp_path, server, "case: a barking cough")
    assert planned(events) == ["lookup_differential", "search_literature", "retrieve_passages", "fill_knowledge_gaps"]
    assert len(server.requests) == 2
    assert answer.usage.by_role["research"].calls == 2
    assert answer.usage.rounds == 3, "the gaps are filled in a round of their own, for which no model is asked"
    assert answer.notices == []
    assert [s.text for s in answer.statements] == ["Dexamethasone relieves croup within 6 hours."]


def test_a_model_that_reacts_to_each_result_goes_on_over_three_rounds(tmp_path: Path) -> None:
    """Each call is made of what the round before brought; what the model is shown only grows."""

    def respond(request: Request) -> Scripted:
        results = [m["content"] for m in request["messages"] if m["role"] == "tool"]
        if not results:
            return Scripted(calls=[SEARCH])
        if "library:croup |" in results[-1] and len(results) == 1:
            return Scripted(calls=[READ])
        if results[-1].startswith("~~~\nretrieve_passages: ok"):
            return Scripted(
                "The dose is missing.", calls=[("search_literature", {"query": "dexamethasone dose by weight"})]
            )
        return Scripted("Enough.")

    with serving_by(respond) as server:
        answer, events = ask(tmp_path, server, "Does dexamethasone help in croup?", limits=Limits(rounds=5))
    assert planned(events) == ["search_literature", "retrieve_passages", "search_literature", "fill_knowledge_gaps"]
    assert [e["by"] for e in events if e["kind"] == "planned"] == ["model"] * 3 + ["local"]
    shown = [r["messages"] for r in server.requests]
    assert len(shown) == 4
    for before, after in pairwise(shown):
        assert after[: len(before)] == before
    assert [m["content"].rpartition("\n")[2] for m in shown[3] if m["role"] == "tool"] == [
        "Left: rounds 3, calls 11.", "Left: rounds 2, calls 10.", "Left: rounds 1, calls 9.",
    ]  # fmt: skip
    assert [r.get("tool_choice") for r in server.requests] == ["required", None, None, None]
    assert answer.notices == []


def test_one_call_of_the_model_is_enough_where_it_asks_for_the_gaps_at_once(tmp_path: Path) -> None:
    with serving(Scripted(calls=[GAPS, SEARCH])) as server:
        answer, events = ask(tmp_path, server, "Does dexamethasone help in croup?")
    assert planned(events) == ["search_literature", "fill_knowledge_gaps"]
    assert [e["outcome"] for e in events if e["kind"] == "tool"] == ["ok", "ok"], "the gaps wait for the search"
    assert [e["arguments"].get("requirements") for e in events if e["kind"] == "planned"] == [None, ["dose"]]
    assert len(server.requests) == 1
    assert answer.notices == []


class Abstracts(PlainTool):
    """A search that finds an abstract of PubMed, which no library holds."""

    async def run(self, arguments: BaseModel, context: ToolContext) -> ToolArtifact:
        span = f"pubmed:15385657@0-{len(ABSTRACT)}"
        item = Evidence(id=span, text=ABSTRACT, title="Mild croup", kind="abstract", origin=Origin.RETRIEVED)
        return ToolArtifact(tool=self.name, evidence=[item])


class NoDocuments:
    """A library that holds nothing."""

    def get_document(self, id: str) -> StoredDocument | None:
        return None

    def every_document(self, most: int) -> list[str] | None:
        return []

    def find_documents(self, query: str, limit: int) -> list[str]:
        return []


def test_a_pubmed_id_is_read_from_the_turn_and_an_unknown_one_is_told_beside_it(
    tmp_path: Path, encoder: Encoder
) -> None:
    both = {"query": "Does dexamethasone help children with croup?", "documents": ["pubmed:15385657", "pubmed:1"]}
    others = [t for t in five_tools() if t.name not in ("search_literature", "retrieve_passages")]
    tools = [Abstracts("search_literature"), RetrievePassages(NoDocuments(), PassagePool(encoder)), *others]
    with serving(
        Scripted(calls=[SEARCH]), Scripted(calls=[("retrieve_passages", both)]), Scripted("Enough.")
    ) as server:
        answer, events = ask(tmp_path, server, "Does dexamethasone help in croup?", tools)
    read = server.requests[2]["messages"][-1]["content"]
    assert "retrieve_passages: ok" in read
    assert "pubmed:15385657 | Mild croup" in read
    assert "note: These documents are not known: pubmed:1." in read
    traced = next(e for e in events if e["kind"] == "tool" and e["tool"] == "retrieve_passages")
    assert traced["remarks"] == ["These documents are not known: pubmed:1."]
    assert answer.notices == [], "no word of it reaches the reader"


def test_findings_and_hypotheses_of_the_model_reach_the_tool_and_the_trace(tmp_path: Path) -> None:
    thought = {"findings": ["inspiratory stridor", "no drooling"], "hypotheses": ["croup", "epiglottitis"]}
    tools = five_tools()
    with serving(Scripted(calls=[SEARCH, ("lookup_differential", thought)]), Scripted("Enough.")) as server:
        _, events = ask(tmp_path, server, "case: a barking cough", tools)
    given = next(t for t in tools if t.name == "lookup_differential").called
    assert given == [{"case": "case: a barking cough", **thought, "limit": 10}]
    traced = next(e for e in events if e["kind"] == "tool" and e["tool"] == "lookup_differential")
    assert traced["arguments"] == {"case": "case: a barking cough", **thought}
    said = server.requests[1]["messages"][2]["tool_calls"][1]["function"]["arguments"]
    assert json.loads(said) == {"case": "(as told)", **thought}


def test_the_model_reads_ids_titles_and_first_words_and_no_whole_document(tmp_path: Path) -> None:
    long = "Dexamethasone relieves croup within 6 hours. " + "More of the document. " * 200
    with serving(Scripted(calls=[SEARCH]), Scripted("Enough.")) as server:
        ask(tmp_path, server, "Does dexamethasone help in croup?", five_tools(long.strip()))
    told = server.requests[1]["messages"][-1]["content"]
    assert "library:croup | Croup (monograph) | Dexamethasone relieves croup within 6 hours." in told
    assert len(told) < 600


def test_a_refusal_goes_to_the_model_and_research_goes_on(tmp_path: Path) -> None:
    invented = ("retrieve_passages", {"query": "dose", "documents": ["library:invented"]})
    with serving(Scripted(calls=[SEARCH, invented]), Scripted(calls=[READ])) as server:
        answer, events = ask(tmp_path, server, "Does dexamethasone help in croup?")
    assert "note: These documents are not known: library:invented." in server.requests[1]["messages"][-1]["content"]
    assert [e["outcome"] for e in events if e["kind"] == "tool"] == ["ok", "refused", "ok", "ok"]
    assert planned(events)[2:] == ["retrieve_passages", "fill_knowledge_gaps"]
    assert [(n.code, n.text) for n in answer.notices] == [("tool_refused", LEFT_OUT)]
    assert [e["remarks"] for e in events if e["kind"] == "tool"][1] == [
        "These documents are not known: library:invented."
    ]


def test_what_stays_bad_is_refused_by_the_machine_and_read_by_the_model(tmp_path: Path) -> None:
    bad = ("find_answered_question", {"question": 7})
    with serving(Scripted(calls=[SEARCH, bad]), Scripted(calls=[bad]), Scripted("Enough.")) as server:
        answer, _ = ask(tmp_path, server, "Does dexamethasone help in croup?")
    assert "question" in server.requests[2]["messages"][-1]["content"]
    assert [(n.code, n.text) for n in answer.notices] == [("tool_refused", LEFT_OUT)]
    assert answer.statements


def test_endless_calls_end_at_the_bounds(tmp_path: Path) -> None:
    answers = [
        Scripted(calls=[("search_literature", {"query": f"croup {n} {i}"}) for i in range(500)]) for n in range(9)
    ]
    with serving(*answers) as server:
        answer, events = ask(
            tmp_path, server, "Does dexamethasone help in croup?", limits=Limits(rounds=4, tool_calls=12)
        )
    assert planned(events) == ["search_literature"] * 11 + ["fill_knowledge_gaps"], "the last call is kept for the gaps"
    assert len(server.requests) == 1
    assert [n.code for n in answer.notices] == ["budget_reached"]
    few = [Scripted(calls=[("search_literature", {"query": f"croup {n}"})]) for n in range(9)]
    with serving(*few) as server:
        _, events = ask(tmp_path / "few", server, "Does dexamethasone help in croup?")
    assert planned(events) == ["search_literature"] * 3 + ["fill_knowledge_gaps"]
    assert len(server.requests) == 3


def test_the_same_call_again_and_again_is_made_once(tmp_path: Path) -> None:
    tools = five_tools()
    with serving(Scripted(calls=[SEARCH])) as server:
        ask(tmp_path, server, "Does dexamethasone help in croup?", tools)
    assert len(tools[0].called) == 1
    assert len(server.requests) == 3, "round 1, round 2, and once told that the call was made"


def test_a_spent_budget_ends_research_with_what_was_gathered(tmp_path: Path) -> None:
    with serving(Scripted(calls=[SEARCH])) as server:
        answer, events = ask(tmp_path, server, "Does dexamethasone help in croup?", budget=Budget(calls=1))
    assert planned(events) == ["search_literature"]
    assert [n.code for n in answer.notices] == ["budget_reached"]
    assert "language models" in answer.notices[0].text
    assert [s.text for s in answer.statements] == ["Dexamethasone relieves croup within 6 hours."]


def test_a_model_without_tools_leaves_a_whole_local_plan_and_one_notice(tmp_path: Path) -> None:
    with serving(Scripted("Croup is treated with steroids.")) as server:
        answer, events = ask(tmp_path, server, "Does dexamethasone help in croup?")
    assert planned(events) == [
        "find_answered_question", "search_literature", "retrieve_passages", "fill_knowledge_gaps",
    ]  # fmt: skip
    assert {e["by"] for e in events if e["kind"] == "planned"} == {"local"}
    assert [n.code for n in answer.notices] == ["judged_locally"]
    assert "planning of the research" in answer.notices[0].text
    assert len(server.requests) == 1
