"""The section of rare diseases beside the common differential: when it is there, what it carries or says instead."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from prompts.tool_arguments import LookupDifferential as Arguments
from tools.contract import Differential, Outcome, ToolArtifact, ToolContext
from tools.knowledge_graph.hpo.compiled import find_sources, read_lay_words, read_release, read_terms
from tools.knowledge_graph.hpo.lookup import RareDiseases, WithRareDiseases, asks_for_rare, sentence_of
from tools.knowledge_graph.hpo.ontology import Ontology

TOLD = "My son has a nuclear cataract, hearing loss and fine hair."
ASKED = f"{TOLD} Could it be a rare disease?"


class Common:
    """A common graph that knows nothing of the case."""

    name, arguments, description = "lookup_differential", Arguments, "d"

    async def run(self, arguments: Any, context: ToolContext) -> ToolArtifact:
        del arguments, context
        return ToolArtifact(tool=self.name, outcome=Outcome.NOTHING_FOUND, differential=Differential())


def run(small: Ontology, case: str, *, always: bool = False, language: str = "en") -> ToolArtifact:
    tool = WithRareDiseases(Common(), lambda: RareDiseases(small), always=always)
    return asyncio.run(tool.run(Arguments(case=case), ToolContext(question=case, language=language)))


def test_the_section_is_there_when_the_case_asks_or_the_settings_say_so(small: Ontology) -> None:
    for artifact in (run(small, ASKED), run(small, TOLD, always=True)):
        assert artifact.outcome is Outcome.OK
        assert artifact.differential is not None
        assert artifact.differential.rare[0].disease == "OMIM:1"
        assert artifact.evidence[0].id == "graph:hpo/OMIM:1"
        assert artifact.differential.ranking == ()
    untouched = run(small, TOLD)
    assert untouched.differential is not None
    assert (untouched.differential.rare, untouched.evidence) == ((), [])


def test_findings_that_a_planner_adds_are_read_too(small: Ontology) -> None:
    tool = WithRareDiseases(Common(), lambda: RareDiseases(small), always=True)
    added = Arguments(case="My son has a nuclear cataract.", findings=["hearing loss", "fine hair"])
    found = asyncio.run(tool.run(added, ToolContext())).differential
    assert found is not None
    assert found.rare[0].disease == "OMIM:1"


def test_what_was_not_ranked_is_said(small: Ontology) -> None:
    few = run(small, "She has a cataract. Is there a rare disease behind it?")
    assert [n.code for n in few.notices] == ["too_few_phenotypes"]
    assert few.outcome is Outcome.NOTHING_FOUND
    assert [n.code for n in run(small, ASKED, language="zh").notices] == ["rare_diseases_english_only"]


@pytest.mark.parametrize(
    ("case", "asks"),
    [
        ("Could this be a rare genetic disease?", True),
        ("Which syndrome is it?", True),
        ("I have irritable bowel syndrome and a cough.", False),
        ("It is rarely painful.", False),
    ],
)
def test_asking_for_rare_diseases(case: str, asks: bool) -> None:
    assert asks_for_rare(case) is asks


def test_the_sentence_on_a_finding_is_found_with_its_source(small: Ontology) -> None:
    entry = RareDiseases(small).evidence_for("OMIM:1")
    span = sentence_of(entry, "Hearing impairment")
    assert span is not None
    assert entry.text[slice(*span)].endswith("with Nuclear lens disease (PMID:11).")
    assert sentence_of(entry, "Fine hair") is None


def test_the_installed_release_holds_every_term_that_we_word() -> None:
    sources = find_sources()
    assert read_release(sources.annotations) == "2025-01-16"
    named = {t.name for t in read_terms(sources.ontology) if not t.obsolete}
    assert set(read_lay_words()) <= named
