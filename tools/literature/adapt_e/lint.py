"""Every expression is parsed and linted before it is sent, by `search-query`, which knows PubMed's syntax."""

from __future__ import annotations

import re
from typing import NamedTuple

MEANT = frozenset({"QUALITY_0002", "QUALITY_0004", "FIELD_0004", "PUBMED_0002"})
# ours: remarks on style that our rungs mean so: dates stand outside, tags are left to PubMed
UNBALANCED = re.compile(r"^[\s)]+|[\s(]+$")
DANGLING = re.compile(r"^\s*(?:AND|OR|NOT)\b|(?<=\()\s*(?:AND|OR|NOT)\b|\b(?:AND|OR|NOT)\s*(?=\)|$)|\(\s*\)")
LOOSE = (
    3  # ours: layers of brackets and operators that are taken away; a query more broken than that is made of its words
)
TAG = re.compile(r"\[[^\]]*\]")


class Verdict(NamedTuple):
    """What the lint says: whether the query can be sent, and its remarks (code and label), fatal ones first."""

    good: bool
    remarks: tuple[str, ...]


def lint(query: str) -> Verdict:
    """Parse a query as PubMed would and collect what is wrong with it."""
    if not query.strip():
        return Verdict(good=False, remarks=("empty query",))
    from search_query.exception import QuerySyntaxError
    from search_query.pubmed.parser import PubmedParser

    parser = PubmedParser(query, field_general="", silent=True)
    # A remark on style whose search for common parts takes minutes on a dozen pairs.
    parser.linter._check_for_opportunities_to_combine_subqueries = lambda *_: None
    try:
        parser.parse()
    except QuerySyntaxError:
        good = False
    except (IndexError, KeyError, ValueError, TypeError, AttributeError):  # its parser trips over some broken queries
        return Verdict(good=False, remarks=("cannot be parsed",))
    else:
        good = True
    found = [m for m in parser.linter.messages if m["is_fatal"] or m["code"] not in MEANT]
    found.sort(key=lambda m: not m["is_fatal"])
    return Verdict(good=good, remarks=tuple(dict.fromkeys(f"{m['code']} {m['label']}" for m in found)))


def mended(query: str) -> str | None:
    """A query that can be sent out of one that cannot: unknown tags and loose brackets and operators are taken out.

    None when nothing helps.
    """
    for attempt in (
        _balanced(query),
        TAG.sub("", _balanced(query)),
        " ".join(re.findall(r"[\w'’-]+", TAG.sub("", query))),
    ):
        words = [w for w in re.findall(r"[\w'’-]+", attempt) if w not in ("AND", "OR", "NOT")]
        if words and attempt != query and lint(attempt).good:
            return attempt
    return None


def _balanced(query: str) -> str:
    out, depth = "", 0
    for character in UNBALANCED.sub("", query):
        if character == ")" and depth == 0:
            continue
        depth += {"(": 1, ")": -1}.get(character, 0)
        out += character
    out += ")" * depth
    for _ in range(LOOSE):
        out = DANGLING.sub("", out).strip()
    return out
