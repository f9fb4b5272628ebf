"""`anamnesis doctor`: what is there, what is not, and every endpoint that this configuration may call."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from pydantic import BaseModel

from agent.cli.render import console
from agent.loop import run
from agent.sessions import Home
from agent.settings import TELEMETRY_OFF, Settings, load_settings, silence_telemetry
from prompts.errors import AnamnesisError


class Check(BaseModel):
    """One line of the examination."""

    name: str
    ok: bool
    found: str
    advice: str = ""


def examine(*, as_json: bool) -> int:
    """Print the examination; returns 0 when all is well, 3 otherwise."""
    try:
        settings = load_settings()
    except AnamnesisError as error:
        checks, addresses = [_failed("settings", error)], []
    else:
        silence_telemetry(settings)
        checks, addresses = [*_places(settings), *_parts(settings)], endpoints(settings)
    report = {"checks": [c.model_dump() for c in checks], "endpoints": addresses}
    if as_json:
        sys.stdout.write(json.dumps(report, indent=2, ensure_ascii=False) + "\n")
    else:
        _print(checks, addresses)
    return 0 if all(c.ok for c in checks) else 3


def endpoints(settings: Settings) -> list[dict[str, Any]]:
    """Every address that this configuration may call, what for, and whether it can be reached now."""
    return [*_model_endpoint(settings), *_literature_endpoint(settings)]


def _model_endpoint(settings: Settings) -> list[dict[str, Any]]:
    """The language model's address; it is not called to find out, because a call may cost."""
    if settings.language_model is None:
        return []
    url = settings.openai_base_url or "https://api.openai.com/v1"  # the openai client's own default
    purpose = f"language model {settings.model}: it plans searches and is sent the question or case"
    purpose += "; `kg build --judge model` sends it the records"
    return [{"url": url, "purpose": purpose, "reachable": None}]


def _literature_endpoint(settings: Settings) -> list[dict[str, Any]]:
    literature = settings.literature
    if literature.live == "off" or literature.mirror is not None:  # a mirror is read on this machine
        return []
    from tools.literature.reachability import Reachability

    reachable = run(Reachability(literature.base_url, literature.probe_timeout).check())
    return [{"url": literature.base_url, "purpose": "PubMed search (terms only)", "reachable": reachable}]


def _places(settings: Settings) -> list[Check]:
    checks = []
    home = Home(settings.home)
    try:
        home.prepare()
        mode = home.root.stat().st_mode & 0o777
        checks.append(Check(name="data folder", ok=mode == 0o700, found=f"{home.root} (mode {mode:o})"))
    except AnamnesisError as error:
        checks.append(_failed("data folder", error))
    tracing = [name for name in TELEMETRY_OFF if os.environ.get(name) != TELEMETRY_OFF[name]]
    checks.append(
        Check(
            name="third-party telemetry",
            ok=not tracing or settings.third_party_tracing,
            found="off" if not tracing else "left on by a setting: " + ", ".join(tracing),
        )
    )
    none = "none: the local engine judges, nothing is generated"
    model = f"{settings.model}: plans literature searches; the rest is judged locally" if settings.model else none
    checks.append(Check(name="language model", ok=True, found=model))
    return checks


def _parts(settings: Settings) -> list[Check]:
    from agent.inspection import inspect_parts

    checks = []
    for name, look in inspect_parts(settings, Home(settings.home)):
        try:
            checks.append(Check(name=name, ok=True, found=look()))
        except AnamnesisError as error:
            checks.append(_failed(name, error))
    return checks


def _failed(name: str, error: AnamnesisError) -> Check:
    return Check(name=name, ok=False, found=error.what, advice=error.advice)


def _print(checks: list[Check], addresses: list[dict[str, Any]]) -> None:
    out = console()
    for check in checks:
        mark = "[green]ok  [/]" if check.ok else "[red]FAIL[/]"
        out.print(f"{mark} {check.name}: ", end="")
        out.print(f"{check.found} {check.advice}".rstrip(), markup=False)
    out.print("Endpoints that may be called:" if addresses else "Endpoints that may be called: none")
    for address in addresses:
        state = {None: "not tried", True: "reachable"}.get(address["reachable"], "not reachable now")
        out.print(f"  {address['url']}  {address['purpose']}; {state}", markup=False)
