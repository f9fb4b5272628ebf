"""A search that somebody wrote in PubMed's own language, or as identifiers: run as it stands, never planned (ours).

What is taken for one has a field tag, an operator in capitals between words, a truncated word, or nothing but
identifiers. Its syntax is checked before anything is sent, because PubMed mends a broken query silently.
"""

from __future__ import annotations

import re

from prompts.errors import InputError
from tools.literature.adapt_e.contract import Expression, RungName, SearchPlan
from tools.literature.privacy import clear
from tools.literature.vocabulary import Vocabulary
from tools.mirror.parser import NOT_HELD, parse
from tools.text.tokens import STOP, WORD

TAG = re.compile(r"(?<=[\w\"*)\]])\s?\[\s*([A-Za-z][^\][]{0,40}?)\s*\]")
OPERATOR = re.compile(r"(?:[\w\"*)\]]|^)\s+(?:AND|OR|NOT)(?:\s+[\w\"(#]|\s*$)|\(\s*$")
STAR = re.compile(r"(?<!\S)[\"(]*[A-Za-z][\w-]{2,}\*")
_PMID = r"(?:PMIDs?:?\s*)?\d{5,8}"
PMIDS = re.compile(rf"(?:{_PMID}|PMIDs?:?\s*\d{{1,8}})(?:[\s,;]+{_PMID})*\.?", re.IGNORECASE)
DOI = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:?\s*)?(10\.\d{4,9}/[^\s\"]+)", re.IGNORECASE)
TRIAL = re.compile(r"(?:NCT\d{8}|ISRCTN\d{6,8}|EudraCT\s?\d{4}-\d{6}-\d{2}|CRD\d{8,})", re.IGNORECASE)
BARE = re.compile(r"[\d\s,;.]+")  # numbers that do not say what they are: they may be a patient's
OTHERS = re.compile(  # ours: what only the languages of Ovid and Embase have
    r"\bexp [a-z][a-z ,-]{1,60}/(?=\s*(?:$|\)|(?:and|or|not)\b))|'/(?:exp|de|mj)\b|"
    r"['\")]:(?:ti|ab)(?:,(?:ti|ab|kw))*(?!\w)|"
    r"\b[a-z]{3,40}\.(?:mp|tw|ti|ab|kw|sh|hw)\.(?=\s*(?:$|\)|(?:and|or|not)\b))|\b(?:adj|near/|next/)\d+\b",
    re.IGNORECASE,
)
SIGNS = re.compile(r"\[[^\]]*\]|\b(?:AND|OR|NOT)\b|[\"()*]")
BETWEEN = re.compile(r"\"[^\"]*\"|\b(?:AND|OR|NOT)\b|[()]")  # what stands between runs of words
TAGGED = re.compile(r"\[\s*([^\]]*?)\s*\]")
PERSONS = re.compile(
    r"(?:1|last|f)?au(?:id|thor)?\b.*|ir|ad|cn|ps|.*\bauthor\b.*|affiliation|.*investigator.*", re.IGNORECASE
)
LONG = 3  # ours: words in a row, outside quotes, from which they may be prose
OF_SOMEBODY = frozenset(("mr", "mrs", "ms", "miss", "dr", "pt", "patient"))  # ours: no word of a query
YEAR = re.compile(r"(?:19|20)\d\d")
IN_PUBMEDS = 'Write it in PubMed\'s: "asthma"[mh], budesonide[tiab], "hip pain"[tiab:~2].'
FIELDS = "Fields are PubMed's: [tiab], [ti], [tw], [mh], [majr], [pt], [au], [ta], [la], [dp], [uid] and others."


def typed(text: str) -> SearchPlan | None:
    """The plan that runs a typed search as it stands, None for a question in words.

    Raises:
        InputError: the syntax is broken, or a field is none of PubMed's; says where.
    """
    query = _identifiers(text.strip()) or _expression(text.strip())
    if not query:
        return None
    return SearchPlan(expressions=(Expression(rung=RungName.TYPED, query=query, why="as it was typed"),))


def sent_as_typed(text: str, vocabulary: Vocabulary) -> SearchPlan | None:
    """`typed` for a turn's own text: None, too, where it has a word that may not leave, or a number without its kind.

    Raises:
        InputError: as `typed`.
    """
    plan = typed(text)
    if plan is None or (_identifiers(text.strip()) and not BARE.fullmatch(text.strip())):
        return plan
    return None if any(not YEAR.fullmatch(w) for w in clear(words_of_typed(text), vocabulary).held) else plan


def has_prose(text: str, vocabulary: Vocabulary) -> bool:
    """Whether words of a typed search may be a person's, and no term: "gout AND urate for Mr ... in bed 9".

    They stand in a row of three or more, or with a word that no query has; those of a field of persons are asked for,
    and so are identifiers.
    """
    if _identifiers(text.strip()):
        return False
    runs: list[str] = []
    for part in BETWEEN.split(text):
        pieces = TAGGED.split(part)  # words, their field, words ...
        runs += [w for w, field in zip(pieces[::2], [*pieces[1::2], ""], strict=True) if not PERSONS.fullmatch(field)]
    said = [run for run in runs if len(run.split()) >= LONG or (STOP | OF_SOMEBODY) & set(WORD.findall(run.lower()))]
    return any(not YEAR.fullmatch(w) for run in said for w in clear(run, vocabulary).held)


def words_of_typed(text: str) -> str:
    """A typed search without tags, operators and signs: what records are compared with by meaning."""
    return " ".join(SIGNS.sub(" ", text).split()) or text


def _identifiers(text: str) -> str:
    """The query of a text of nothing but identifiers, "" for another."""
    if PMIDS.fullmatch(text):
        return " OR ".join(f"{pmid}[uid]" for pmid in dict.fromkeys(re.findall(r"\d+", text)))
    if found := DOI.fullmatch(text):
        return f'"{found[1].rstrip(".,;")}"[aid]'
    return f'"{text}"' if TRIAL.fullmatch(text) else ""


def _expression(text: str) -> str:
    """The text where it is an expression, checked; "" for another."""
    if not TAG.search(text) and OTHERS.search(text):
        raise InputError("The search is in Ovid's or Embase's language, which PubMed does not read.", IN_PUBMEDS)
    if not TAG.search(text) and (text.endswith("?") or not (OPERATOR.search(text) or STAR.search(text))):
        return ""
    query = " ".join(text.split())
    if query.count('"') % 2:
        raise InputError("A quotation mark of the search is not closed.", "Close it, or leave it out.")
    # what PubMed has and a mirror has not is refused by the mirror itself, where one is searched
    parsed = parse(TAG.sub(lambda m: "[tw]" if " ".join(m[1].lower().split()) in NOT_HELD else m[0], query))
    unknown = [w.partition(": ")[2] for w in parsed.warnings if w.startswith("FieldNotFound")]
    if unknown:
        raise InputError(f"PubMed has no field {', '.join(unknown)}.", FIELDS)
    return query
