"""Conversations by each client, over a real socket: the native API, OpenAI's package, the MCP package."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Any

import httpx
from openai import OpenAI

from graphs.answering.contract import Answer
from support.mcp_clients import over_http

PATIENCE = 120.0  # seconds for a turn: a busy machine is slow, not wrong
EVENTS = "text/event-stream"


def bearer(key: str) -> dict[str, str]:
    """The header of a key."""
    return {"Authorization": f"Bearer {key}"}


def native(url: str, key: str, messages: Sequence[str]) -> list[Answer]:
    """By the native API, an answer as JSON each."""
    with httpx.Client(base_url=url, headers=bearer(key), timeout=PATIENCE, trust_env=False) as client:
        session = client.post("/api/sessions", json={}).raise_for_status().json()["id"]
        path = f"/api/sessions/{session}/turns"
        said = [client.post(path, json={"text": text}).raise_for_status().content for text in messages]
    return [Answer.model_validate_json(body) for body in said]


def native_events(url: str, key: str, messages: Sequence[str]) -> list[Answer]:
    """By the native API, with the steps as server-sent events."""
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

    async def said() -> list[Answer]:
        answers: list[Answer] = []
        async with over_http(url, key) as client:
            for text in messages:
                more = {"session": answers[0].session} if answers else {}
                result = await client.call_tool("ask", {"message": text, **more})
                assert not result.is_error, result.content
                answers.append(Answer.model_validate(result.structured_content))
        return answers

    return asyncio.run(said())
