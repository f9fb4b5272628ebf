"""Conversations by each client, over a real socket: the native API, OpenAI's package, the MCP package."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

from graphs.answering.contract import Answer

if TYPE_CHECKING:
    from mcp import Client

PATIENCE = 600.0  # seconds for a turn: a busy machine is slow, not wrong; ours
EVENTS = "text/event-stream"


def bearer(key: str) -> dict[str, str]:
    """The header of a key."""
    return {"Authorization": f"Bearer {key}"}


def native(url: str, key: str, messages: Sequence[str]) -> list[Answer]:
    """By the native API, an answer as JSON each."""
    import httpx

    with httpx.Client(base_url=url, headers=bearer(key), timeout=PATIENCE, trust_env=False) as client:
        session = client.post("/api/sessions", json={}).raise_for_status().json()["id"]
        path = f"/api/sessions/{session}/turns"
        said = [client.post(path, json={"text": text}).raise_for_status().content for text in messages]
    return [Answer.model_validate_json(body) for body in said]


def native_events(url: str, key: str, messages: Sequence[str]) -> list[Answer]:
    """By the native API, with the steps as server-sent events."""
    import httpx

    answers = []
    with httpx.Client(base_url=url, headers=bearer(key), timeout=PATIENCE, trust_env=False) as client:
        session = client.post("/api/sessions", json={}).raise_for_status().json()["id"]
        for text in messages:
            path = f"/api/sessions/{session}/turns"
            with client.stream("POST", path, json={"text": text}, headers={"Accept": EVENTS}) as response:
                told = list(events(response.iter_lines()))
            name, data = told[-1]
            if name != "answer":
                raise RuntimeError(f"the turn ended with {name}: {data}")
            answers.append(Answer.model_validate(data))
    return answers


def events(lines: Iterator[str]) -> Iterator[tuple[str, Any]]:
    """Names and data of server-sent events."""
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def openai_client(url: str, key: str, messages: Sequence[str]) -> list[Answer]:
    """By the `openai` package, which sends the whole conversation each time and knows of no session."""
    from openai import OpenAI

    history: list[Any] = []
    answers = []
    with OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0, timeout=PATIENCE) as client:
        for text in messages:
            history.append({"role": "user", "content": text})
            message = client.chat.completions.create(model="anamnesis", messages=history).choices[0].message
            history.append({"role": "assistant", "content": message.content})
            answers.append(Answer.model_validate((message.model_extra or {})["anamnesis"]["answer"]))
    return answers


def openai_streamed(url: str, key: str, messages: Sequence[str]) -> list[Answer]:
    """The same, streamed; the texts that were streamed are what is sent back."""
    from openai import OpenAI

    history: list[Any] = []
    answers = []
    with OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0, timeout=PATIENCE) as client:
        for text in messages:
            history.append({"role": "user", "content": text})
            chunks = client.chat.completions.create(model="anamnesis", messages=history, stream=True)
            deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
            history.append({"role": "assistant", "content": "".join(delta.content or "" for delta in deltas)})
            told = [extra for delta in deltas if (extra := (delta.model_extra or {}).get("anamnesis"))]
            answers.append(Answer.model_validate(told[-1]["answer"]))
    return answers


def mcp_http(url: str, key: str, messages: Sequence[str]) -> list[Answer]:
    """By the `mcp` package over streamable HTTP."""
    return asyncio.run(_by_mcp(mcp_client(url, key), messages))


def mcp_stdio(environment: Mapping[str, str], messages: Sequence[str]) -> list[Answer]:
    """By the `mcp` package, which starts `anamnesis mcp` with this environment."""
    return asyncio.run(_by_mcp(_stdio(environment), messages))


@asynccontextmanager
async def mcp_client(url: str, key: str) -> AsyncIterator[Client]:
    """A client of a server's /mcp with a key."""
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async with (
        httpx2.AsyncClient(headers=bearer(key), timeout=PATIENCE, trust_env=False) as requests,
        Client(streamable_http_client(f"{url}/mcp", http_client=requests)) as client,
    ):
        yield client


@asynccontextmanager
async def _stdio(environment: Mapping[str, str]) -> AsyncIterator[Client]:
    from mcp import Client, StdioServerParameters

    started = StdioServerParameters(command=sys.executable, args=["-m", "anamnesis", "mcp"], env=dict(environment))
    async with Client(started) as client:
        yield client


async def _by_mcp(opened: AbstractAsyncContextManager[Client], messages: Sequence[str]) -> list[Answer]:
    answers: list[Answer] = []
    async with opened as client:
        for text in messages:
            more = {"session": answers[0].session} if answers else {}
            result = await client.call_tool("ask", {"message": text, **more})
            if result.is_error:
                raise RuntimeError(f"the tool failed: {result.content}")
            answers.append(Answer.model_validate(result.structured_content))
    return answers
