"""A model's statements held to what was given: labels known, code puts the quotes in, the text supported by them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from graphs.answering.figures import DOSE
from graphs.answering.sources import Sources
from graphs.judging.key_terms import GENERAL, KeyTerms, Synonyms, has_form, mentions
from graphs.judging.orders import speaks_to_machines
from graphs.verification.absence import says_absent, without_absence
from graphs.verification.quoted import QuoteCheck, best_citations, everyday
from graphs.verification.support import JUDGING, frame_words, in_another_language
from prompts.answer import FAULTS, StatementReply
from prompts.shown import one_line
from tools.evidence import Citation, Evidence, Origin, Statement
from tools.medicines.names import medicines_in, other_names
from tools.text.language import HAN
from tools.text.references import references_in
from tools.text.sentences import sentences
from tools.text.tokens import tokens

LONGEST = 700  # ours: characters of a statement, of which whole sentences are taken
CITES = 10  # ours: sentences that a statement cites
# faults of words alone, of which a model is not asked: our check knows what is said by its words, and of a case it
# takes what the patient lacks for a denial of the source
BELIEVED = frozenset({"words", "strength"})
BELIEVED_OF_A_CASE = BELIEVED | {"quote", "negation"}
# "The timing fits": no seizures. Ours.
VERB = re.compile(
    r"\b(?!(?:an?|the|of|for|by|like|as|no|or|and|with|without|have|has|had|having|causes?|from|febrile|epileptic|more"
    r"|first|recurrent|repeated|absence|faints?|fever|two|three|four|several|some|many|few|such|his|her|new|any)\b)"
    r"[a-z]+ fits?"
    r"(?=[,.;:]|$| (?:the|this|that|it|here|well|best|with|an?)\b| (?-i:[A-Z]{2}))",
    re.IGNORECASE,
)
LATIN_NAME = re.compile(r"[A-Z][A-Za-z]{3,}(?:[ -][A-Z][A-Za-z]+)*")  # Mallory-Weiss综合征, in an English source
WITHHELD = frozenset({"empty", "order", "reference", "background"})  # faults of which a reader is not shown the text
# Labels behind a model's words, as it was shown them or with their name; a bare (12) may be a figure.
NUMBER = r"B?\d{1,3}(?:\.\d{1,4})?"
NUMBERS = rf"{NUMBER}(?:\s*[,;–-]\s*{NUMBER})*"
LABELS = re.compile(
    rf"\s*(?:\[(?:documents?\s*)?{NUMBERS}\]|\((?:documents?|background|sentences?)\s*{NUMBERS}\))"
    r"(?=\s*(?:[.;,。；，]|$))",
    re.IGNORECASE,
)


class Fault(ValueError):  # noqa: N818  it never leaves the room
    """Why a statement cannot stand: a code of `prompts.answer.FAULTS`, and its detail."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(FAULTS[code].format(detail=detail))
        self.code, self.detail = code, detail


class Claim(NamedTuple):
    """A statement of a reply.

    Attributes:
        told: the case, whose words and figures it may repeat beside those that it cites, "" for none.
        names: other diagnoses of the case, with which it may compare.
        about: by its names the diagnosis that it is about: something that it cites must be about it too.
        own: that diagnosis is the model's own, so that it may stand on nothing, and is then parametric; what it cites
            needs a word of its name alone.
        weighs: it is of an answer to a case, which weighs what the case tells against what sources say.
    """

    reply: StatementReply
    told: str = ""
    names: str = ""
    about: tuple[str, ...] = ()
    own: bool = False
    weighs: bool = False


@dataclass(frozen=True)
class Stated:
    """A statement that stands, and the generated background that it rests on where it is parametric."""

    statement: Statement
    generated: tuple[str, ...] = ()


