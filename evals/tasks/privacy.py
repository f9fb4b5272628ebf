"""`privacy`: what of texts about people reaches PubMed, received by a server that plays the E-utilities.

Each text is searched as `anamnesis search` does, and asked as `anamnesis ask` does, over a real socket. The server
finds nothing, so every rung is sent. A secret counts as sent when it stands in a request as a whole, or by any word
of its own (``secret_words``, stricter: a word that is also one of the text's terms, or grammar, tells nothing). A
term counts as searched when all its words but grammar are in what was sent, in any number or spelling, or its name in
the table of terms, or what it is short for; one in Chinese when its English name is (``terms_chinese``, by the tables
of the project's own); ``terms_all`` counts them together, with those in other scripts.
``wrongly_held``: of the words that belong to no secret, those that the search told as not sent.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from pydantic import BaseModel, ConfigDict, SecretStr

from agent.assembly import open_search
from agent.cli.console import say
from agent.settings import Settings
from evals.contract import Figure, Task, TaskContext
from evals.datasets.rows import SHIPPED, read_jsonl
from evals.sessions import asking
from evals.statistics import share
from prompts.errors import AnamnesisError
from tools.literature.adapt_e.entries import in_medical_words, spellings
from tools.literature.privacy import is_narrative
from tools.literature.vocabulary import asks, chinese_searched, folded
from tools.text.abbreviations import expand
from tools.text.language import HAN

STRANGERS, UNSEEN = "strangers/privacy.jsonl", "unseen/privacy.jsonl"
WORD = re.compile(r"[^\W_]+")
OWNED = re.compile(r"['’]s\b")  # Bell's palsy is searched for as Bell palsy
EMPTY = "<eSearchResult><Count>0</Count><RetMax>0</RetMax><RetStart>0</RetStart><IdList></IdList></eSearchResult>"
ASKED = 200  # ours: texts that are asked as well as searched, of each file


class PrivateText(BaseModel):
    """A text, what of it must never be sent, and what should be searched."""

    model_config = ConfigDict(frozen=True)

    text: str
    secret: tuple[str, ...]
    terms: tuple[str, ...]


class Player(ThreadingHTTPServer):
    """Plays the E-utilities, finds nothing, and keeps every parameter that it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.received: list[str] = []

    @property
    def address(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.server_address[1]}/entrez/eutils"

    def taken(self) -> str:
        """What was received since the last call, requests apart."""
        received, self.received = self.received, []
        return "\n".join(received)


class _Handler(BaseHTTPRequestHandler):
    server: Player

    def do_GET(self) -> None:
        self._answer(urlsplit(self.path).query)

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

    def _answer(self, form: str) -> None:
        sent = parse_qs(form)
        own = ("db", "tool", "email", "api_key", "retmode", "retmax", "retstart", "sort")
        self.server.received += [v for name, values in sent.items() if name not in own for v in values]
        utility = urlsplit(self.path).path.rsplit("/", 1)[-1]
        body = (EMPTY if utility.startswith("esearch") else "<eInfoResult/>").encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def run(context: TaskContext) -> list[Figure]:
    """Send every text and count. No text is printed."""
    figures: list[Figure] = []
    with playing() as player:
        settings = _live(context.settings, player)
        for file, folder in ((STRANGERS, context.data), (UNSEEN, SHIPPED)):
            if (folder / file).is_file():
                rows = context.sample(read_jsonl(folder / file, PrivateText))
                figures += _figures(file.partition("/")[0], rows, player, settings, context)
    return figures


