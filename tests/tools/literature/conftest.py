"""A server on this machine that plays the E-utilities, well and badly."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

import pytest

from tools.literature.client import EUtilities
from tools.literature.privacy import repeat
from tools.literature.settings import LiteratureSettings

DOCTYPE = (
    '<?xml version="1.0" ?>\n<!DOCTYPE {0} PUBLIC "-//NLM//DTD {0}//EN" "https://eutils.ncbi.nlm.nih.gov/none.dtd">\n'
)


@dataclass
class Reply:
    """What the server sends, and how badly.

    ``cut`` drops the end of the body that the headers promise; ``pause`` are seconds before the headers, ``stall``
    seconds in the middle of the body; ``announced`` is whether there is a Content-Length; ``reset`` breaks the
    connection in place of an answer.
    """

    body: str | bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "text/xml"
    cut: int = 0
    pause: float = 0.0
    stall: float = 0.0
    announced: bool = True
    reset: bool = False


@dataclass
class Request:
    """What the server was asked."""

    utility: str
    parameters: dict[str, str]
    at: float
    method: str = "GET"
    all_ids: tuple[str, ...] = ()


class FakeNCBI:
    """Answers from a script first, then well: ``found`` maps a piece of a query to the ids that it finds, ``links``
    a PMID to its PMC number, ``texts`` a PMC number to its JATS article."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.script: list[Reply] = []
        self.found: dict[str, list[str]] = {}
        self.records: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.url = ""

    def asked(self, utility: str) -> list[Request]:
        return [r for r in self.requests if r.utility == utility]

    def answer(self, request: Request) -> Reply:
        if request.utility == "einfo":
            return Reply("<eInfoResult/>")
        self.requests.append(request)
        if self.script:
            return self.script.pop(0)
        return getattr(self, f"_{request.utility}")(request)

    def _esearch(self, request: Request) -> Reply:
        ids = [i for piece, found in self.found.items() if piece in request.parameters["term"] for i in found]
        ids = list(dict.fromkeys(ids))
        start = int(request.parameters.get("retstart", 0))
        return Reply(search_xml(ids[start : start + int(request.parameters["retmax"])], count=len(ids)))

    def _efetch(self, request: Request) -> Reply:
        wanted = request.parameters["id"].split(",")
        if request.parameters["db"] == "pmc":
            articles = "".join(self.texts[i] for i in wanted if i in self.texts)
            return Reply(f"<pmc-articleset>{articles}</pmc-articleset>")
        return Reply(fetch_xml([self.records[i] for i in wanted if i in self.records]))

    def _elink(self, request: Request) -> Reply:
        sets = [
            f"<LinkSet><DbFrom>pubmed</DbFrom><IdList><Id>{i}</Id></IdList>"
            + (
                f"<LinkSetDb><DbTo>pmc</DbTo><LinkName>pubmed_pmc</LinkName><Link><Id>{self.links[i]}</Id></Link>"
                "</LinkSetDb>"
                if i in self.links
                else ""
            )
            + "</LinkSet>"
            for i in request.all_ids
        ]
        return Reply(f"<eLinkResult>{''.join(sets)}</eLinkResult>")


def search_xml(ids: list[str], warnings: str = "", count: int | None = None) -> str:
    listed = "".join(f"<Id>{i}</Id>" for i in ids)
    counted = len(ids) if count is None else count
    return (
        DOCTYPE.format("eSearchResult")
        + f"<eSearchResult><Count>{counted}</Count><RetMax>20</RetMax><RetStart>0</RetStart><IdList>{listed}</IdList>"
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
            self._reply(urlsplit(self.path).query, "GET")

        def do_POST(self) -> None:
            self._reply(self.rfile.read(int(self.headers["Content-Length"])).decode(), "POST")

        def _reply(self, query: str, method: str) -> None:
            path = urlsplit(self.path).path
            given = parse_qs(query, keep_blank_values=True)
            utility = path.rsplit("/", 1)[-1].removesuffix(".fcgi")
            parameters = {k: v[0] for k, v in given.items()}
            request = Request(utility, parameters, time.monotonic(), method, tuple(given.get("id", ())))
            reply = fake.answer(request)
            time.sleep(reply.pause)
            self.close_connection = True
            if reply.reset:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            try:
                self._send(reply)
            except (BrokenPipeError, ConnectionResetError):
                return

        def _send(self, reply: Reply) -> None:
            body = reply.body if isinstance(reply.body, bytes) else reply.body.encode()
            self.send_response(reply.status)
            for name, value in {"Content-Type": reply.kind, **reply.headers}.items():
                self.send_header(name, value)
            if reply.announced:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            body = body[: len(body) - reply.cut]
            half = len(body) // 2 if reply.stall else 0
            self.wfile.write(body[:half])
            self.wfile.flush()
            time.sleep(reply.stall)
            self.wfile.write(body[half:])

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Handler


@pytest.fixture(autouse=True)
def fresh_turn() -> None:
    """No test begins with the words that an earlier one held."""
    repeat(())


@pytest.fixture
def ncbi() -> Iterator[FakeNCBI]:
    """The server, running."""
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


class Unhurried:
    """A limiter that lets everybody start at once, and notes the pauses that a server asked for."""

    alone = False

    def __init__(self) -> None:
        self.holds: list[float] = []

    def reserve(self) -> float:
        return time.monotonic()

    def stands(self, start: float) -> bool:
        return True

    def hold(self, seconds: float) -> None:
        self.holds.append(seconds)


class QuickClient(EUtilities):
    """The client without its waiting: ``waits`` are the pauses before another try, ``holds`` those for every caller."""

    def __init__(self, settings: LiteratureSettings) -> None:
        self.waits: list[float] = []

        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)

        super().__init__(settings, sleep)
        self.calls.limiter = limiter = Unhurried()
        self.holds = limiter.holds


@pytest.fixture
def quick(settings_for: Callable[..., LiteratureSettings]) -> Callable[..., QuickClient]:
    """Makes clients of a server that do not wait."""
    return lambda fake, **fields: QuickClient(settings_for(fake, **fields))


@pytest.fixture
def xml() -> Any:
    """The makers of answers: ``xml.search``, ``xml.fetch``, ``xml.record``, ``xml.Reply``."""

    class Makers:
        search = staticmethod(search_xml)
        fetch = staticmethod(fetch_xml)
        record = staticmethod(record)
        Reply = Reply

    return Makers
