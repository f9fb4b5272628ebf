"""What an E-utility sends back: status, media type, bytes; XML with NCBI's document types, JSON with its header.

Biopython's `Entrez.read` finds the DTD by the doctype line, so these lines are NCBI's own.
"""

from __future__ import annotations

import json
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

from prompts.errors import InputError
from tools.mirror.article_xml import ILLEGAL

# The parameters of a request, read once and checked.
DATABASE = "pubmed"
MOST_IDS = 10_000  # NCBI takes about as many in a POST
ID = re.compile(r"[1-9]\d{0,11}")


class Parameters:
    """What was asked; capitals in names do not count, a repeated one keeps all its values.

    ``tool``, ``email`` and ``api_key`` are accepted and never read, so they reach no log.
    """

    def __init__(self, given: Mapping[str, Sequence[str]]) -> None:
        self._given: dict[str, list[str]] = {}
        for name, values in given.items():
            self._given.setdefault(name.lower(), []).extend(values)

    def text(self, name: str, default: str = "") -> str:
        """The last value, stripped."""
        values = self._given.get(name.lower())
        return values[-1].strip() if values and values[-1].strip() else default

    def number(self, name: str, default: int) -> int:
        """A whole number from 0 on. Raises RequestError."""
        text = self.text(name)
        if not text:
            return default
        if not (text.isascii() and text.isdecimal() and len(text) <= 9):
            raise RequestError(f"Invalid value of {name}: {text[:20]}", f"{name} is a whole number.")
        return int(text)

    def has(self, name: str) -> bool:
        """Whether a value was given."""
        return bool(self.text(name))

    def database(self, name: str = "db") -> None:
        """Raise RequestError unless the database is the one that is held."""
        asked = self.text(name, "" if name == "db" else DATABASE)
        if not asked:
            raise RequestError("Empty db parameter", "Give db=pubmed.")
        if asked.lower() != DATABASE:
            raise RequestError(f"Invalid db name specified: {asked[:40]}", "This mirror holds pubmed alone.")

    def id_groups(self) -> list[list[str]]:
        """The ids, one list for each time that ``id`` was given; what is no id is left out here, see `invalid`."""
        groups = [[i for i in _split(v) if ID.fullmatch(i)] for v in self._given.get("id", ())]
        if sum(map(len, groups)) > MOST_IDS:
            raise RequestError(f"Too many ids: at most {MOST_IDS:,} a request", "Send them in several requests.")
        return [group for group in groups if group]

    def ids(self) -> list[str]:
        """All ids, each once, in order."""
        return list(dict.fromkeys(i for group in self.id_groups() for i in group))

    def invalid(self) -> list[str]:
        """What stands among the ids and is none."""
        return [i for v in self._given.get("id", ()) for i in _split(v) if not ID.fullmatch(i)]

    @property
    def wants_json(self) -> bool:
        """Whether JSON is asked for."""
        return self.text("retmode").lower() == "json"


