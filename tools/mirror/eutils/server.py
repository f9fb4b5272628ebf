"""The HTTP server of the mirror: GET and POST, on this machine alone unless told otherwise.

It is the standard library's: an E-utility is one request with a form and one answer, there is nothing to stream, and so
a mirror can be served from any installation, on a closed network too, without further packages.
"""

from __future__ import annotations

import json
import math
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit
from xml.etree.ElementTree import Element

from prompts.errors import AnamnesisError, InputError
from tools.literature.replies import SearchResult
from tools.mirror.engine import Mirror, Sort
from tools.mirror.eutils.citation import efetch, epost, esummary
from tools.mirror.eutils.replies import (
    DATABASE,
    HEADER_VERSION,
    History,
    Parameters,
    Reply,
    RequestError,
    as_json,
    bare_error,
    sub,
    xml,
)
from tools.mirror.parser import NAMES, Kind, scan
from tools.mirror.syntax import DATES, Field, QueryError


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

    def __init__(self, mirror: Mirror) -> None:
        self._mirror, self._history = mirror, History()

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


# einfo, elink and espell.

SHORT = {  # NCBI's names of the fields that are held
    Field.ALL: "ALL", Field.TITLE_ABSTRACT: "TIAB", Field.TITLE: "TITL", Field.ABSTRACT: "ABST", Field.TEXT: "WORD",
    Field.KEYWORD: "OTRM", Field.MESH: "MESH", Field.MAJOR: "MAJR", Field.TYPE: "PTYP", Field.PUBLISHED: "PDAT",
    Field.ENTERED: "EDAT", Field.LANGUAGE: "LANG", Field.AUTHOR: "AUTH", Field.JOURNAL: "JOUR", Field.PMID: "UID",
    Field.IDENTIFIER: "AID", Field.SUBSET: "FILT",
}  # fmt: skip
FIELD_TAGS = "Name FullName Description TermCount IsDate IsNumerical SingleToken Hierarchy".split()
LINK = "pubmed_pmc"
DESCRIPTION = "A local copy of PubMed records"


def einfo(mirror: Mirror, parameters: Parameters) -> Reply:
    """The one database, or its state and fields. Numbers of terms are not kept, and given as 0."""
    if not parameters.has("db"):
        return _databases(parameters)
    parameters.database()
    manifest = mirror.manifest()
    state = {
        "dbname": DATABASE, "menuname": "PubMed", "description": DESCRIPTION, "dbbuild": f"Build{manifest.generation}",
        "count": str(manifest.records), "lastupdate": manifest.updated.replace("-", "/").replace("T", " ")[:16],
    }  # fmt: skip
    fields = [_field(field) for field in NAMES]
    if parameters.wants_json:
        link = {"name": LINK, "menu": "PMC", "description": "The same article in PubMed Central", "dbto": "pmc"}
        return as_json("einfo", "einforesult", {"dbinfo": [state | {"fieldlist": fields, "linklist": [link]}]})
    root = Element("eInfoResult")
    info = sub(root, "DbInfo")
    tags = ("DbName", "MenuName", "Description", "DbBuild", "Count", "LastUpdate")
    for tag, text in zip(tags, state.values(), strict=True):
        sub(info, tag, text)
    listed = sub(info, "FieldList")
    for row in fields:
        element = sub(listed, "Field")
        for tag in FIELD_TAGS:
            sub(element, tag, row[tag.lower()])
        sub(element, "IsHidden", "N")
    links = sub(sub(info, "LinkList"), "Link")
    for tag, text in (("Name", LINK), ("Menu", "PMC"), ("Description", "The same article in PMC"), ("DbTo", "pmc")):
        sub(links, tag, text)
    return xml(root)


def elink(mirror: Mirror, parameters: Parameters) -> Reply:
    """PMCIDs of records, a link set for each ``id`` that was given. Other links are an error, never an empty set."""
    parameters.database("dbfrom")
    target, name = parameters.text("db", DATABASE).lower(), parameters.text("linkname", LINK).lower()
    command = parameters.text("cmd", "neighbor").lower()
    if target != "pmc" or name != LINK or command != "neighbor":
        asked = f" {name[:40]}" if parameters.has("linkname") else ""
        raise RequestError(
            f"The link{asked} to {target[:20]} (cmd={command[:20]}) is not held by this mirror",
            "It holds pubmed_pmc: dbfrom=pubmed, db=pmc.",
        )
    groups = parameters.id_groups()
    if not groups:
        raise RequestError("No ids were given", "Give PMIDs as id.")
    records = {r.pmid: r.pmcid for r in mirror.records([i for group in groups for i in group])}
    sets = [(group, [records[i].removeprefix("PMC") for i in group if records.get(i)]) for group in groups]
    return _links_json(sets) if parameters.wants_json else _links_xml(sets)


