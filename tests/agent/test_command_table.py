"""Every command of the table is there under its name, and is imported only when it is called."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from agent.cli.app import COMMANDS, app


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_answers_to_its_name_with_the_help_of_the_table(name: str) -> None:
    shown = CliRunner().invoke(app, [name, "--help"])
    assert shown.exit_code == 0, shown.output
    assert COMMANDS[name][1].split(":")[0][:40] in " ".join(shown.output.split())
    assert "--install-completion" not in shown.output


def test_a_slip_is_told_with_what_is_near() -> None:
    slip = CliRunner().invoke(app, ["librari", "list"])
    assert slip.exit_code == 2
    assert "'library'" in slip.output
