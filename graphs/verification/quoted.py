"""Whether the quotes of a statement support it, and quotes put right: what a verifier and an answerer both hold to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from graphs.judging.key_terms import Synonyms, mentions
from graphs.judging.relevance import Relevance
from graphs.verification.support import SupportSettings, check
from tools.encoders import Encoder
from tools.evidence import Citation, Evidence, Statement, cite, verify_citation
from tools.text.sentences import sentences
from tools.text.tokens import tokens

Says = Callable[[str, Sequence[str]], bool]
"""Whether sentences say what a statement says, whatever their words."""
TRIED = 2  # ours: sentences of the cited evidence that a mended statement may be quoted from


class QuoteCheck:
    """Checks statements against what they cite.

    Args:
        encoder: for a statement in other words than its quotes.
        says: whether sentences say what a statement says, asked where its words alone tell otherwise; by default no.
        diseases: the names of diseases in a text, with their other names; by default none is known.
    """

    def __init__(
        self,
        encoder: Encoder,
        settings: SupportSettings | None = None,
        says: Says = lambda _text, _quotes: False,
        diseases: Synonyms = lambda _text: {},
    ) -> None:
        self._relevance, self._says, self._diseases = Relevance(encoder), says, diseases
        self._settings = settings or SupportSettings()

    def kept(
        self, statement: Statement, known: Mapping[str, Evidence], told: str = "", asked: str = ""
    ) -> Statement | None:
        """The statement as it stands or with its quotes put right, None when nothing that it cites supports it."""
        placed = exact(statement, known)
        if placed is not None and not self.fault(placed, known, told=told, asked=asked):
            return placed
        mended = requoted(statement, known)
        if mended is None or self.fault(mended, known, guessed=True, told=told, asked=asked):
            return None
        return mended

    def fault(
        self,
        statement: Statement,
        known: Mapping[str, Evidence],
        *,
        guessed: bool = False,
        told: str = "",
        asked: str = "",
    ) -> str:
        """What its quotes do not bear out: ``numbers``, ``negation``, ``medicine``, ``disease``, ``strength``,
        ``words``; "" when they support it.

        ``guessed`` quotes were chosen by their words, so that sharing most of these proves nothing: they must hold
        nearly all. ``told``: the case, whose words a statement may repeat. ``asked``: the message,
        whose figures it may.
        """
        cited = [known[i] for i in dict.fromkeys(c.evidence_id for c in statement.citations)]
        found = check(statement, cited, told, asked)
        if found.quoted or found.unread or (found.disagrees and not found.worded):
            return found.disagrees
        if self._other_disease(statement, cited, f"{told} {asked}"):
            return "disease"
        fault = found.disagrees or self._strange(statement, found.share, guessed=guessed)
        own = self._settings
        worded = not guessed and own.said <= found.share and not (found.disagrees and found.share >= own.guessed)
        return "" if fault and worded and self._says(statement.text, [c.quote for c in statement.citations]) else fault

    def _other_disease(self, statement: Statement, cited: Sequence[Evidence], told: str) -> bool:
        """Whether a statement names a disease that neither its quotes and titles nor what was told name, and none of
        those that they do."""
        named = self._diseases(statement.text)
        source = " ".join([*(e.title for e in cited), *(c.quote for c in statement.citations)])
        strange = [m for m, names in named.items() if not everyday(m, names) and not _any(f"{source} {told}", m, names)]
        theirs = {m: names for m, names in self._diseases(source).items() if not everyday(m, names)} if strange else {}
        return bool(theirs) and not any(_any(statement.text, m, names) for m, names in theirs.items())

    def _strange(self, statement: Statement, share: float, *, guessed: bool) -> str:
        """Whether a statement is too far from its quotes, by the share of its words that they hold and by meaning."""
        own = self._settings
        outright = share >= (own.guessed if guessed else own.words)
        if not outright and (guessed or share < own.least):
            return "words"
        dense = self._relevance.score([statement.text], [" ".join(c.quote for c in statement.citations)]).dense
        least = own.nearly if share >= own.guessed else own.near if outright else own.dense
        return "" if float(dense[0, 0]) >= least else "words"


def everyday(written: str, names: Sequence[str]) -> bool:
    """Whether what is written like a disease's name is an everyday word: "all" for ALL, "as" for AS, "the change"."""
    return written.islower() and (written.startswith("the ") or written.upper() in names)


def _any(text: str, written: str, names: Sequence[str]) -> bool:
    """Whether a text holds one of a thing's names."""
    return any(mentions(text, name) for name in (written, *names))


def exact(statement: Statement, known: Mapping[str, Evidence]) -> Statement | None:
    """The statement with each citation exact: a quote found elsewhere in its evidence is moved there; else None."""
    citations = [_placed(c, known.get(c.evidence_id)) for c in statement.citations]
    placed = tuple(c for c in citations if c is not None)
    if len(placed) < len(citations):
        return None
    return statement if placed == statement.citations else statement.model_copy(update={"citations": placed})


def requoted(statement: Statement, known: Mapping[str, Evidence]) -> Statement | None:
    """The statement quoted anew from the evidence that it cites; None when no sentence there shares a word."""
    items = [known[i] for i in dict.fromkeys(c.evidence_id for c in statement.citations) if i in known]
    citations = best_citations(statement.text, items)
    return statement.model_copy(update={"citations": citations}) if citations else None


def best_citations(text: str, items: Sequence[Evidence]) -> tuple[Citation, ...]:
    """The sentences of pieces of evidence that hold most of a text's words, best first; none without a shared word."""
    best = [pair for item in items if item.citable for pair in best_quotes(text, item)]
    best.sort(key=lambda pair: (-pair[0], pair[1].evidence_id, pair[1].start))
    return tuple(citation for share, citation in best[:TRIED] if share > 0)


def best_quotes(text: str, item: Evidence) -> list[tuple[float, Citation]]:
    """Sentences of a piece of evidence with the share of the text's words that each holds."""
    wanted = set(tokens(text))
    spans = sentences(item.text)
    shares = [len(wanted & set(tokens(s.of(item.text)))) / max(len(wanted), 1) for s in spans]
    return [(share, cite(item, s.start, s.end)) for share, s in zip(shares, spans, strict=True)]


def _placed(citation: Citation, item: Evidence | None) -> Citation | None:
    if item is None or not item.citable:
        return None
    if verify_citation(citation, item):
        return citation
    at = item.text.find(citation.quote)
    return cite(item, at, at + len(citation.quote)) if at >= 0 else None
