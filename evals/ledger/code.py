"""Which code made a report: a hash of an evaluation's own modules, so that a stale report is seen."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from agent.telemetry.contract import importable

OWN = ("evals.tasks.", "evals.datasets.", "evals.judges.")  # what an evaluation is made of; the frame around is not
MODULES = {"judges": "evals.judges.validation"}  # a report that no task of the registry makes


@cache
def code_sha256(task: str) -> str:
    """sha256 over what an evaluation's modules say and those of `OWN` that they import; layout, comments and docstrings
    change nothing. "" for an evaluation that is not there."""
    first = MODULES.get(task, f"evals.tasks.{task}")
    if find_spec(first) is None:
        return ""
    known: dict[str, str] = {}
    left = [first]
    while left:
        module = left.pop()
        if module not in known and module.startswith(OWN):
            known[module], more = _read(module)
            left += more
    return hashlib.sha256("\n".join(f"{name} {known[name]}" for name in sorted(known)).encode()).hexdigest()


@cache
def _read(module: str) -> tuple[str, tuple[str, ...]]:
    """A module's hash, and the modules of ours that it imports."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return "", ()
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = node.body[ast.get_docstring(node, clean=False) is not None :]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), tuple(_imported(tree))


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            for name in node.names:  # a module that is named behind its folder
                whole = f"{node.module}.{name.name}"
                if whole.startswith(OWN) and find_spec(node.module) and importable(whole):
                    yield whole
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
