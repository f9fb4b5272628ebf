"""The package: what it declares, what its wheel holds, and that the wheel works away from the checkout."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OURS = {"agent", "anamnesis", "evals", "graphs", "prompts", "tools"}
NAME = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?(.*)$")
FRAME = {
    "langgraph",
    "langchain-openai",
    "biopython",
    "sentence-transformers",
    "rank-bm25",
    "faiss-cpu",
    "transformers",
    "pydantic",
}


def normal(name: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def split(requirement: str) -> tuple[str, str]:
    """Name and bounds of a requirement."""
    match = NAME.match(requirement.split(";")[0].replace(" ", ""))
    assert match is not None
    return normal(match[1]), match[2]


def brought(names: set[str]) -> set[str]:
    """What these packages require, and what that requires."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        for requirement in requires(waiting.pop()) or ():
            name = split(requirement)[0]
            if "extra ==" not in requirement and name not in found and is_installed(name):
                found.add(name)
                waiting.append(name)
    return found


def is_installed(name: str) -> bool:
    """Whether it is here: what a requirement names for another platform is not."""
    return name in INSTALLED


INSTALLED = {normal(name) for names in packages_distributions().values() for name in names}
CORE = {split(r)[0] for r in PROJECT["dependencies"]}
GROUPS = [r for group in PROJECT["optional-dependencies"].values() for r in group]
EXTRAS = {split(r)[0] for r in GROUPS} - {"anamnesis"}
EXTRAS |= {extra for r in GROUPS for extra in re.findall(r"\[([\w-]+)\]", r) if is_installed(extra)}


def test_few_packages_are_needed_and_none_of_the_frame_is_missing() -> None:
    assert len(PROJECT["dependencies"]) == len(CORE) <= 24
    assert FRAME <= CORE


def test_every_requirement_is_bounded_below_and_above() -> None:
    every = PROJECT["dependencies"] + GROUPS
    bounds = {split(r)[0]: split(r)[1] for r in every if split(r)[0] != "anamnesis"}
    assert {n: b for n, b in bounds.items() if not re.fullmatch(r">=[\d.]+,<[\d.]+", b)} == {}


def test_whatever_is_imported_is_declared_or_brought_by_what_is_declared() -> None:
    distributions = packages_distributions()
    had = CORE | brought(CORE) | EXTRAS | brought(EXTRAS & INSTALLED)
    unknown: dict[str, str] = {}
    for room in OURS:
        for path in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
                names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
                for name in {n.partition(".")[0] for n in names} - OURS - set(sys.stdlib_module_names):
                    if not {normal(d) for d in distributions.get(name, [name])} & had:
                        unknown[name] = str(path)
    assert unknown == {}


def test_what_an_extra_brings_is_imported_when_used_and_told_when_missing() -> None:
    code = (
        "import sys; sys.modules['pyroaring'] = sys.modules['pypdf'] = None\n"
        "import agent.assembly, agent.cli.app\n"
        "from pathlib import Path\n"
        "from agent.mirror import described\n"
        "from prompts.errors import AnamnesisError\n"
        "from tools.readers.pdf import _open\n"
        "for use in (lambda: described(Path('none')), lambda: _open(b'%PDF-1.7')):\n"
        "    try: use()\n"
        "    except AnamnesisError as error: print(error.advice)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "anamnesis[mirror]" in done.stdout.splitlines()[0]
    assert "anamnesis[documents]" in done.stdout.splitlines()[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q", "-w", folder, ROOT]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_all_that_git_holds_of_the_rooms(wheel: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files", "-z", *sorted(OURS)], cwd=ROOT, capture_output=True, text=True)
    held = set(zipfile.ZipFile(wheel).namelist())
    assert set(listed.stdout.rstrip("\0").split("\0")) - held == set()
    assert {f"{room}/py.typed" for room in OURS} <= held
    assert not [name for name in held if name.startswith("tests/")]


def installed(wheel: Path, folder: Path) -> tuple[Path, Path]:
    """The Python of an environment that has the wheel, and where its packages lie; its dependencies are ours."""
    venv.create(folder, symlinks=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin" / "python", site


USER = """
from anamnesis import Agent, Answer, Differential, RankedDisease, SessionBusy, Settings, UnknownSession

def asked(settings: Settings) -> list[RankedDisease]:
    with Agent(settings) as agent:
        answer: Answer = agent.ask("What is gout?", session="s")
        return list(answer.differential)

reveal_type(asked)
"""
SLIPS = {
    'Agent().ask("x", sesion="s")': "call-arg",
    "Agent().ask(5)": "arg-type",
    'Settings(hom="x")': "call-arg",
    "Agent().ask('x').txt": "attr-defined",
}


@pytest.mark.slow
def test_a_users_type_checker_sees_the_types_of_the_wheel(wheel: Path, tmp_path: Path) -> None:
    python, _ = installed(wheel, tmp_path / "env")
    (tmp_path / "user.py").write_text("\n".join((USER, *SLIPS)))
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", python, "user.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    first = USER.count("\n") + 2
    told = [line for line in done.stdout.splitlines() if "error:" in line]
    assert [f"user.py:{n}" == line.split(": ")[0] for n, line in enumerate(told, start=first)] == [True] * len(SLIPS)
    assert [re.findall(r"\[([\w-]+)\]$", line)[-1] for line in told] == list(SLIPS.values())
    assert "RankedDisease" in done.stdout


@pytest.mark.slow
def test_the_wheel_answers_and_evaluates_away_from_the_checkout(wheel: Path, built_home: Path, tmp_path: Path) -> None:
    """Dependencies are those of this environment; `make wheel` installs them afresh."""
    python, site = installed(wheel, tmp_path / "env")
    told = {**os.environ, "PYTHONPATH": "", "ANAMNESIS_HOME": str(built_home), "ANAMNESIS_LITERATURE__LIVE": "off"}
    run = [python, "-m", "anamnesis"]
    asked = subprocess.run(
        [*run, "ask", "Do statins prevent a first heart attack?"],
        cwd=tmp_path,
        env=told,
        capture_output=True,
        text=True,
    )
    assert asked.returncode == 0, asked.stderr
    assert "library:statins-primary-prevention" in asked.stdout
    where = "import anamnesis, agent.agent; print(anamnesis.__file__, agent.agent.__file__)"
    places = subprocess.run([python, "-c", where], cwd=tmp_path, env=told, capture_output=True, text=True, check=True)
    assert all(Path(place).is_relative_to(site) for place in places.stdout.split())
    command = [*run, "eval", "run", "cases", "--limit", "4"]
    measured = subprocess.run(command, cwd=tmp_path, env=told, capture_output=True, text=True)
    assert measured.returncode == 0, measured.stderr
    assert "cases." in measured.stdout
