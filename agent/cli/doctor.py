"""`anamnesis doctor`: what is there, what is not, and every endpoint that this configuration may call."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel

from agent.assembly import open_encoder, passages_described
from agent.cli.console import JsonOption, console, print_json
from agent.corpus import described as corpora_described
from agent.corpus import imported
from agent.corpus import opened as opened_corpora
from agent.knowledge import described as sources_described
from agent.knowledge_graph import open_graph
from agent.loop import run
from agent.mirror import described as mirror_described
from agent.models import check_needs, described, kept_replies, proxies
from agent.questions import described as questions_described
from agent.sessions import Home, open_database, typed_database_errors
from agent.settings import TELEMETRY_OFF, Settings, load_settings, silence_telemetry
from prompts.errors import AnamnesisError, DataError
from tools.encoders import MINILM, minilm_folder
from tools.icd10 import load_icd10
from tools.library.collection import Library
from tools.library.shelf import Shelf, shelf_file

SETTINGS = "settings"  # the check of what cannot be read
# the roles that no turn calls, with what sends them what
BUILDING = {
    "graph": "`kg build --judge model` sends it the records",
    "questions": "`questions build` and `questions testset` with --writer model send it the documents",
}


class Check(BaseModel):
    """One line of the examination."""

    name: str
    ok: bool
    found: str
    advice: str = ""


def doctor(as_json: JsonOption = False) -> None:
    """`anamnesis doctor`: each check as it is made; exit code 0 when all is well, 3 otherwise."""
    checks: list[Check] = []
    for check in _checks():
        checks.append(check)
        if not as_json:
            _print_check(check)
    addresses = endpoints(load_settings()) if checks[0].name != SETTINGS else []
    if as_json:
        print_json({"checks": [c.model_dump() for c in checks], "endpoints": addresses})
    else:
        _print_endpoints(addresses)
    raise typer.Exit(0 if all(c.ok for c in checks) else 3)


def _checks() -> Iterator[Check]:
    """Every check; where the settings cannot be read, that alone."""
    try:
        settings = load_settings()
    except AnamnesisError as error:
        yield _failed(SETTINGS, error)
        return
    silence_telemetry(settings)
    yield from _places(settings)
    yield from _parts(settings)


def endpoints(settings: Settings) -> list[dict[str, Any]]:
    """Every address that this configuration may call, what for, and whether it can be reached now."""
    places = [*_model_endpoints(settings), *_literature_endpoint(settings), *_index_endpoint(settings)]
    return [*places, *_source_endpoints(settings), *_telemetry_endpoint(settings)]


def _model_endpoints(settings: Settings) -> list[dict[str, Any]]:
    """Every address of a language model with the roles that call it; none is called to find out: a call may cost."""
    model = settings.language_model
    called: dict[tuple[str, str], list[str]] = {}
    for role, own in (model.judges() if model else {}).items():
        called.setdefault((own.address, own.name), []).append(role)
    return [
        {"url": url, "purpose": f"language model {name}: {_sent(roles)}", "roles": roles, "reachable": None}
        for (url, name), roles in called.items()
    ]


def _sent(roles: list[str]) -> str:
    """What the roles are sent."""
    turn = [role for role in roles if role not in BUILDING]
    parts = [f"is sent the question or case, and what was found, for {', '.join(turn)}"] if turn else []
    return "; ".join(parts + [f"{told} ({role})" for role, told in BUILDING.items() if role in roles])


def _literature_endpoint(settings: Settings) -> list[dict[str, Any]]:
    literature = settings.literature
    if literature.live == "off" or literature.mirror is not None:  # a mirror is read on this machine
        return []
    from tools.literature.limiter import limiter_for
    from tools.literature.reachability import Reachability

    probe = Reachability(literature.base_url, literature.probe_timeout, limiter=limiter_for(literature))
    try:
        reachable: bool | None = run(probe.check())
    except AnamnesisError:  # no start can be had; the check of the session database says why
        reachable = None
    return [{"url": literature.base_url, "purpose": "PubMed search (terms only)", "reachable": reachable}]


def _index_endpoint(settings: Settings) -> list[dict[str, Any]]:
    index = settings.index
    if index.backend != "milvus" or not index.address:  # the embedded one runs in this process
        return []
    purpose = "Milvus: is sent collections that are built, and the words and vector of what is searched in them"
    return [{"url": index.address, "purpose": purpose, "reachable": None}]


def _source_endpoints(settings: Settings) -> list[dict[str, Any]]:
    if settings.knowledge.live == "off":
        return []
    from tools.knowledge.catalogue import catalogue

    return [
        {"url": url, "purpose": f"files of {entry.title}, when `anamnesis knowledge` is called", "reachable": None}
        for entry in catalogue().values()
        for url in (*entry.addresses, *([entry.listing.address] if entry.listing else []))
    ]


def _telemetry_endpoint(settings: Settings) -> list[dict[str, Any]]:
    url = settings.telemetry.endpoint
    purpose = "telemetry for an operator (names of steps, counts and times; no text)"
    return [{"url": url, "purpose": purpose, "reachable": None}] if url else []


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
    checks.append(Check(name="language model", ok=True, found=described(settings.language_model)))
    if settings.language_model is not None and (named := proxies()):
        found = f"the language model is called through the proxy of {', '.join(named)}"
        checks.append(Check(name="proxy", ok=True, found=found))
    if settings.language_model is not None and (kept := kept_replies(settings, home)):
        checks.append(Check(name="kept replies", ok=True, found=kept))
    if settings.config:
        checks.append(_configuration(settings))
    return checks


def _configuration(settings: Settings) -> Check:
    try:
        check_needs(settings)
    except AnamnesisError as error:
        return _failed("configuration", error)
    return Check(name="configuration", ok=True, found=f"{settings.config}; `anamnesis config show` tells what it sets")


def _parts(settings: Settings) -> Iterator[Check]:
    for name, look in inspect_parts(settings, Home(settings.home)):
        try:
            yield Check(name=name, ok=True, found=look())
        except AnamnesisError as error:
            yield _failed(name, error)


def _failed(name: str, error: AnamnesisError) -> Check:
    return Check(name=name, ok=False, found=error.what, advice=error.advice)


def _print_check(check: Check) -> None:
    out = console()
    mark = "[green]ok  [/]" if check.ok else "[red]FAIL[/]"
    out.print(f"{mark} {check.name}: ", end="")
    out.print(f"{check.found} {check.advice}".rstrip(), markup=False)
    sys.stdout.flush()


def _print_endpoints(addresses: list[dict[str, Any]]) -> None:
    out = console()
    out.print("Endpoints that may be called:" if addresses else "Endpoints that may be called: none")
    for address in addresses:
        state = {None: "not tried", True: "reachable"}.get(address["reachable"], "not reachable now")
        out.print(f"  {address['url']}  {address['purpose']}; {state}", markup=False)


# Looks at the built parts of a data folder, for `anamnesis doctor`.


def inspect_parts(settings: Settings, home: Home) -> list[tuple[str, Callable[[], str]]]:
    """Named looks at the built parts, for `doctor`; each returns what it found or raises a typed error."""

    opened = cache(lambda: open_encoder(settings, home))  # it is held to its checksum at each opening

    def encoder() -> str:
        found = opened()
        where = f", from {minilm_folder().parent.name}, checksum verified" if found.name == MINILM else ""
        return f"{found.name}, {found.dimension} dimensions, {found.limit} tokens{where}"

    def library() -> str:
        found = Library.open(home.indexes / "library", opened())
        return f"{len(found)} documents (not clinically reviewed)"

    def graph() -> str:
        found = open_graph(settings, home, opened()).graph
        counted = f"{len(found.diseases)} diseases, {len(found.findings)} findings"
        return f"{found.about.name}, {counted} (not clinically reviewed)"

    def codes() -> str:
        return f"{len(load_icd10(home.indexes / 'icd10.json'))} ICD-10 codes"

    def database(file: Path) -> Callable[[], str]:
        def look() -> str:
            if not file.exists():
                return "none yet"
            with typed_database_errors(file), contextlib.closing(sqlite3.connect(file)) as db:
                said = str(db.execute("pragma quick_check").fetchone()[0])
            if said != "ok":
                raise DataError(f"{file.name} is damaged: {said.splitlines()[0]}", "Move it away, or restore a copy.")
            return "intact"

        return look

    def gate() -> str:
        theta1, theta2 = settings.gate.thresholds
        return f"theta1 {theta1}, theta2 {theta2}"

    return [
        ("encoder", encoder),
        ("library", library),
        ("user library", partial(_own_documents, settings, home)),
        ("generated questions", lambda: questions_described(home, opened())),
        ("passages", partial(passages_described, settings)),
        ("knowledge graph", graph),
        ("ontology table", codes),
        *([("mirror", partial(mirror_described, settings.literature.mirror))] if settings.literature.mirror else []),
        *([("built collections", partial(_corpora, settings, home))] if settings.corpus else []),
        *([("imported sources", partial(_sources, settings, home))] if imported(settings) else []),
        ("completeness gate", gate),
        *(
            [("session database", partial(_session_database, settings, home))]
            if settings.database is not None
            else [
                ("checkpoints", database(home.checkpoints)),
                ("content store", database(home.texts)),
                ("session records", database(home.records)),
            ]
        ),
    ]


def _session_database(settings: Settings, home: Home) -> str:
    async def look() -> str:
        opened = await open_database(settings, home)
        try:
            tables = (await opened.execute(("select version()", ())))[0]
        finally:
            await opened.close()
        return f"{str(tables[0][0]).split(' (')[0]}, reached"

    return run(look())


def _corpora(settings: Settings, home: Home) -> str:
    return corpora_described(settings, open_encoder(settings, home))


def _sources(settings: Settings, home: Home) -> str:
    opened_corpora(settings, open_encoder(settings, home))  # each is whole, and of this encoder
    return sources_described(settings)


def _own_documents(settings: Settings, home: Home) -> str:
    if not shelf_file(home.library).exists():
        return "none yet"
    with contextlib.closing(Shelf(home.library, open_encoder(settings, home))) as shelf:
        return f"{len(shelf.documents())} documents in {home.library}"