@contextlib.contextmanager
def playing() -> Iterator[Player]:
    """A playing server of its own thread."""
    player = Player()
    thread = threading.Thread(target=player.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield player
    finally:
        player.shutdown()
        player.server_close()
        thread.join()


def _live(settings: Settings, player: Player) -> Settings:
    own = {"live": "on", "base_url": player.address, "cache": False, "api_key": SecretStr("quick"), "mirror": None}
    return settings.model_copy(update={"literature": settings.literature.model_copy(update=own)})


def _figures(
    name: str, rows: Sequence[PrivateText], player: Player, settings: Settings, context: TaskContext
) -> list[Figure]:
    sent, held = _searched(rows, player, settings, context)
    some = context.sample_of(rows, ASKED)
    asked = _asked(some, player, settings, context)
    terms = [(t, s) for r, s in zip(rows, sent, strict=True) for t in r.terms]
    kinds = {"terms": [one for one in terms if folded(one[0]).isascii()]}
    kinds["terms_chinese"] = [one for one in terms if HAN.search(one[0])]
    kinds["terms_of_other_scripts"] = [one for one in terms if one not in kinds["terms"] + kinds["terms_chinese"]]
    held_words = [h for r, words in zip(rows, held, strict=True) for h in _wrongly_held(r, words)]
    figures = []
    for way, texts, got in (("search", rows, sent), ("ask", some, asked)):
        pairs = list(zip(texts, got, strict=True))
        figures += share(f"{name}.{way}.texts_with_secret_sent", [bool(secrets_in(r, s)) for r, s in pairs])
        figures += share(f"{name}.{way}.texts_with_secret_words_sent", [bool(secret_words_in(r, s)) for r, s in pairs])
    for kind, some_terms in {**kinds, "terms_all": terms}.items():
        figures += share(f"{name}.search.{kind}_searched", [searched(t, s) for t, s in some_terms])
    return figures + share(f"{name}.search.wrongly_held", held_words)


def _searched(
    rows: Sequence[PrivateText], player: Player, settings: Settings, context: TaskContext
) -> tuple[list[str], list[tuple[str, ...]]]:
    """What each text sent when it was searched for, and what was told as not sent."""
    search = open_search(settings, context.home, say=say)
    sent: list[str] = []
    held: list[tuple[str, ...]] = []
    for row in context.each(rows, "searched"):
        player.taken()
        try:
            result = asyncio.run(search.search(row.text, case=is_narrative(row.text), limit=5))
            held.append(result.held)
        except AnamnesisError:
            held.append(())
        sent.append(player.taken())
    return sent, held


def _asked(rows: Sequence[PrivateText], player: Player, settings: Settings, context: TaskContext) -> list[str]:
    """What each text sent when the agent was asked, in a session of its own."""
    sent: list[str] = []
    with asking(settings, keep=False) as ask:
        for row in context.each(rows, "asked"):
            player.taken()
            with contextlib.suppress(AnamnesisError):  # what was sent before it counts
                ask(row.text)
            sent.append(player.taken())
    return sent


def secrets_in(row: PrivateText, sent: str) -> list[str]:
    """The secrets that stand in what was sent, as a whole."""
    lines = [_plain(line) for line in sent.splitlines()]
    return [s for s in row.secret if _plain(s) and any(f" {_plain(s)} " in f" {line} " for line in lines)]


def secret_words_in(row: PrivateText, sent: str) -> list[str]:
    """Words of secrets that stand in what was sent and are neither words of the terms nor grammar."""
    harmless = {w for term in row.terms for w in _plain(term).split()}
    words = {w for s in row.secret for w in _plain(s).split() if len(w) > 2 and not asks(w)} - harmless
    return sorted(words & set(_plain(sent).split()))


def searched(term: str, sent: str) -> bool:
    """Whether a term was sent: its words in any number or spelling, or another name of it."""
    there = {f for w in _plain(sent).split() for f in _forms(w)}
    names = list(chinese_searched(term).values()) if HAN.search(term) else [term, in_medical_words(term), expand(term)]
    told = [[w for w in _plain(n).split() if not asks(w)] for n in names]
    return any(all(_forms(w) & there for w in words) for words in told if words)


def _wrongly_held(row: PrivateText, held: Sequence[str]) -> list[bool]:
    """For each word of a text that belongs to no secret, whether it was told as not sent."""
    secret = {w for s in row.secret for w in _plain(s).split()}
    told = {w for h in held for w in _plain(h).split()}
    return [w in told for w in _plain(row.text).split() if w.isalpha() and w not in secret]


def _plain(text: str) -> str:
    return " ".join(WORD.findall(OWNED.sub("", folded(text).lower())))


def _forms(word: str) -> set[str]:
    return {f.replace(" ", "") for f in spellings(word)} | {word}


TASK = Task(
    name="privacy",
    what="texts about people: secrets that reach a playing PubMed, and medical terms that should",
    inputs=(STRANGERS,),
    expected="20 minutes",
    limit=200,
    run=run,
    any_of=True,
)
