"""The HTTP server of the mirror: GET and POST, on this machine alone unless told otherwise.

It is the standard library's: an E-utility is one request with a form and one answer, there is nothing to stream, and so
a mirror can be served from any installation, on a closed network too, without further packages.
"""

from __future__ import annotations

import json
import math
import socket
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit
from xml.etree.ElementTree import Element

from prompts.errors import AnamnesisError, InputError
from tools.mirror.engine import Mirror
from tools.mirror.eutils.information import einfo, elink, espell
from tools.mirror.eutils.rate import RateCounter
from tools.mirror.eutils.records import efetch, epost, esummary
from tools.mirror.eutils.replies import HEADER_VERSION, History, Parameters, Reply, RequestError, bare_error, sub, xml
from tools.mirror.eutils.search import esearch
from tools.mirror.syntax import QueryError


# The E-utilities over one mirror: a utility's name and parameters in, an answer out; no HTTP here.
class Utility(NamedTuple):
    """Where a utility's errors stand: the root of its XML, and its object in JSON ("" for none)."""

    root: str
    json_name: str = ""


UTILITIES = {
    "esearch": Utility("eSearchResult", "esearchresult"),
    "esummary": Utility("eSummaryResult"),
    "efetch": Utility("eFetchResult"),
    "epost": Utility("ePostResult"),
    "elink": Utility("eLinkResult"),
    "espell": Utility("eSpellResult"),
    "einfo": Utility("eInfoResult", "einforesult"),
}
REFUSED, BAD, FAILED = 200, 400, 500  # HTTP: a query that cannot be read is answered, as at NCBI, with 200 and ERROR


class EUtilitiesService:
    """Answers requests. Safe in several threads, as the mirror and the history are."""

    def __init__(self, mirror: Mirror, history: History | None = None) -> None:
        self._mirror, self._history = mirror, history or History()

    def answer(self, name: str, given: Mapping[str, Sequence[str]]) -> Reply:
        """The answer of a utility; whatever is wrong is an answer too, in NCBI's shape."""
        if name not in UTILITIES:
            return bare_error(404, error=f"There is no utility {name[:20]!r}; these are there: {', '.join(UTILITIES)}.")
        parameters = Parameters(given)
        try:
            return self._answer(name, parameters)
        except QueryError as error:
            return _error(name, str(error), REFUSED, parameters)
        except RequestError as error:
            return _error(name, str(error), BAD, parameters)
        except AnamnesisError as error:
            return _error(name, f"Search Backend failed: {error}", FAILED, parameters)

    def _answer(self, name: str, parameters: Parameters) -> Reply:
        mirror, history = self._mirror, self._history
        if name == "esearch":
            return esearch(mirror, history, parameters)
        if name == "esummary":
            return esummary(mirror, history, parameters)
        if name == "efetch":
            return efetch(mirror, history, parameters)
        if name == "epost":
            return epost(history, parameters)
        return {"elink": elink, "espell": espell, "einfo": einfo}[name](mirror, parameters)


def _error(name: str, message: str, status: int, parameters: Parameters) -> Reply:
    utility = UTILITIES[name]
    if parameters.wants_json:
        value: dict[str, object] = {"error": message}
        if utility.json_name:
            header = {"type": name, "version": HEADER_VERSION}
            value = {"header": header, utility.json_name: {"ERROR": message}}
        return Reply(status, "application/json; charset=UTF-8", json.dumps(value).encode())
    root = Element(utility.root)
    if name == "espell":  # its DTD asks for the other elements as well
        for tag in ("Database", "Query", "CorrectedQuery", "SpelledQuery"):
            sub(root, tag)
    sub(root, "ERROR", message)
    return xml(root, status=status)


HOST, PORT = "127.0.0.1", 8765  # ours: loopback; a port that no common service has
RATE = 100  # ours: requests a second; far above a person's, below what hurts a small machine
LARGEST = 2_000_000  # ours: bytes of a form; 10,000 ids have 100,000
LENGTH_DIGITS = 20  # ours: more than the length of any form has; int refuses thousands of digits
IDLE = 60.0  # ours: seconds after which a silent connection is closed
PREFIX = "/entrez/eutils/"  # NCBI's path; the bare name of a utility is taken too
FIELDS = 10_000  # ours: parameters of a request


class MirrorServer(ThreadingHTTPServer):
    """Serves a mirror; `serve_forever` answers until `shutdown`.

    Args:
        host, port: where to listen; port 0 chooses a free one (see `address`).
        rate: requests a second, all clients together; 0 for no limit.

    Raises:
        InputError: nobody can listen there.
    """

    daemon_threads = True
    request_queue_size = 128  # ours: connections that may wait

    def __init__(self, mirror: Mirror, host: str = HOST, port: int = PORT, rate: int = RATE) -> None:
        self.service, self.counter = EUtilitiesService(mirror), RateCounter(rate)
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            what = f"The server cannot listen on {host}:{port} ({error.strerror or error})."
            raise InputError(what, "Choose another --port, or stop what listens there.") from error

    @property
    def address(self) -> str:
        """The base URL for clients."""
        host, port = self.server_address[:2]
        name = f"[{host!s}]" if self.address_family == socket.AF_INET6 else str(host)
        return f"http://{name}:{port}{PREFIX.rstrip('/')}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error of ours."""


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: MirrorServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "anamnesis-mirror", ""
    timeout = IDLE
    wbufsize = -1  # one packet for head and body
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Answer a GET."""
        self._answer(urlsplit(self.path).query)

    def do_HEAD(self) -> None:
        """Answer as GET, without the body."""
        self.do_GET()

    def do_POST(self) -> None:
        """Answer a POST with a form; parameters of the address count too."""
        text = self.headers.get("Content-Length") or ""
        if not text.isdecimal():
            self.close_connection = True
            self._send(bare_error(411, error="The length of the form is not given."))
            return
        if len(text) > LENGTH_DIGITS or int(text) > LARGEST:
            self.close_connection = True
            self._send(bare_error(413, error=f"The form has more than {LARGEST:,} bytes."))
            return
        form = self.rfile.read(int(text)).decode("utf-8", "replace")
        self._answer("&".join(filter(None, (urlsplit(self.path).query, form))))

    def _answer(self, form: str) -> None:
        wait = self.server.counter.wait()
        if wait:
            client = str(self.client_address[0])
            most = str(self.server.counter.most)
            reply = bare_error(429, **{"error": "API rate limit exceeded", "api-key": client, "limit": most})
            self._send(reply, **{"Retry-After": str(math.ceil(wait)), "X-RateLimit-Limit": most})
            return
        try:
            given = parse_qs(form, keep_blank_values=True, max_num_fields=FIELDS)
        except ValueError:
            self._send(bare_error(400, error=f"The request has more than {FIELDS:,} parameters."))
            return
        self._send(self.server.service.answer(_utility(self.path), given))

    def _send(self, reply: Reply, **headers: str) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.media)
        self.send_header("Content-Length", str(len(reply.body)))
        for name, value in headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged: requests hold search terms, addresses and keys."""


def _utility(path: str) -> str:
    """``esearch`` of ``/entrez/eutils/esearch.fcgi``."""
    return urlsplit(path).path.removeprefix(PREFIX).strip("/").removesuffix(".fcgi")
