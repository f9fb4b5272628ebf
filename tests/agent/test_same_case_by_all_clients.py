"""One conversation of three turns by every client of the server, on the real engine: all say what Python says.

Standard input and output have the same test with the process (`mcp/test_mcp_stdio.py`), the page shows what the API
holds (`test_web_page.py`).
"""

from __future__ import annotations

import pytest

from evals.bench.server import Essence, differences, essence
from support.api_clients import mcp_http, native, native_events, openai_client, openai_streamed
from support.served import Served

TURNS = (
    "A 30-year-old woman has had a sore throat and a runny nose since yesterday.",
    "no",
    "Why not influenza?",
)  # a case, the answer to the follow-up question, a question about what was said
CLIENTS = (native, native_events, openai_client, openai_streamed, mcp_http)


@pytest.fixture(scope="module")
def asked_in_python(page_server: Served) -> list[Essence]:
    session = page_server.agent.session()
    return [essence(session.ask(text)) for text in TURNS]


def test_the_case_has_something_to_differ_in(asked_in_python: list[Essence]) -> None:
    case, reply, why = asked_in_python
    assert len(case.diseases) > 3
    assert case.citations
    assert case.asked
    assert reply.diseases != case.diseases or reply.citations != case.citations  # the reply was read as one
    assert reply.asked != case.asked
    assert why.citations
    assert differences([case], [case._replace(diseases=case.diseases[::-1])]) == ["turn 1: diseases"]


@pytest.mark.parametrize("client", CLIENTS)
def test_each_client_gets_the_same_answers(page_server: Served, asked_in_python: list[Essence], client: object) -> None:
    key = page_server.key(scopes=("ask", "tools"))
    answers = client(page_server.url, key, TURNS)  # type: ignore[operator]
    assert differences([essence(answer) for answer in answers], asked_in_python) == []
    assert len({answer.session for answer in answers}) == 1
