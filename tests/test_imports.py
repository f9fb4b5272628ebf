"""The house: imports go one way, and starting the command stays cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ORDER = ["evals", "agent", "graphs", "tools", "prompts"]  # each may import itself and what stands to its right
HEAVY = {"torch", "transformers", "sentence_transformers", "langgraph", "langchain_core", "langchain_openai", "faiss"}
HEAVY |= {"numpy", "bm25s", "pydantic_settings", "Bio", "jieba", "simple_icd_10_cm", "rich.console"}
HEAVY |= {"pymilvus", "milvus_lite", "grpc"}


def imported(tree: ast.AST) -> set[str]:
    """Top-level packages that a module imports, inside functions too."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.split(".")[0])
        elif isinstance(node, ast.ImportFrom):
            names.add("<relative>")
    return names


def against_the_direction(folder: str, tree: ast.AST) -> set[str]:
    """What a module of this folder imports to its left."""
    return imported(tree) & ({*ORDER[: ORDER.index(folder)], "anamnesis"} - {folder} | {"<relative>"})


@pytest.mark.parametrize("folder", ORDER)
def test_nothing_imports_to_its_left(folder: str) -> None:
    modules = sorted((ROOT / folder).rglob("*.py"))
    assert modules, f"{folder} has no modules"
    allowed = {"agent": {"anamnesis"}, "evals": {"anamnesis"}}.get(folder, set())
    wrong = {str(m): against_the_direction(folder, ast.parse(m.read_text())) - allowed for m in modules}
    assert {m: names for m, names in wrong.items() if names} == {}


def test_the_check_sees_an_import_inside_a_function() -> None:
    tree = ast.parse("def f():\n    from graphs.state import State\n    return State\n")
    assert against_the_direction("tools", tree) == {"graphs"}


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['anamnesis', '--help']\n"
        "import anamnesis\n"
        "try: anamnesis.main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        f"print(sorted({HEAVY!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "ask" in done.stdout
