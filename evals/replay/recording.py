"""Requests of a run and the replies to them, as files of a folder that a server of the protocol answers from.

A request is known by its content (messages, tools and form of the reply), whoever asks and when. One without a reply is
written as a text to be read; it then waits until a reply is put beside it, by hand or by a model behind an address.

``NN-ROLE-KEY.request.md`` the request; ``NN-ROLE-KEY.reply.txt`` what a person says in the model's place;
``NN-ROLE-KEY.reply.json`` what a model said: status, message, why it ended, tokens. All of mode 0600.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

from evals.scripted.player import chosen, in_form, role_of, schema_of
from evals.scripted.server import COUNTED, Request, Scripted
from tools.files import private_folder, write_atomic

CONTENT = ("messages", "tools", "tool_choice", "response_format")  # what a reply depends on that a person can see
OWN = ("stream", "stream_options")  # ours to do: a reply is kept whole, and streamed where that was asked for
KEY = 12  # hexadecimal digits; ours: a folder holds a hundred requests at most
LOOK = 0.1  # seconds between two looks for a reply; ours
PASSING = frozenset({401, 403, 408, 429})  # refusals that another time may not bring: they are not kept (code)
TEXT, SCHEMA, TOOLS = "text", "schema", "tools"
HOW = {
    TEXT: "the words of the reply, as they are.",
    SCHEMA: "one JSON object of the schema at the end of this file.",
    TOOLS: 'a JSON object of the calls: {"text": "why, or nothing", "calls": [{"name": "...", "arguments": {...}}]};'
    ' "calls": [] when enough is known. The tools stand at the end of this file.',
}


class Upstream(NamedTuple):
    """A model that replies to what has no reply yet: the address of its server, and the key that it wants."""

    address: str
    key: str = ""


def key_of(request: Request) -> str:
    """A request by its content."""
    content = {name: request[name] for name in CONTENT if name in request}
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:KEY]


def kind_of(request: Request) -> str:
    """What a reply to it is: words, an object of a schema, or calls of tools."""
    if request.get("tools") and not chosen(request):
        return TOOLS
    return SCHEMA if schema_of(request) else TEXT


class Recording:
    """The exchanges of one folder.

    Args:
        folder: made with mode 0700 where it is missing. upstream: who replies to what has no reply; None: a person.

    Attributes:
        waiting: requests that wait for a person, by key: the file to be written.
        changed: when a request last came or was replied to (monotonic seconds).
        unreadable: files of replies that cannot be read, and why. replied: how many requests were replied to.
    """

    def __init__(self, folder: Path, upstream: Upstream | None = None) -> None:
        self.folder, self._upstream = private_folder(folder), upstream
        self.waiting: dict[str, Path] = {}
        self.unreadable: dict[Path, str] = {}
        self.changed, self.replied = time.monotonic(), 0

    def stalled(self, seconds: float, least: int = 1) -> bool:
        """Whether so many requests at ``least`` wait for a person, and nothing has happened for so long."""
        return len(self.waiting) >= least and time.monotonic() - self.changed >= seconds

    async def respond(self, request: Request, role: str = "") -> Scripted:
        """The reply to a request: the one that is kept, the upstream's, or a person's once it is there."""
        key = key_of(request)
        self.changed = time.monotonic()
        asked = self._write(key, request, role or role_of(request) or TEXT)
        answer = self._kept(asked, request)
        if answer is None and self._upstream is not None:
            answer = await self._ask(asked, request, self._upstream)
        while answer is None:
            self.waiting[key] = beside(asked, "txt")
            await asyncio.sleep(LOOK)
            answer = self._kept(asked, request)
        self.waiting.pop(key, None)
        self.changed = time.monotonic()
        self.replied += 1
        return answer

    def _write(self, key: str, request: Request, role: str) -> Path:
        """The file of a request, written when it is new."""
        there = next(iter(self.folder.glob(f"*-{key}.request.md")), None)
        if there is None:
            number = len(list(self.folder.glob("*.request.md"))) + 1
            there = self.folder / f"{number:02}-{role}-{key}.request.md"
            write_atomic(there, readable(request, beside(there, "txt").name).encode())
        return there

    def _kept(self, asked: Path, request: Request) -> Scripted | None:
        """The reply beside a request; None while there is none that can be read."""
        by_model, by_hand = beside(asked, "json"), beside(asked, "txt")
        if by_model.is_file():
            return replayed(json.loads(by_model.read_text(encoding="utf-8")))
        if not by_hand.is_file():
            return None
        try:
            answer = played(request, by_hand.read_text(encoding="utf-8"))
        except ValueError as error:
            self.unreadable[by_hand] = str(error)
            return None
        self.unreadable.pop(by_hand, None)
        return answer

    async def _ask(self, asked: Path, request: Request, upstream: Upstream) -> Scripted:
        """The upstream's reply, which is kept; a failure that may pass is handed on and not kept."""
        import httpx2

        body = {name: value for name, value in request.items() if name not in OWN}
        headers = {"Authorization": f"Bearer {upstream.key}"} if upstream.key else {}
        async with httpx2.AsyncClient(timeout=None) as client:
            got = await client.post(f"{upstream.address}/chat/completions", json=body, headers=headers)
        if got.status_code != HTTPStatus.OK:
            reply: dict[str, Any] = {"status": got.status_code, "body": got.text}
            wait = {name: got.headers[name] for name in ("Retry-After",) if name in got.headers}
            if got.status_code in PASSING or got.is_server_error:
                return Scripted(status=got.status_code, body=got.text, headers=wait)
        else:
            said = got.json()
            choice, used = said["choices"][0], said.get("usage") or {}
            tokens = [used.get("prompt_tokens", 0), used.get("completion_tokens", 0)]
            reply = {"status": 200, "model": said.get("model", ""), "message": choice["message"], "tokens": tokens}
            reply["finish"] = choice.get("finish_reason") or ""
        write_atomic(beside(asked, "json"), json.dumps(reply, ensure_ascii=False, indent=1).encode())
        return replayed(reply)


