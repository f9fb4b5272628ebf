"""`anamnesis dev bench house`: how large the code is, and how much of it a turn runs through, as Markdown tables."""

from __future__ import annotations

import ast
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType

import typer

ROOT = Path(__file__).parents[2]
PRODUCTION = ("prompts", "tools", "graphs", "agent")
ROOMS = (*PRODUCTION, "evals", "deploy", "anamnesis", "tests")
BLOCK = 8  # ours: lines of code in a row, indentation apart, that stand in two files
CASE = (
    "A 60-year-old man has had crushing central chest pain for 40 minutes. It spreads to his left arm; he is sweating."
)
QUESTION = "Do statins help people who have never had a heart attack or stroke?"
# Runs in a process of its own: modules of ours after Agent(), then files and functions of a case and of a question.
TURNS = """
from evals.bench.house import CASE, QUESTION, Watch
watch = Watch()
from anamnesis import Agent
with Agent() as agent:
    loaded = watch.loaded()
    for message in (CASE, QUESTION):
        agent.ask(message)  # what is read once is read
    print(loaded, *(n for message in (CASE, QUESTION) for n in watch.ran(lambda: agent.ask(message))))
"""


class Watch:
    """What of ours runs in this process, in every thread that is started after it."""

    def __init__(self, root: Path = ROOT) -> None:
        self._root, self._seen = root, set[CodeType]()
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self._seen.add(frame.f_code)

    def stop(self) -> None:
        """Watch no more, in this thread and in those to come."""
        sys.setprofile(None)
        threading.setprofile(None)

    def loaded(self) -> int:
        """Production modules of ours that are loaded."""
        return sum(name.partition(".")[0] in PRODUCTION for name in sys.modules)

    def ran(self, turn: Callable[[], object]) -> tuple[int, int]:
        """Files and functions of ours that a call of ``turn`` runs through."""
        self._seen.clear()
        turn()
        paths = {code: Path(code.co_filename) for code in tuple(self._seen)}
        ours = {(p, c.co_qualname) for c, p in paths.items() if p.is_relative_to(self._root)}
        ours = {(p, n) for p, n in ours if p.relative_to(self._root).parts[0] in PRODUCTION and not n.endswith(">")}
        return len({p for p, _ in ours}), len(ours)


def sources(root: Path) -> dict[str, str]:
    """Every Python file of the rooms under ``root``, by its path from there, with its text."""
    paths = [p for room in ROOMS for p in (root.glob(room) if room.endswith(".py") else (root / room).rglob("*.py"))]
    return {p.relative_to(root).as_posix(): p.read_text(encoding="utf-8") for p in sorted(paths)}


def imports(tree: ast.Module, modules: dict[str, str]) -> Iterator[str]:
    """Our modules that a file imports, inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            found = [name for name in whole if name in modules]
            yield from found
            if node.module in modules and len(found) < len(whole):
                yield node.module


def imported_once(trees: dict[str, ast.Module]) -> int:
    """Production modules that exactly one other production module imports."""
    modules = {name[:-3].removesuffix("/__init__").replace("/", "."): name for name in trees}
    users: defaultdict[str, set[str]] = defaultdict(set)
    for name, tree in trees.items():
        for module in imports(tree, modules):
            users[module].add(name)
    return sum(len(users[m]) == 1 for m, name in modules.items() if not name.endswith("__init__.py"))


def repeated_blocks(texts: dict[str, str]) -> int:
    """Runs of `BLOCK` lines of code that stand in two files or more, imports and blank lines apart."""
    places: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    for name, text in texts.items():
        nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Import | ast.ImportFrom)]
        without = {number for n in nodes for number in range(n.lineno, (n.end_lineno or n.lineno) + 1)}
        lines = [line.strip() for number, line in enumerate(text.splitlines(), 1) if number not in without]
        lines = [line for line in lines if len(line) > 3 and not line.startswith("#")]
        for start in range(len(lines) - BLOCK + 1):
            places[tuple(lines[start : start + BLOCK])].add(name)
    return sum(len(names) > 1 for names in places.values())


def command() -> None:
    """Print the tables of this checkout."""
    for line in table(ROOT):
        typer.echo(line)


def table(root: Path) -> Iterator[str]:
    """The table, line by line."""
    texts = sources(root)
    trees = {name: ast.parse(text) for name, text in texts.items()}
    files, lines, statements, functions = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for name, tree in trees.items():
        room = name.split("/")[0]
        files[room] += 1
        lines[room] += texts[name].count("\n")
        statements[room] += sum(isinstance(node, ast.stmt) for node in ast.walk(tree))
        functions[room] += sum(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in ast.walk(tree))
    yield "| room | files | lines | statements | functions |"
    yield "| --- | --- | --- | --- | --- |"
    production = [room for room in ROOMS if room != "tests"]
    rows = {**{room: [room] for room in production}, "all but tests": production, "tests": ["tests"]}
    for title, rooms in rows.items():
        sums = (sum(count[room] for room in rooms) for count in (files, lines, statements, functions))
        yield f"| {title} | " + " | ".join(f"{value:,}" for value in sums) + " |"
    ours = {name: tree for name, tree in trees.items() if not name.startswith("tests/")}
    command = [sys.executable, "-c", TURNS]
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)  # noqa: S603 our own text
    loaded, *case_and_question = done.stdout.split()[-5:]
    yield ""
    yield "| measure | value |"
    yield "| --- | --- |"
    yield f"| modules that one other imports | {imported_once(ours)} |"
    yield f"| runs of {BLOCK} lines that stand in two files | {repeated_blocks({n: texts[n] for n in ours})} |"
    yield f"| modules of ours that `Agent` loads | {loaded} |"
    for title, (in_files, in_functions) in zip(
        ("case", "question"), (case_and_question[:2], case_and_question[2:]), strict=True
    ):
        yield f"| files and functions that one {title} runs through | {in_files}, {in_functions} |"
