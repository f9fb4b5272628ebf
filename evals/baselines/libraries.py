"""The splitters of other libraries belong to the evaluations alone."""

from __future__ import annotations

from prompts.errors import InputError


def missing(package: str) -> InputError:
    """What to say when a library is not installed."""
    return InputError(f"{package} is not installed.", "Install the project with its extra `evals`.")