def _split(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


# The history server: result lists that a client names by WebEnv and query_key.
KEPT = 8 * 3600.0  # seconds; NCBI keeps a history for eight hours without use
ENVIRONMENTS, KEYS = 200, 500  # ours: together with 10,000 ids a key at most about 100 MB in common use


class History:
    """Lists of PMIDs in memory; the least recently used environment goes first. Safe in several threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._environments: OrderedDict[str, tuple[float, list[tuple[str, ...]]]] = OrderedDict()

    def put(self, ids: Sequence[str], environment: str = "") -> tuple[str, int]:
        """Keep a list; returns its environment and key. Raises RequestError for an environment that is not known."""
        with self._lock:
            name, lists = self._open(environment) if environment else (f"ANAM_{secrets.token_hex(12)}", [])
            if len(lists) >= KEYS:
                raise RequestError(f"The history holds {KEYS} lists, no more", "Begin a new one without WebEnv.")
            lists.append(tuple(ids))
            self._environments[name] = (self._clock(), lists)
            self._environments.move_to_end(name)
            while len(self._environments) > ENVIRONMENTS:
                self._environments.popitem(last=False)
            return name, len(lists)

    def get(self, parameters: Parameters) -> tuple[str, ...]:
        """The list that WebEnv and query_key name. Raises RequestError when there is none."""
        key = parameters.number("query_key", 0)
        with self._lock:
            name, lists = self._open(parameters.text("WebEnv"))
            if not 1 <= key <= len(lists):
                raise RequestError("Invalid query_key, or none", "Give the query_key that was sent with the WebEnv.")
            self._environments[name] = (self._clock(), lists)
            self._environments.move_to_end(name)
            return lists[key - 1]

    def _open(self, name: str) -> tuple[str, list[tuple[str, ...]]]:
        used, lists = self._environments.get(name, (float("-inf"), []))
        if self._clock() - used > KEPT:
            self._environments.pop(name, None)
            raise RequestError("Unable to obtain query: the WebEnv is not known", "Search again with usehistory=y.")
        return name, lists


DTDS = {
    "eSearchResult": ("esearch 20060628", "20060628/esearch.dtd"),
    "ePostResult": ("epost 20090526", "20090526/epost.dtd"),
    "eLinkResult": ("elink 20101123", "20101123/elink.dtd"),
    "eInfoResult": ("einfo 20190110", "20190110/einfo.dtd"),
    "eSummaryResult": ("esummary v1 20041029", "20041029/esummary-v1.dtd"),
}
HOST = "https://eutils.ncbi.nlm.nih.gov/eutils/dtd"
OTHER_DTDS = {
    "eSpellResult": (
        "-//NLM//DTD eSpellResult, 23 November 2004//EN", "https://www.ncbi.nlm.nih.gov/entrez/query/DTD/eSpell.dtd",
    ),
    "PubmedArticleSet": (
        "-//NLM//DTD PubMedArticle, 1st January 2025//EN", "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd",
    ),
}  # fmt: skip
HEADER_VERSION = "0.3"  # of NCBI's JSON


class RequestError(InputError):
    """A request that an E-utility does not take; sent as its ERROR."""

    def __init__(self, what: str, advice: str = "") -> None:
        super().__init__(what if what[-1:] in ".!?" or not advice else f"{what}.", advice)


class Reply(NamedTuple):
    """An answer: HTTP status, media type, body."""

    status: int
    media: str
    body: bytes


def xml(root: Element, *, status: int = 200, doctype: bool = True) -> Reply:
    """An XML document with the doctype that its root has at NCBI."""
    kind, address = OTHER_DTDS.get(root.tag, ("", ""))
    if root.tag in DTDS:
        kind, address = f"-//NLM//DTD {DTDS[root.tag][0]}//EN", f"{HOST}/{DTDS[root.tag][1]}"
    line = f'<!DOCTYPE {root.tag} PUBLIC "{kind}" "{address}">\n' if doctype and kind else ""
    head = f'<?xml version="1.0" encoding="UTF-8" ?>\n{line}'
    return Reply(status, "text/xml; charset=UTF-8", head.encode() + tostring(root, encoding="utf-8") + b"\n")


def as_json(kind: str, name: str, content: Any) -> Reply:
    """A JSON object with NCBI's header."""
    value = {"header": {"type": kind, "version": HEADER_VERSION}, name: content}
    return Reply(200, "application/json; charset=UTF-8", json.dumps(value, ensure_ascii=False).encode())


def plain(text: str) -> Reply:
    """Plain text."""
    return Reply(200, "text/plain; charset=UTF-8", text.encode())


def bare_error(status: int, **content: str) -> Reply:
    """NCBI's answer when no utility was reached: a JSON object with ``error``."""
    return Reply(status, "application/json; charset=UTF-8", json.dumps(content).encode())


def sub(parent: Element, tag: str, text: object = "", **attributes: str) -> Element:
    """A child element with text."""
    element = SubElement(parent, tag, {name: ILLEGAL.sub(" ", value) for name, value in attributes.items()})
    element.text = ILLEGAL.sub(" ", str(text))
    return element
