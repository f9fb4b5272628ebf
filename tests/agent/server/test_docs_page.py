"""The page of the API: every endpoint, a request sent and its reply shown, under the policy of every other page."""

from __future__ import annotations

from typing import Any

import pytest

from agent import web
from support.access_matrix import endpoints
from support.browser import Window, expecting, window
from support.served import Served

ME = "#operations-account-me"  # GET /api/me


def opened_at(opened: Window, address: str) -> Any:
    """The page, once its endpoints are there."""
    opened.page.goto(address)
    opened.page.locator(".opblock").first.wait_for()
    return opened.page


def sent(page: Any, operation: str) -> tuple[str, str]:
    """Send an operation's request as it stands; the status and the whole text of the reply that is shown."""
    shown = page.locator(operation)
    if "is-open" not in shown.get_attribute("class"):
        shown.locator(".opblock-summary-control").click()
    shown.locator(".execute").click()
    reply = shown.locator(".live-responses-table")
    reply.wait_for()
    return reply.locator("tbody .response-col_status").inner_text().strip(), reply.inner_text()


def test_every_endpoint_is_there_and_a_request_is_answered_without_a_key(server: Served, browser: Any) -> None:
    with window(browser) as opened:
        page = opened_at(opened, f"{server.url}/docs")
        assert page.locator(".opblock").count() == len(list(endpoints(server.app.openapi())))
        status, reply = sent(page, "#operations-health-alive")
        assert status == "200"
        assert '"status": "ok"' in reply
        page.locator("#operations-sessions-list_sessions .opblock-summary-control").click()
        expecting(page.locator("#operations-sessions-list_sessions .parameters")).to_contain_text(["search"])
        assert opened.errors == []
        assert opened.outside() == []


def test_a_request_needs_a_key_that_is_typed_in_or_the_cookie_of_the_page(server: Served, browser: Any) -> None:
    with window(browser) as opened:
        page = opened_at(opened, f"{server.url}/docs")
        assert sent(page, ME)[0] == "401"
        page.locator(".btn.authorize").click()
        page.locator(".modal-ux input").fill(server.key("Dr Adams"))
        page.locator(".modal-ux .authorize").click()
        page.locator(".modal-ux .btn-done").click()
        page.locator(f"{ME} .execute").click()
        expecting(page.locator(f"{ME} .live-responses-table")).to_contain_text("Dr Adams")
        page.reload()
        page.locator(ME).wait_for()
        assert sent(page, ME)[0] == "401", "a key that was typed in is not kept"
        login = {"key": server.key("Dr Brown")}
        assert page.request.post(f"{server.url}/api/login", data=login).ok
        page.locator(f"{ME} .execute").click()
        expecting(page.locator(f"{ME} .live-responses-table")).to_contain_text("Dr Brown")
        page.locator("#operations-sessions-create_session .opblock-summary-control").click()
        assert sent(page, "#operations-sessions-create_session")[0] == "201", "what changes something comes from here"
        assert opened.errors == []
        assert opened.outside() == []


def test_below_a_path_prefix_requests_go_below_it(server: Served, browser: Any) -> None:
    with window(browser) as opened:
        strip = "/ward"  # as a proxy does
        opened.page.route(f"**{strip}/**", lambda r: r.continue_(url=r.request.url.replace(strip, "", 1)))
        page = opened_at(opened, f"{server.url}{strip}/docs")
        assert sent(page, "#operations-health-alive")[0] == "200"
        assert f"{server.url}{strip}/health" in opened.requests
        assert all(url.startswith(f"{server.url}{strip}/") for url in opened.requests)


def test_without_the_package_of_swagger_ui_there_is_no_such_page(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "find_spec", lambda name: None)
    with start().client("") as client:
        assert client.get("/docs").status_code == client.get("/web/swagger-ui.css").status_code == 404
        assert client.get("/").status_code == client.get("/web/js/app.js").status_code == 200
