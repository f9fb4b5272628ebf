"""Whether the server is alive, and whether it is ready. Neither needs a key, and neither tells anything else."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Response

from agent.loop import arun
from agent.server.contract import State
from agent.server.guard import Parts, The
from agent.server.problems import answers
from prompts.errors import AnamnesisError

PROBE = "cough"  # ours: any word that the graph knows
PATIENCE = 3.0  # ours: seconds for a database that answers in milliseconds

health = APIRouter(tags=["health"], responses=answers(421, 500))


@health.get("/health")
async def alive() -> State:
    """The process answers."""
    return State(status="ok")


@health.get("/ready", responses={503: {"model": State, "description": "Not now, and why."}})
async def ready(the: The, response: Response) -> State:
    """Turns can be taken: the databases answer, the indexes are there, the server is not stopping."""
    problems = [*(["stopping"] if the.turns.closing else []), *await _problems(the)]
    response.status_code = 503 if problems else 200
    return State(status="unready" if problems else "ok", problems=problems)


async def _problems(the: Parts) -> list[str]:
    checks = {
        "database": arun(the.agent.database.check()),
        "indexes": asyncio.to_thread(_indexes, the),
    }
    done = await asyncio.gather(
        *(asyncio.wait_for(check, PATIENCE) for check in checks.values()), return_exceptions=True
    )
    for error in done:
        if isinstance(error, BaseException) and not isinstance(error, (AnamnesisError, TimeoutError, OSError)):
            raise error
    return [name for name, result in zip(checks, done, strict=True) if isinstance(result, BaseException)]


def _indexes(the: Parts) -> None:
    """One look-up, which fails where the indexes that the agent opened cannot be read any more."""
    the.agent.parts.look_up(PROBE, "en", [])