class ProseReader:
    """Reads the statements of a reply.

    Args:
        check: whether quotes support a statement.
        terms, diseases: the names in a text, and those of diseases with their other names.
    """

    def __init__(self, check: QuoteCheck, terms: KeyTerms, diseases: Synonyms = lambda _text: {}) -> None:
        self._check, self._terms, self._diseases = check, terms, diseases

    def read(self, claim: Claim, sources: Sources, asked: str = "") -> Stated:
        """The statement with exact citations of the documents; raises Fault with what is wrong with it.

        Where what it cites does not bear it out, the sentence of these documents that holds nearly all of its words
        takes the place: a small model errs in numbers. ``asked``: what the asker told, whose figures it may repeat.
        """
        said = claim.reply
        text = plain_text(said.text)
        if not text or speaks_to_machines(text):
            raise Fault("order" if text else "empty")
        if says_absent(text):  # no sentence says it, whatever is cited
            return Stated(parametric(text))
        cites = said.cites[:CITES]
        cited = [c for c in map(sources.citation, cites) if c is not None and not speaks_to_machines(c.quote)]
        fault: Fault | None = None
        if cited:
            try:
                return self._stated(text, cited, sources, claim, asked, guessed=False)
            except Fault as found:
                fault = found
        named = [d for d in map(sources.document, cites) if d is not None]
        nearest = [c for c in best_citations(text, named)[:1] if c not in cited and not speaks_to_machines(c.quote)]
        try:
            if nearest:
                return self._stated(text, nearest, sources, claim, asked, guessed=True)
            return self._parametric(text, claim, sources)
        except Fault as found:
            raise fault or found from None

    def _stated(
        self, text: str, cited: Sequence[Citation], sources: Sources, claim: Claim, asked: str, *, guessed: bool
    ) -> Stated:
        """The statement on these quotes, when they bear it out. ``guessed``: not those that the model cites."""
        known = {e.id: e for e in sources.documents}
        citations = tuple(dict.fromkeys(cited))
        items = [known[i] for i in dict.fromkeys(c.evidence_id for c in citations)]
        self._check_words(text, items, [c.quote for c in citations], claim)
        statement = Statement(text=text, origin=items[0].origin, citations=citations)
        told = f"{claim.told}\n{claim.names}".strip()
        fault = self._check.fault(statement, known, guessed=guessed, told=told, asked=asked)
        if fault:
            raise Fault("quote" if guessed else fault)
        return Stated(statement)

    def _parametric(self, text: str, claim: Claim, sources: Sources) -> Stated:
        """A statement on background alone, where the policy allows it, or on the model's own diagnosis; else the
        fault."""
        cites = claim.reply.cites
        background = [e for e in map(sources.generated, cites) if e is not None]
        if background and sources.policy == "allowed":
            self._check_words(text, background, [e.text for e in background], claim)
            ids = tuple(dict.fromkeys(e.id for e in background))
            return Stated(Statement(text=text, origin=Origin.PARAMETRIC), ids)
        if background:
            raise Fault("background")
        strange = [label for label in cites if sources.document(label) is None]
        if strange:
            raise Fault("unknown", strange[0])
        if cites or not claim.own:
            raise Fault("quote" if cites else "uncited")
        return Stated(parametric(text))

    def _check_words(self, text: str, cited: Sequence[Evidence], quotes: Sequence[str], claim: Claim) -> None:
        """No publication, no medicine and no disease that neither what is cited nor the case names; no finding outside
        the quotes and the case."""
        text, body = without_absence(text), " ".join(f"{e.title}. {e.text}" for e in cited)
        about = [n for name in claim.about for n in (name, *(LATIN_NAME.findall(name) if HAN.search(name) else ()))]
        words = {w for name in about for w in tokens(name)} - GENERAL if claim.own else set[str]()
        of_it = any(mentions(body, name) for name in about) or bool(words & set(tokens(body)))
        if about and not of_it and not (claim.own and in_another_language(text, quotes)):
            raise Fault("names", claim.about[0])
        strange = [r for r in references_in(text) if r.lower() not in body.lower()]
        if strange:
            raise Fault("reference", ", ".join(strange))
        body = " ".join([body, claim.told, claim.names, *claim.about])
        named = [(m, *names) for m, names in other_names(text).items()]
        if in_another_language(text, quotes):  # only a medicine's names are known in both
            missing = [group[0] for group in named if not any(mentions(body, name) for name in group)]
            if missing:
                raise Fault("names", ", ".join(missing))
            return
        diseases = self._diseases(text)
        named += [(m, *names) for m, names in diseases.items() if not everyday(m, names)]
        judging = JUDGING if claim.told or VERB.search(text) else frozenset()  # "fits" is a word for seizures too
        named = [group for group in named if not judging.issuperset(tokens(group[0]))]
        missing = [group[0] for group in named if not any(mentions(body, name) for name in group)]
        missing += self._terms.uncovered(text, [body])
        told = [*(e.title for e in cited), *quotes, claim.told, claim.names, *claim.about]
        missing += self._unquoted(text, {*diseases, *(m for m, *_ in named)}, " ".join(told))
        if missing:
            raise Fault("names", ", ".join(dict.fromkeys(missing)))

    def _unquoted(self, text: str, checked: Collection[str], body: str) -> list[str]:
        """Findings that a statement names and its quotes do not: by no name, by no word of it, and by no other form of
        the word (pregnant, pregnancy). ``checked``: diseases and medicines, which were held to all their names."""
        held = set(tokens(body)) | frame_words(text)
        findings = [s for s in self._terms.subjects(text) if s[0] not in checked]
        missing = [s[0] for s in findings if not set(tokens(s[0])) & held and not any(mentions(body, n) for n in s)]
        return [name for name in missing if not has_form(body, name)]


