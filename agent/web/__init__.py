"""The web page: static files of our own, served beside the API that they call. It loads nothing from elsewhere.

The page is at `/`, the API's description at `/docs`, and their files under `/web`. No unknown path is caught, so the
API keeps its own 404. The security headers, the content policy among them, are the server's (`agent.server.edge`): one
place for all answers.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import FastAPI


__all__ = ["mount"]

FILES = Path(__file__).parent / "static"
SWAGGER = ("fastapi_offline", "static")  # the package that brings Swagger UI, and its folder of files
HEADERS = {"Cache-Control": "no-cache"}  # asked for again by its ETag: a new version is never mixed with an old one


def mount(app: FastAPI) -> None:
    """Serve the page from this application, which has the API under `/api`."""
    from fastapi.responses import FileResponse
    from fastapi.staticfiles import StaticFiles
    from starlette.responses import Response
    from starlette.types import Scope

    class Files(StaticFiles):
        """Static files that are asked for again."""

        async def get_response(self, path: str, scope: Scope) -> Response:
            response = await super().get_response(path, scope)
            response.headers.update(HEADERS)
            return response

    async def page() -> FileResponse:
        return FileResponse(FILES / "index.html", headers=HEADERS)

    async def docs() -> FileResponse:
        return FileResponse(FILES / "docs.html", headers=HEADERS)

    brought = [SWAGGER] if find_spec(SWAGGER[0]) is not None else []
    app.add_api_route("/", page, methods=["GET"], include_in_schema=False)
    if brought:
        app.add_api_route("/docs", docs, methods=["GET"], include_in_schema=False)
    app.mount("/web", Files(directory=FILES, packages=[*brought]), name="web")
