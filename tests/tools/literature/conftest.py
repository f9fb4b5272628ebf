"""A server on this machine that plays the E-utilities, well and badly."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

import pytest

from tools.literature.settings import LiteratureSettings

DOCTYPE = (
    '<?xml version="1.0" ?>\n<!DOCTYPE {0} PUBLIC "-//NLM//DTD {0}//EN" "https://eutils.ncbi.nlm.nih.gov/none.dtd">\n'
)


@dataclass
class Reply:
    """What the server sends. ``cut`` drops the end of the body that the headers promise; ``pause`` in seconds."""

    body: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "text/xml"
    cut: int = 0
    pause: float = 0.0


@dataclass
class Request:
    """What the server was asked."""

    utility: str
    parameters: dict[str, str]
    at: float


class FakeNCBI:
    """Answers from a script first, then well: ``found`` maps a piece of a query to the ids that it finds."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.script: list[Reply] = []
        self.found: dict[str, list[str]] = {}
        self.records: dict[str, str] = {}
        self.url = ""

    def asked(self, utility: str) -> list[Request]:
        return [r for r in self.requests if r.utility == utility]

    def answer(self, request: Request) -> Reply:
        if request.utility == "einfo":
            return Reply("<eInfoResult/>")
        self.requests.append(request)
        if self.script:
            return self.script.pop(0)
        if request.utility == "esearch":
            ids = [i for piece, found in self.found.items() if piece in request.parameters["term"] for i in found]
            return Reply(search_xml(list(dict.fromkeys(ids))[: int(request.parameters["retmax"])]))
        wanted = request.parameters["id"].split(",")
        return Reply(fetch_xml([self.records[i] for i in wanted if i in self.records]))


def search_xml(ids: list[str], warnings: str = "") -> str:
    listed = "".join(f"<Id>{i}</Id>" for i in ids)
    return (
        DOCTYPE.format("eSearchResult")
        + f"<eSearchResult><Count>{len(ids)}</Count><RetMax>20</RetMax><RetStart>0</RetStart><IdList>{listed}</IdList>"
        f"<QueryTranslation>translated</QueryTranslation>{warnings}</eSearchResult>"
    )


def fetch_xml(records: list[str]) -> str:
    return DOCTYPE.format("PubmedArticleSet") + f"<PubmedArticleSet>{''.join(records)}</PubmedArticleSet>"


def record(
    pmid: str,
    title: str = "A trial.",
    abstract: str | None = "It worked.",
    types: tuple[str, ...] = ("Journal Article",),
    references: tuple[str, ...] = (),
    abstract_xml: str = "",
    pub_date: str = "<Year>2020</Year><Month>Mar</Month><Day>7</Day>",
) -> str:
    parts = abstract_xml or (f"<AbstractText>{escape(abstract)}</AbstractText>" if abstract else "")
    listed = "".join(f'<PublicationType UI="D1">{t}</PublicationType>' for t in types)
    corrections = "".join(
        f'<CommentsCorrections RefType="{r}"><RefSource>J</RefSource><PMID>999</PMID></CommentsCorrections>'
        for r in references
    )
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID><Article><Journal><JournalIssue><PubDate>'
        f"{pub_date}</PubDate></JournalIssue><Title>The Journal</Title></Journal><ArticleTitle>{escape(title)}"
        f"</ArticleTitle>{f'<Abstract>{parts}</Abstract>' if parts else ''}<Language>eng</Language>"
        f"<PublicationTypeList>{listed}</PublicationTypeList></Article>"
        f"<CommentsCorrectionsList>{corrections}</CommentsCorrectionsList></MedlineCitation></PubmedArticle>"
    )


def _handler(fake: FakeNCBI) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply(urlsplit(self.path).query)

        def do_POST(self) -> None:
            self._reply(self.rfile.read(int(self.headers["Content-Length"])).decode())

        def _reply(self, query: str) -> None:
            path = urlsplit(self.path).path
            parameters = {k: v[0] for k, v in parse_qs(query, keep_blank_values=True).items()}
            utility = path.rsplit("/", 1)[-1].removesuffix(".fcgi")
            reply = fake.answer(Request(utility, parameters, time.monotonic()))
            time.sleep(reply.pause)
            body = reply.body.encode()
            try:
                self.send_response(reply.status)
                for name, value in {"Content-Type": reply.kind, **reply.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[: len(body) - reply.cut])
            except BrokenPipeError:
                self.close_connection = True

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Handler


@pytest.fixture
def ncbi(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeNCBI]:
    """The server, running."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    fake = FakeNCBI()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(fake))
    server.daemon_threads = True
    fake.url = f"http://127.0.0.1:{server.server_address[1]}/entrez/eutils"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield fake
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def settings_for() -> Callable[..., LiteratureSettings]:
    """Settings that ask a server; the key keeps the tests quick (10 requests a second)."""

    def make(fake: FakeNCBI, **fields: Any) -> LiteratureSettings:
        values = {
            "live": "on",
            "email": "me@example.org",
            "api_key": "secret-key",
            "base_url": fake.url,
            "timeout": 2.0,
        }
        return LiteratureSettings(**(values | fields))

    return make


@pytest.fixture
def xml() -> Any:
    """The makers of answers: ``xml.search``, ``xml.fetch``, ``xml.record``, ``xml.Reply``."""

    class Makers:
        search = staticmethod(search_xml)
        fetch = staticmethod(fetch_xml)
        record = staticmethod(record)
        Reply = Reply

    return Makers
