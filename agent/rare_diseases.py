"""Rare diseases over HPO for the agent and the commands: built once, opened from the data folder, lent to the parts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from agent.sessions import Home
from prompts.errors import InputError
from tools.contract import Differential, Finding, Tool
from tools.encoders import Encoder
from tools.evidence import Evidence
from tools.files import locked
from tools.knowledge_graph.hpo.compiled import compile_vectors, has_vectors, load_hpo
from tools.knowledge_graph.hpo.lookup import SHOWN, TOLD, RareDiseases, WithRareDiseases, asks_for_rare, present_terms
from tools.text.language import language_of

LookUp = Callable[[str, str, Sequence[Finding]], Differential]


def build_rare_diseases(home: Home, encoder: Encoder, say: Callable[[str], None] = lambda _: None) -> None:
    """Compile the ontology and the vectors of its phrases; what is up to date is left."""
    say("rare diseases (Human Phenotype Ontology) ...")
    home.indexes.mkdir(parents=True, exist_ok=True, mode=0o700)
    with locked(home.indexes / "hpo-build"):
        compile_vectors(load_hpo(home.indexes), encoder, home.indexes)


def are_built(home: Home) -> bool:
    """Whether they were ever built."""
    return has_vectors(home.indexes)


def open_rare_diseases(
    home: Home, encoder: Encoder | None, say: Callable[[str], None] = lambda _: None
) -> RareDiseases:
    """The rare diseases of the data folder, built first when they never were.

    Args:
        encoder: for reading texts by meaning; None reads them by the words of terms alone and needs no vectors.
        say: is told that they are built.
    """
    if encoder is not None:
        build_rare_diseases(home, encoder, say if not are_built(home) else lambda _: None)
    return RareDiseases.open(home.indexes, encoder)


class RareSection:
    """Lends rare diseases to the agent's parts; they are opened when first asked for.

    Args:
        always: rank them for every case; else for those that ask.
        say: is told that they are built, where they never were.
    """

    def __init__(
        self, home: Home, encoder: Encoder, *, always: bool, say: Callable[[str], None] = lambda _: None
    ) -> None:
        self._home, self._encoder, self._always, self._say = home, encoder, always, say
        self._lock = threading.Lock()
        self._opened: RareDiseases | None = None

    def ranks(self) -> RareDiseases:
        """The rare diseases, the same object every time."""
        with self._lock:
            if self._opened is None:
                self._opened = open_rare_diseases(self._home, self._encoder, self._say)
            return self._opened

    def tool(self, common: Tool) -> Tool:
        """The tool of the common graph, with the section."""
        return WithRareDiseases(common, self.ranks, always=self._always)

    def look_up(self, common: LookUp) -> LookUp:
        """The first look-up of a case, with the section: an answer on the direct path calls no tool."""

        def both(case: str, language: str, known: Sequence[Finding]) -> Differential:
            found = common(case, language, known)
            if not (self._always or asks_for_rare(case)) or language_of(case) == "zh":
                return found
            rare = self.ranks().rank_text(case, SHOWN)
            return found.model_copy(update={"rare": rare.ranking}) if present_terms(rare) >= TOLD else found

        return both

    def entry(self, disease: str) -> Evidence | None:
        """The entry of a rare disease; None for an id that is none of this ontology's."""
        if not disease.startswith(("OMIM:", "ORPHA:", "DECIPHER:")):
            return None
        try:
            return self.ranks().evidence_for(disease)
        except InputError:
            return None
