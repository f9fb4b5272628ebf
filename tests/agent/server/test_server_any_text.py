"""Whatever text and whatever messages are sent to a session that is there: an answer or a refusal, never a fault."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.agent import Agent
from support.machine_parts import parts
from support.served import served

FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
TEXT = st.text(max_size=40)
PART = st.fixed_dictionaries({"type": st.sampled_from(["text", "image_url", ""])}, optional={"text": TEXT})
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system", "developer", "tool"])},
    optional={"content": TEXT | st.lists(PART, max_size=3) | st.none(), "name": TEXT, "tool_calls": st.none()},
)
OPTIONAL: dict[str, Any] = {
    "stream": st.booleans() | st.none(),
    "n": st.integers(-1, 3) | st.none(),
    "metadata": st.dictionaries(TEXT, TEXT, max_size=2) | st.none() | st.fixed_dictionaries({"session": TEXT}),
    "response_format": st.fixed_dictionaries({"type": st.sampled_from(["text", "json_object", ""])}) | st.none(),
    "stream_options": st.fixed_dictionaries({"include_usage": st.booleans() | st.none()}) | st.none(),
    "temperature": st.floats(allow_nan=False, allow_infinity=False) | TEXT,
}
COMPLETION = st.fixed_dictionaries(
    {"model": st.just("anamnesis"), "messages": st.lists(MESSAGE, max_size=4)}, optional=OPTIONAL
)
TURN = st.fixed_dictionaries(
    {"text": TEXT},
    optional={
        "options": st.dictionaries(TEXT, TEXT, max_size=3) | st.none(),
        "given": st.lists(TEXT, max_size=3),
        "report": st.booleans(),
    },
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    home = tmp_path_factory.mktemp("home")
    with (
        Agent(home=home, parts=parts()) as agent,
        served(agent, requests=1_000_000) as server,
        server.client() as found,
    ):
        yield found


@FEW
@given(body=COMPLETION)
def test_any_conversation(client: httpx.Client, body: dict[str, Any]) -> None:
    answer = client.post("/v1/chat/completions", json=body)
    assert answer.status_code in (200, 400, 404, 422), answer.text
    if answer.status_code == 200:
        assert "[DONE]" in answer.text if body.get("stream") else answer.json()["choices"][0]["message"]["content"]
        assert '"error"' not in answer.text[:20]
    else:
        assert answer.json()["error"]["message"]


@FEW
@given(body=TURN, title=TEXT)
def test_any_turn(client: httpx.Client, body: dict[str, Any], title: str) -> None:
    made = client.post("/api/sessions", json={"title": title})
    assert made.status_code in (201, 400, 422), made.text
    if made.status_code != 201:
        return
    path = f"/api/sessions/{made.json()['id']}"
    answer = client.post(f"{path}/turns", json=body)
    assert answer.status_code in (200, 400, 422), answer.text
    for kind in ("json", "markdown", "nbib", "csl-json"):
        assert client.get(f"{path}/export", params={"format": kind}).status_code == 200
    whole = client.get(path).json()
    assert len(whole["turns"]) == (answer.status_code == 200)
