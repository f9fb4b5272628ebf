"""Anamnesis, an agentic medical evidence assistant: the public name, and the launcher of the command.

>>> from anamnesis import Agent
>>> answer = Agent().ask("Does early mobilisation help after a stroke?")
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent.agent import Agent
    from agent.conversation import Session, Step
    from agent.sessions.contract import Feedback, Review, SessionRecord, TurnRecord
    from agent.sessions.documents import SessionDocument
    from agent.sessions.ids import SessionBusy, UnknownSession
    from agent.settings import Settings
    from graphs.answering.contract import Answer, Choice, Usage
    from prompts.errors import AnamnesisError, DataError, InputError, ServiceError
    from tools.contract import Differential, FollowUpQuestion, Notice, RankedDisease
    from tools.evidence import Citation, Evidence, Origin, Statement

__version__ = "0.1.0"

_WHERE = {
    "Agent": "agent.agent",
    "Session": "agent.conversation",
    "Step": "agent.conversation",
    "Feedback": "agent.sessions.contract",
    "Review": "agent.sessions.contract",
    "SessionRecord": "agent.sessions.contract",
    "TurnRecord": "agent.sessions.contract",
    "SessionDocument": "agent.sessions.documents",
    "SessionBusy": "agent.sessions.ids",
    "UnknownSession": "agent.sessions.ids",
    "Settings": "agent.settings",
    "Answer": "graphs.answering.contract",
    "Choice": "graphs.answering.contract",
    "Usage": "graphs.answering.contract",
    "AnamnesisError": "prompts.errors",
    "DataError": "prompts.errors",
    "InputError": "prompts.errors",
    "ServiceError": "prompts.errors",
    "Differential": "tools.contract",
    "FollowUpQuestion": "tools.contract",
    "Notice": "tools.contract",
    "RankedDisease": "tools.contract",
    "Citation": "tools.evidence",
    "Evidence": "tools.evidence",
    "Origin": "tools.evidence",
    "Statement": "tools.evidence",
}

__all__ = [
    "Agent",
    "AnamnesisError",
    "Answer",
    "Choice",
    "Citation",
    "DataError",
    "Differential",
    "Evidence",
    "Feedback",
    "FollowUpQuestion",
    "InputError",
    "Notice",
    "Origin",
    "RankedDisease",
    "Review",
    "ServiceError",
    "Session",
    "SessionBusy",
    "SessionDocument",
    "SessionRecord",
    "Settings",
    "Statement",
    "Step",
    "TurnRecord",
    "UnknownSession",
    "Usage",
    "__version__",
]

FOLDERS = ("agent", "evals", "graphs", "prompts", "tools")


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'anamnesis' has no attribute {name!r}")
    from importlib import import_module

    stranger = shadowing()
    if stranger:
        raise ImportError(stranger)
    return getattr(import_module(_WHERE[name]), name)


def shadowing() -> str:
    """What to tell the user when a stranger's package of the same name hides one of ours; "" when none does."""
    home = Path(__file__).resolve().parents[1]
    for folder in FOLDERS:
        spec = find_spec(folder)
        places = list(spec.submodule_search_locations or [spec.origin or ""]) if spec is not None else []
        if not any(Path(place).resolve() == home / folder for place in places):
            found = places[0] if places else "nothing"
            return (
                f"The package {folder!r} of Anamnesis is hidden: Python finds {found}. "
                "Run from another folder, or take that one off PYTHONPATH."
            )
    return ""


def main() -> None:
    """Run the command line."""
    stranger = shadowing()
    if stranger:
        sys.stderr.write(f"anamnesis: {stranger}\n")
        raise SystemExit(3)
    import gc

    # Products of the trained heads are small: a second thread gains them nothing and spins while it waits for more,
    # which is a quarter of the processor time of a long message. Encoder and vector index have threads of their own.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from agent.cli.app import BRIEF, run

    # A million objects are loaded and live to the end: to look through them for garbage, again and again while they
    # grow and once on the way out, is a quarter of the processor time of a single question.
    if sys.argv[1:2] and sys.argv[1] in BRIEF:
        gc.disable()
    try:
        run()
    finally:
        gc.freeze()
