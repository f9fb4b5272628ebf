"""The tool `fill_knowledge_gaps`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from prompts.errors import ServiceError
from prompts.tool_arguments import FillKnowledgeGaps as Arguments
from tools.contract import Finding, Outcome, ToolArtifact, ToolContext
from tools.encoders import Encoder
from tools.evidence import Evidence, Origin, Status
from tools.gaps.contract import GapSettings
from tools.gaps.local import coverage_matrix, covered_by
from tools.gaps.tool import FillKnowledgeGaps


def passage(name: str, title: str, section: str, text: str, status: Status = Status.OK) -> Evidence:
    return Evidence(
        id=f"library:{name}@0-{len(text)}",
        text=text,
        title=title,
        section=section,
        kind="passage",
        origin=Origin.RETRIEVED,
        status=status,
    )


TREATMENT = passage("gout", "Gout", "Treatment", "Attacks of gout are treated with colchicine, NSAIDs or a steroid.")
TESTS = passage("gout-tests", "Gout", "Diagnosis", "Crystals in joint fluid confirm the diagnosis of gout.")
ASTHMA = passage("asthma", "Asthma", "Treatment", "Treatment of asthma is with inhaled steroids.")
GRAPH = Evidence(id="graph:starter/gout", text="Gout.", title="Gout", kind="graph", origin=Origin.KNOWLEDGE_GRAPH)


class Search:
    """Answers each query with what is listed for a word in it."""

    def __init__(self, answers: dict[str, Sequence[Evidence]], fails: str = "") -> None:
        self.queries: list[str] = []
        self._answers, self._fails = answers, fails

    async def __call__(self, query: str, limit: int, context: ToolContext) -> list[Evidence]:
        self.queries.append(query)
        if self._fails and self._fails in query:
            raise ServiceError("The search did not answer.")
        return [e for word, found in self._answers.items() if word in query for e in found][:limit]


def fill(encoder: Encoder, search: Search, context: ToolContext, *requirements: str) -> ToolArtifact:
    arguments = Arguments(question="Painful big toe", requirements=list(requirements))
    return asyncio.run(FillKnowledgeGaps(search, encoder).run(arguments, context))


def test_refused_with_advice_before_any_retrieval(encoder: Encoder) -> None:
    search = Search({})
    artifact = fill(encoder, search, ToolContext(retrieved=False))
    assert artifact.outcome is Outcome.REFUSED
    assert "search_literature" in artifact.notices[0].text
    assert search.queries == []


def test_only_gaps_are_searched_for_and_reported_with_what_covers_them(encoder: Encoder) -> None:
    search = Search({"diagnosis": [TESTS]})
    told: list[str] = []
    context = ToolContext(evidence=[TREATMENT], retrieved=True, progress=told.append)
    artifact = fill(encoder, search, context, "Gout: treatment", "Gout: diagnosis and tests")
    assert search.queries == ["Gout: diagnosis and tests"]
    assert [g.covered_by for g in artifact.gaps] == [(TREATMENT.id,), (TESTS.id,)]
    assert [e.id for e in artifact.evidence] == [TESTS.id]
    assert (artifact.evidence[0].found[-1].stream, artifact.evidence[0].found[-1].rank) == ("gap", 1)
    assert artifact.outcome is Outcome.OK
    assert artifact.notices == []
    assert told == ["reading documents: 1", "searches for what is missing: 1"], "nothing is written without a model"


def test_what_no_words_would_find_is_told_as_open_and_not_searched_for(encoder: Encoder) -> None:
    search = Search({})
    context = ToolContext(evidence=[ASTHMA], retrieved=True)
    artifact = fill(
        encoder, search, context, "statins: who it applies to", "statins: harms, side effects and uncertainty"
    )
    assert search.queries == ["statins: adverse effects"]
    assert [g.covered_by for g in artifact.gaps] == [(), ()]
    assert "statins: who it applies to" in artifact.notices[0].text


def test_everything_covered_needs_no_search(encoder: Encoder) -> None:
    search = Search({})
    artifact = fill(encoder, search, ToolContext(evidence=[TREATMENT], retrieved=True), "Gout: treatment")
    assert (artifact.outcome, artifact.evidence, search.queries) == (Outcome.OK, [], [])


def test_at_most_three_searches_and_open_gaps_are_named(encoder: Encoder) -> None:
    search = Search({})
    context = ToolContext(kind="case", evidence=[GRAPH], retrieved=True)
    artifact = fill(encoder, search, context)
    assert len(search.queries) == GapSettings().points
    assert artifact.outcome is Outcome.NOTHING_FOUND
    assert len(artifact.gaps) == 5
    assert artifact.notices[0].code == "gaps_left_open"
    assert "Gout: treatment" in artifact.notices[0].text


def test_what_is_already_known_is_not_new(encoder: Encoder) -> None:
    search = Search({"Gout": [TREATMENT]})
    artifact = fill(encoder, search, ToolContext(evidence=[TREATMENT], retrieved=True), "Gout: diet in Antarctica")
    assert (artifact.outcome, artifact.evidence) == (Outcome.NOTHING_FOUND, [])


def test_one_failed_search_is_said_and_all_failed_is_an_error(encoder: Encoder) -> None:
    search = Search({"diagnosis": [TESTS]}, fails="treatment")
    context = ToolContext(retrieved=True, language="zh")
    artifact = fill(encoder, search, context, "Gout: treatment", "Gout: diagnosis and tests")
    assert [n.code for n in artifact.notices] == ["gap_search_failed", "gaps_left_open", "nothing_useful_retrieved"]
    assert "缺口检索失败" in artifact.notices[0].text
    assert artifact.strategy[0] == {"gap": "Gout: treatment", "results": "failed"}
    with pytest.raises(ServiceError):
        fill(encoder, search, context, "Gout: treatment")


def test_a_case_without_graph_evidence_asks_about_its_findings(encoder: Encoder) -> None:
    findings = [Finding(name="joint pain", clause="toe hurts"), Finding(name="fever", clause="no fever", present=False)]
    search = Search({})
    fill(encoder, search, ToolContext(kind="case", findings=findings, retrieved=True))
    assert search.queries[0] == "joint pain: possible causes"


def test_another_disease_does_not_cover(encoder: Encoder) -> None:
    covers = covered_by(["Gout: treatment", "Asthma: treatment"], [ASTHMA, TREATMENT], encoder)
    assert covers == [(TREATMENT.id,), (ASTHMA.id,)]


def test_retracted_evidence_covers_nothing(encoder: Encoder) -> None:
    retracted = passage("r", "Gout", "Treatment", TREATMENT.text, Status.RETRACTED)
    assert covered_by(["Gout: treatment"], [retracted], encoder) == [()]


def test_the_matrix_has_a_row_a_requirement(encoder: Encoder) -> None:
    assert coverage_matrix(["a", "b"], [], encoder).shape == (2, 0)
    matrix = coverage_matrix(["Gout: treatment", "how gout is treated"], [TREATMENT, TESTS, ASTHMA], encoder)
    assert matrix.shape == (2, 3)
    assert matrix.argmax(axis=1).tolist() == [0, 0]
    assert 0 <= matrix.min() <= matrix.max() <= 1


def test_a_search_that_failed_beside_one_that_found_nothing_is_no_empty_result(encoder: Encoder) -> None:
    context = ToolContext(evidence=[ASTHMA], retrieved=True)
    artifact = fill(encoder, Search({}, fails="treatment"), context, "Gout: treatment", "Gout: diagnosis and tests")
    assert artifact.outcome is Outcome.UNAVAILABLE
