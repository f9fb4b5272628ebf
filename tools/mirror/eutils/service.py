"""The E-utilities over one mirror: a utility's name and parameters in, an answer out; no HTTP here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element

from prompts.errors import AnamnesisError
from tools.mirror.engine import Mirror
from tools.mirror.eutils.history import History
from tools.mirror.eutils.information import einfo, elink, espell
from tools.mirror.eutils.parameters import Parameters
from tools.mirror.eutils.records import efetch, epost, esummary
from tools.mirror.eutils.replies import HEADER_VERSION, Reply, RequestError, bare_error, sub, xml
from tools.mirror.eutils.search import esearch
from tools.mirror.syntax import QueryError


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
