"""Words as the mirror indexes them: lower case, without diacritics, split at everything that is no letter or digit.

Queries and records pass through the same function, so both agree by construction. There is no stemming: PubMed
matches word forms exactly (PubMed User Guide, "Searching for a phrase" and "PubMed character conversions").
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

WORD = re.compile(r"[^\W_]+")
FOREIGN = re.compile(r"[^\x00-\x7f]+")
# What PubMed ignores in untagged terms: PubMed User Guide, appendix "Stopwords"
STOPWORDS = frozenset(
    "a about again all almost also although always among an and another any are as at be because been before being "
    "between both but by can could did do does done due during each either enough especially etc for found from "
    "further had has have having here how however i if in into is it its itself just kg km made mainly make may mg "
    "might ml mm most mostly must nearly neither no nor obtained of often on our overall perhaps pmid quite rather "
    "really regarding seem seen several should show showed shown shows significantly since so some such than that the "
    "their theirs them then there therefore these they this those through thus to upon various very was we were what "
    "when which while with within without would".split()
)


def words(text: str) -> list[str]:
    """The words of a text, in order."""
    if not text.isascii():
        text = FOREIGN.sub(lambda run: _plain(run[0]), text)
    return WORD.findall(text.lower())


@lru_cache(maxsize=65_536)  # ours: headings, types and journals return in every record
def key(text: str) -> str:
    """A heading, type or name as it is compared: its words with single spaces."""
    return " ".join(words(text))


@lru_cache(maxsize=4096)
def _plain(run: str) -> str:
    """Characters beyond ASCII without what can be taken off: accents, ligatures, width."""
    return "".join(c for c in unicodedata.normalize("NFKD", run) if not unicodedata.combining(c))
