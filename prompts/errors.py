"""The base of every typed error. It lives in the lowest layer so that all rooms can raise from it."""

from __future__ import annotations


class AnamnesisError(Exception):
    """An error that a user can act on: what failed, and what to do about it.

    Args:
        what: what failed, in one sentence, without secrets or patient text.
        advice: what to try next, in one sentence.
    """

    exit_code = 1

    def __init__(self, what: str, advice: str = "") -> None:
        super().__init__(f"{what}{'' if what.endswith(chr(10)) else ' '}{advice}".strip())
        self.what = what
        self.advice = advice


class InputError(AnamnesisError):
    """The user's input cannot be taken as it is (empty, too long, not text, unknown session, ...)."""

    exit_code = 2


class DataError(AnamnesisError):
    """Something under the data folder is damaged, of another version, or was made with another encoder."""

    exit_code = 3


class ServiceError(AnamnesisError):
    """An outside service did not do what was asked. Never to be reported as "nothing found".

    Args:
        retryable: whether the same request may succeed later.
    """

    exit_code = 4

    def __init__(self, what: str, advice: str = "", *, retryable: bool = True) -> None:
        super().__init__(what, advice)
        self.retryable = retryable


class ToolError(AnamnesisError):
    """A tool call that cannot be carried out as asked; the planner is told and may call again, corrected."""