def parametric(text: str) -> Statement:
    """A statement of the model's own; raises Fault where it names a publication, which nobody looked up."""
    named = references_in(text)
    if named:
        raise Fault("reference", ", ".join(named))
    return Statement(text=text, origin=Origin.PARAMETRIC)


def believed(claim: Claim, fault: Fault, question: str) -> bool:
    """Whether a statement that our check does not recognise in its sources stands as it was written, marked.

    So stands one that weighs a case, or repeats a name of the question, unless the strange name is a medicine's; that
    one stands where it weighs a case that tells of the medicine ("stop the furosemide"). What is said of a diagnosis
    without a source was allowed to be.
    """
    if fault.code == "uncited":
        return claim.weighs and bool(claim.about)
    if fault.code == "names":
        repeated = all(mentions(question, name) for name in fault.detail.split(", "))
        return (claim.weighs and repeated) or ((claim.weighs or repeated) and not medicines_in(fault.detail))
    return fault.code in (BELIEVED_OF_A_CASE if claim.weighs else BELIEVED)


def unconfirmed(claim: Claim, fault: Fault, sources: Sources) -> Statement | None:
    """A statement that what it cites does not confirm, word for word, as the model's own: parametric, beside the
    sentences that it named.

    None for what is not shown: nothing, an order, what names a publication, what rests on generated background, and
    what could do harm: the reverse of what its own sources say, unless it weighs a case, and a dose.
    """
    said, text = claim.reply, plain_text(claim.reply.text)
    harms = (fault.code == "negation" and not claim.weighs) or DOSE.gives.search(text) is not None
    if harms or fault.code in WITHHELD or not text or references_in(text) or speaks_to_machines(text):
        return None
    named = dict.fromkeys(
        c for c in map(sources.citation, said.cites[:CITES]) if c is not None and not speaks_to_machines(c.quote)
    )
    return Statement(text=text, origin=Origin.PARAMETRIC, named=tuple(named))


def plain_text(text: str) -> str:
    """A statement on one line, without labels behind its words, cut at a whole sentence."""
    line = LABELS.sub("", one_line(text, len(text) + 1)).strip()
    if len(line) <= LONGEST:
        return line
    ends = [s.end for s in sentences(line) if s.end <= LONGEST]
    return line[: ends[-1]] if ends else ""