def beside(asked: Path, ending: str) -> Path:
    """The file of the reply to a request."""
    return asked.with_name(asked.name.replace(".request.md", f".reply.{ending}"))


def replayed(reply: dict[str, Any]) -> Scripted:
    """A model's reply as it was kept."""
    if reply["status"] != HTTPStatus.OK:
        return Scripted(status=reply["status"], body=reply["body"])
    message = reply["message"]
    calls = [(c["function"]["name"], c["function"]["arguments"]) for c in message.get("tool_calls") or ()]
    return Scripted(
        message.get("content") or "",
        calls=calls,
        refusal=message.get("refusal") or "",
        reasoning=message.get("reasoning_content") or message.get("reasoning") or "",
        tokens=tuple(reply.get("tokens", COUNTED)),
        finish=reply.get("finish", ""),
    )


def played(request: Request, text: str) -> Scripted:
    """A person's reply in the form that the request asks for; raises ValueError that says what it lacks."""
    form, said = kind_of(request), text.strip()
    if not said:
        raise ValueError("it is empty")
    if form == TEXT:
        return Scripted(said)
    try:
        read = json.loads(said, strict=False)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON: {error}") from None
    if not isinstance(read, dict):
        raise ValueError("it is no JSON object")
    if form == SCHEMA:
        return in_form(request, json.dumps(read, ensure_ascii=False))
    calls = read.get("calls")
    if not isinstance(calls, list) or not all(isinstance(c, dict) and "name" in c for c in calls):
        raise ValueError('"calls" must be a list of objects with "name" and "arguments"')
    return Scripted(str(read.get("text", "")), calls=[(c["name"], c.get("arguments", {})) for c in calls])


def readable(request: Request, reply: str) -> str:
    """A request as a text: what to write where, the messages, and the schema or the tools of the reply."""
    parts = [f"# Write {reply}: {HOW[kind_of(request)]}"]
    for message in request["messages"]:
        text = str(message.get("content") or "")
        for call in message.get("tool_calls") or ():
            text += f"\n{call['function']['name']} {call['function']['arguments']}"
        parts += [f"## {message['role']}", text.strip()]
    if kind_of(request) == TOOLS:
        for function in (tool["function"] for tool in request["tools"]):
            parts += [f"## tool: {function['name']}", function.get("description", ""), _block(function["parameters"])]
    elif shape := schema_of(request):
        parts += [f"## schema: {shape['title']}", _block({k: v for k, v in shape.items() if k != "title"})]
    return "\n\n".join(parts) + "\n"


def _block(shape: dict[str, Any]) -> str:
    return f"```json\n{json.dumps(shape, ensure_ascii=False, indent=1)}\n```"
