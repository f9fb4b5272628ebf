"""Settings of the server. All numbers are ours: for one machine that a ward shares; raise them with the machine."""

from __future__ import annotations

from pydantic import BaseModel, Field

HOST, PORT = "127.0.0.1", 8000  # ours: this machine alone; the port that web applications in Python commonly have


class ServerSettings(BaseModel):
    """How conversations are served.

    Attributes:
        host, port: where to listen; ``--host`` and ``--port`` stand above them.
        hosts: names under which clients reach the server, beside this machine's own and any IP address.
        requests: requests a minute that a key may make; a burst of a quarter of it may come at once.
        failed_keys: keys a minute that an address may try and that are none; a quarter of them may come at once.
        turns: turns of a key that may run at once. all_turns: of all keys together.
        mcp_connections: connections of the Model Context Protocol that a key may have at once; where all are taken, the
            one idle longest makes room.
        body: bytes of a request at most. document: of one that puts a document into a session.
        connections: sockets at once; where all are taken, the one whose request is unfinished longest makes room. It
            stays below the 1,024 files that a process may commonly have open.
        head_seconds, body_seconds: the head of a request, and then its body, must be there within this time.
        turn_seconds: a turn is stopped after this long; its session can be resumed.
        grace_seconds: running turns get this long when the server stops.
        login_hours: a log-in of the page lasts this long.
        finish_at_start: turns that were cut off are finished in the background when the server starts.
        finish_most: so many of them at most.
        replay_most: earlier messages of an unknown conversation that `/v1/chat/completions` replays.
    """

    host: str = HOST
    port: int = Field(default=PORT, ge=0, le=65535)
    hosts: list[str] = Field(default_factory=list)
    requests: int = Field(default=600, ge=1)
    failed_keys: int = Field(default=60, ge=1)
    turns: int = Field(default=8, ge=1)
    all_turns: int = Field(default=64, ge=1)
    mcp_connections: int = Field(default=32, ge=1)
    body: int = Field(default=1_000_000, ge=1000)
    document: int = Field(default=25_000_000, ge=1000)
    connections: int = Field(default=512, ge=1)
    head_seconds: float = Field(default=10.0, gt=0)
    body_seconds: float = Field(default=60.0, gt=0)
    turn_seconds: float = Field(default=300.0, gt=0)
    grace_seconds: float = Field(default=20.0, ge=0)
    login_hours: float = Field(default=12.0, gt=0)
    finish_at_start: bool = True
    finish_most: int = Field(default=100, ge=0)
    replay_most: int = Field(default=20, ge=0)
