"""Every command of the table is there under its name, and is imported only when it is called."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent.cli import app as launcher
from agent.cli.app import BRIEF, COMMANDS, COMPLETE, EVERYBODY, MOVED, app, run
from evals.commands import register
from prompts.errors import AnamnesisError, DataError, InputError, ServiceError

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "commands.md").read_text()
register(app)


def invoke(*arguments: str, **environment: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, list(arguments), env=environment or None, prog_name="anamnesis")
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize("path", COMMANDS)
def test_a_command_answers_to_its_name_with_the_help_of_the_table(path: str) -> None:
    code, shown, _ = invoke(*path.split(), "--help")
    assert code == 0, shown
    assert COMMANDS[path].help.split(":")[0][:40] in " ".join(shown.split())
    assert "--install-completion" not in shown
    assert f"`anamnesis {path}" in PAGE


def test_the_help_begins_with_eight_commands_and_cuts_no_line_short() -> None:
    _, shown, _ = invoke("--help")
    sections = re.split(r"\n\n(?=\S)", shown)
    first = next(part for part in sections if part.startswith(EVERYBODY))
    assert [line.split()[0] for line in first.splitlines()[1:]] == [
        "ask", "chat", "search", "library", "knowledge", "sessions", "serve", "doctor",
    ]  # fmt: skip
    assert sections.index(first) < min(n for n, part in enumerate(sections) if "\n  dev " in part)
    assert all(entry.help.endswith((".", "...")) for entry in COMMANDS.values())
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize("name", MOVED)
def test_an_old_name_leads_to_the_new_place_is_said_and_stands_in_no_list(name: str) -> None:
    code, shown, said = invoke(name, "--help")
    assert code == 0
    assert shown == invoke(*MOVED[name].split(), "--help")[1]
    assert f"now `anamnesis {MOVED[name]}`" in said
    assert f"\n  {name} " not in invoke("--help")[1]


def test_the_commands_that_run_without_the_collector_of_garbage_are_there() -> None:
    assert COMMANDS.keys() > BRIEF
    assert not BRIEF & {"chat", "index", "knowledge", "library", "mcp", "mirror", "questions", "serve", "setup"}


def test_a_slip_is_told_with_what_is_near() -> None:
    code, _, said = invoke("librari", "list")
    assert code == 2
    assert "'library'" in said


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_given_its_script(shell: str) -> None:
    code, script, _ = invoke("completion", shell)
    assert code == 0
    assert f"{COMPLETE}=complete_{shell}" in script


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("li", "library"), ("library ", "add list remove check"), ("dev gr", "graph"), ("bench mo", "model"),
     ("sessions export --format ", "json markdown")],
)  # fmt: skip
def test_the_shell_is_offered_commands_options_and_choices(
    typed: str, offered: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"anamnesis {typed}"
    for name, value in ((COMPLETE, "complete_bash"), ("COMP_WORDS", words), ("COMP_CWORD", str(words.count(" ")))):
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as ended:
        run()
    assert not ended.value.code
    said = capsys.readouterr()
    assert set(offered.split()) <= set(said.out.split())
    assert said.err == ""


def test_every_exit_code_is_documented_and_told_by_its_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", PAGE.split("## Exit codes")[1], flags=re.M)}
    raised: list[tuple[BaseException, int]] = [
        (AnamnesisError("x"), 1), (InputError("x"), 2), (DataError("x"), 3), (ServiceError("x"), 4),
        (KeyboardInterrupt(), 130), (BrokenPipeError(), 141),
    ]  # fmt: skip
    for error, code in raised:

        def fail(error: BaseException = error, **_: str) -> None:
            raise error

        monkeypatch.setattr(launcher, "app", fail)
        monkeypatch.setattr(launcher, "entry_points", lambda **_: [])
        monkeypatch.setattr(launcher.sys.stderr, "close", lambda: None)
        with pytest.raises(SystemExit) as ended:
            run()
        assert ended.value.code == code
        assert capsys.readouterr().err == ("anamnesis: x\n" if isinstance(error, AnamnesisError) else "")
    assert documented == {0, *(code for _, code in raised)}