def espell(mirror: Mirror, parameters: Parameters) -> Reply:
    """The term with the words of the collection in the place of those that it does not have."""
    parameters.database()
    term = parameters.text("term")
    if not term:
        raise RequestError("Empty term", "Give words as term.")
    better = mirror.corrections(term)
    root = Element("eSpellResult")
    sub(root, "Database", DATABASE)
    sub(root, "Query", term)
    corrected = term
    together = Element("SpelledQuery")
    rest = term
    for wrong, right in better.items():
        at = rest.lower().find(wrong)
        if at < 0:  # an accent was taken off: the whole query is given anew
            continue
        sub(together, "Original", rest[:at])
        sub(together, "Replaced", right)
        rest = rest[at + len(wrong) :]
    if len(together):
        if rest:
            sub(together, "Original", rest)
        corrected = "".join(e.text or "" for e in together)
    sub(root, "CorrectedQuery", corrected if corrected != term else "")
    root.append(together)
    sub(root, "ERROR")
    return xml(root)


def _databases(parameters: Parameters) -> Reply:
    if parameters.wants_json:
        return as_json("einfo", "einforesult", {"dblist": [DATABASE]})
    root = Element("eInfoResult")
    sub(sub(root, "DbList"), "DbName", DATABASE)
    return xml(root)


def _field(field: Field) -> dict[str, str]:
    tags = ", ".join(f"[{name}]" for name in NAMES[field].split("|"))
    return {
        "name": SHORT[field], "fullname": field.value, "description": f"Tags: {tags}", "termcount": "0",
        "isdate": "Y" if field in DATES else "N", "isnumerical": "Y" if field is Field.PMID else "N",
        "singletoken": "N", "hierarchy": "Y" if field in (Field.MESH, Field.MAJOR) else "N",
    }  # fmt: skip


def _links_xml(sets: Sequence[tuple[list[str], list[str]]]) -> Reply:
    root = Element("eLinkResult")
    for sources, targets in sets:
        links = sub(root, "LinkSet")
        sub(links, "DbFrom", DATABASE)
        ids = sub(links, "IdList")
        for pmid in sources:
            sub(ids, "Id", pmid)
        if targets:
            database = sub(links, "LinkSetDb")
            sub(database, "DbTo", "pmc")
            sub(database, "LinkName", LINK)
            for target in targets:
                sub(sub(database, "Link"), "Id", target)
    return xml(root)


def _links_json(sets: Sequence[tuple[list[str], list[str]]]) -> Reply:
    rows: list[dict[str, Any]] = []
    for sources, targets in sets:
        row: dict[str, Any] = {"dbfrom": DATABASE, "ids": sources}
        if targets:
            row["linksetdbs"] = [{"dbto": "pmc", "linkname": LINK, "links": targets}]
        rows.append(row)
    return as_json("elink", "linksets", rows)


# esearch: the query with what the parameters add to it, and the answer in XML or JSON.

CEILING = 9_999  # PubMed lists the first 9,999 records of a search (E-utilities manual, ESearch)
LISTED = 20  # the default of retmax (E-utilities manual)
SORTS: dict[str, Sort] = {
    "": "date", "relevance": "relevance", "pub_date": "date", "pub date": "date", "date": "date", "most recent": "date",
    "most+recent": "date", "pub+date": "date",
}  # fmt: skip
DATE_TYPES = {"pdat": "dp", "edat": "edat"}  # the kinds of date that are held
LISTS = (  # of a warning: where it stands in XML, its name there and in JSON
    ("ErrorList", "PhraseNotFound", "phrasesnotfound"), ("ErrorList", "FieldNotFound", "fieldsnotfound"),
    ("WarningList", "PhraseIgnored", "phrasesignored"),
    ("WarningList", "QuotedPhraseNotFound", "quotedphrasesnotfound"),
    ("WarningList", "OutputMessage", "outputmessages"),
)  # fmt: skip


def esearch(mirror: Mirror, history: History, parameters: Parameters) -> Reply:
    """Search. Without ``sort`` the newest come first, as at NCBI.

    Raises:
        RequestError: a parameter that cannot be followed. QueryError: the query cannot be read, or not be answered.
    """
    parameters.database()
    start, asked = parameters.number("retstart", 0), parameters.number("retmax", LISTED)
    if start > CEILING - 1:
        raise RequestError(
            f"'retstart' cannot be larger than {CEILING - 1}",
            f"Only the first {CEILING:,} records of a search are listed; cut it by dates.",
        )
    if parameters.has("query_key"):  # at NCBI it joins the term with a kept search; left out it would find too much
        raise RequestError("query_key is not held for searches by this mirror", "Write the whole search as term.")
    keep = parameters.text("usehistory").lower() == "y"
    counting = parameters.text("rettype").lower() == "count"
    listed = 0 if counting else min(asked, CEILING - start)
    query, sort = _query(parameters), _sort(parameters)
    result = mirror.find(query, CEILING if keep else start + listed, sort=sort)
    place: dict[str, str] = {}
    if keep:
        environment, number = history.put(result.ids, parameters.text("WebEnv"))
        place = {"QueryKey": str(number), "WebEnv": environment}
    shown = result.model_copy(update={"ids": result.ids[start : start + listed]})
    if parameters.wants_json:
        return _json(shown, start, counting, place)
    return _xml(shown, start, counting, place)


