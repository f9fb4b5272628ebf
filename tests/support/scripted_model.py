"""A server on this machine that speaks the chat completions of OpenAI, by a script: well and badly."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Scripted:
    """One answer. ``content`` is what the model says; ``body`` replaces the whole answer; ``cut`` drops its end."""

    content: str = ""
    status: int = 200
    body: str | None = None
    cut: int = 0
    pause: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class ScriptedModel:
    """Answers in the order of ``script``, the last one again and again; ``requests`` is what it was sent."""

    script: list[Scripted] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    def next(self) -> Scripted:
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


def _completion(content: str) -> str:
    message = {"role": "assistant", "content": content}
    return json.dumps(
        {
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": "scripted",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        }
    )


def _handler(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            model.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            answer = model.next()
            time.sleep(answer.pause)
            body = (_completion(answer.content) if answer.body is None else answer.body).encode()
            try:
                self.send_response(answer.status)
                for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[: len(body) - answer.cut])
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Handler


@contextmanager
def serving(*script: Scripted) -> Iterator[ScriptedModel]:
    """The server, running."""
    model = ScriptedModel(list(script))
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(model))
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
