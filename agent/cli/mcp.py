"""`anamnesis mcp`: the server of the Model Context Protocol."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import typer

from prompts.errors import InputError


def mcp(
    http: Annotated[bool, typer.Option("--http", help="Serve streamable HTTP instead of standard input.")] = False,
    host: Annotated[str | None, typer.Option(help="With --http: the address to listen on.")] = None,
    port: Annotated[
        int | None, typer.Option(help="With --http: the port; 0 takes a free one.", min=0, max=65535)
    ] = None,
    no_auth: Annotated[bool, typer.Option("--no-auth", help="With --http: ask for no key; this machine only.")] = False,
) -> None:
    """`anamnesis mcp`. Raises InputError for options that do not go together and for a package that is missing."""
    if not http and (host is not None or port is not None or no_auth):
        raise InputError("--host, --port and --no-auth belong to --http.", "Add --http, or leave them out.")
    _need("mcp", "anamnesis[mcp]")
    if http:
        _need("fastapi", "anamnesis[mcp,serve]")
        _need("uvicorn", "anamnesis[mcp,serve]")
        from agent.mcp.http import serve

        serve(host, port, authentication=not no_auth)
    else:
        from agent.mcp.stdio import serve as serve_stdio

        serve_stdio()


def _need(package: str, extra: str) -> None:
    if find_spec(package) is None:
        raise InputError(f"The package {package} is not installed.", f"pip install '{extra}'")
