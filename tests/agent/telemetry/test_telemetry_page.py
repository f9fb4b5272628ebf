"""The page says what the code does: every attribute and metric, every setting with its default, every bound."""

from __future__ import annotations

import re
from pathlib import Path

from agent.telemetry import following
from agent.telemetry.following import listed
from agent.telemetry.settings import TelemetrySettings

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "telemetry.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading, without its head."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_attributes_are_those_of_the_code() -> None:
    assert {(key, what) for key, _, what in rows("Attributes")} == {
        (f"`{key}`", a["about"]) for key, a in listed()["attributes"].items()
    }


def test_the_metrics_are_those_of_the_code() -> None:
    told = {
        (name, m["form"], m["unit"], ", ".join(f"`{k}`" for k in m["keys"]) or "none", m["about"])
        for name, m in listed()["metrics"].items()
    }
    assert {(row[0].strip("`"), *row[1:]) for row in rows("Metrics")} == told


def test_the_settings_are_those_of_the_code() -> None:
    named = {name.lower() for name in re.findall(r"__([A-Z]+)(?=`|__NAME`)", PAGE.split("\n## ")[0])}
    assert named - {"authorization", "name"} == set(TelemetrySettings.model_fields)
    defaults = TelemetrySettings()
    assert f"`__TIMEOUT` | {defaults.interval:g}, {defaults.timeout:g} |" in PAGE
    assert f"`ANAMNESIS_TELEMETRY__SHARE` | {defaults.share} |" in PAGE


def test_the_bounds_are_those_of_the_code() -> None:
    words = {2.0: "two", 3.0: "three"}
    queue = f"queue of {following.QUEUE:,} and are sent every {words[following.DELAY]} seconds"
    assert f"{queue}, {following.BATCH} at most at once" in PAGE
    assert f"gives up after {words[following.FLUSH]} seconds" in PAGE