def _query(parameters: Parameters) -> str:
    term = parameters.text("term")
    if not term:
        raise RequestError("Empty term and query_key - nothing todo", "Give a query as term.")
    if parameters.has("field"):
        term = _in_field(term, parameters.text("field"))
    dates = _dates(parameters)
    return f"({term}) AND {dates}" if dates else term


def _in_field(term: str, field: str) -> str:
    """Every term that has no tag of its own gets one."""
    if not set(field).isdisjoint('[]"()'):
        raise RequestError(f"Invalid field: {field[:40]}", "Give a name such as title.")
    tokens = scan(term)
    parts: list[str] = []
    for token, following in pairwise(tokens):
        forms = {Kind.QUOTED: f'"{token.text}"', Kind.TAG: f"[{token.text}]"}
        parts.append(forms.get(token.kind, token.text))
        ended = following.kind not in (Kind.WORD, Kind.TAG, Kind.COLON)
        if token.kind is Kind.QUOTED and following.kind is Kind.WORD:
            ended = True
        if token.kind in (Kind.WORD, Kind.QUOTED) and ended:
            parts.append(f"[{field}]")
    return " ".join(parts)


def _dates(parameters: Parameters) -> str:
    low, high = parameters.text("mindate"), parameters.text("maxdate")
    kind = parameters.text("datetype", "pdat").lower()
    if not low and not high and not parameters.has("reldate"):
        return ""
    if kind not in DATE_TYPES:
        raise RequestError(f"The datetype {kind[:20]} is not held by this mirror", "Use pdat or edat.")
    if parameters.has("reldate"):
        return f'"last {parameters.number("reldate", 0)} days"[{DATE_TYPES[kind]}]'
    if not low or not high:
        raise RequestError("mindate and maxdate must be used together", "Give both, or use reldate.")
    if not set(low + high) <= set("0123456789/"):
        raise RequestError("mindate or maxdate is no date", "Write dates as YYYY, YYYY/MM or YYYY/MM/DD.")
    return f"{low}:{high}[{DATE_TYPES[kind]}]"


def _sort(parameters: Parameters) -> Sort:
    asked = parameters.text("sort").lower().replace("_", " ").replace("pub date", "pub_date")
    if asked not in SORTS:
        raise RequestError(f"Unknown sort schema '{asked[:30]}'", "Use relevance or pub_date.")
    return SORTS[asked]


def _warnings(result: SearchResult) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for warning in result.warnings:
        name, _, text = warning.partition(": ")
        found.setdefault(name, []).append(text.strip("[]") if name == "FieldNotFound" else text)
    return found


def _xml(result: SearchResult, start: int, counting: bool, place: dict[str, str]) -> Reply:
    root = Element("eSearchResult")
    sub(root, "Count", result.count)
    if counting:
        return xml(root)
    sub(root, "RetMax", len(result.ids))
    sub(root, "RetStart", start)
    for name, value in place.items():
        sub(root, name, value)
    ids = sub(root, "IdList")
    for pmid in result.ids:
        sub(ids, "Id", pmid)
    sub(root, "TranslationSet")
    sub(root, "QueryTranslation", result.translation)
    found = _warnings(result)
    for group in ("ErrorList", "WarningList"):
        names = [name for owner, name, _ in LISTS if owner == group and name in found]
        if names:
            parent = sub(root, group)
            for name in names:
                for text in found[name]:
                    sub(parent, name, text)
    return xml(root)


def _json(result: SearchResult, start: int, counting: bool, place: dict[str, str]) -> Reply:
    content: dict[str, Any] = {"count": str(result.count)}
    if not counting:
        content |= {"retmax": str(len(result.ids)), "retstart": str(start)}
        content |= {name.lower(): value for name, value in place.items()}
        content |= {"idlist": list(result.ids), "translationset": [], "querytranslation": result.translation}
        found = _warnings(result)
        for group in ("ErrorList", "WarningList"):
            if any(name in found for owner, name, _ in LISTS if owner == group):
                lists = {short: found.get(name, []) for owner, name, short in LISTS if owner == group}
                content[group.lower()] = lists
    return as_json("esearch", "esearchresult", content)


# The server's own counter of requests.

WINDOW = 1.0  # seconds, as NCBI counts


class RateCounter:
    """Allows so many requests in any second, all clients together. Safe in several threads.

    Args:
        most: requests a second; 0 allows all.
        clock: seconds that only grow.
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._times: deque[float] = deque()

    def wait(self) -> float:
        """0 when the request may be answered now; else the seconds after which to ask again."""
        if not self.most:
            return 0.0
        with self._lock:
            now = self._clock()
            while self._times and now - self._times[0] >= WINDOW:
                self._times.popleft()
            if len(self._times) < self.most:
                self._times.append(now)
                return 0.0
            return WINDOW - (now - self._times[0])
