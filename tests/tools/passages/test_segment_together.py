"""Many documents cut together have the passages that each has alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.counting_encoder import CountingEncoder
from tools.corpus.pipeline import segment_all
from tools.passages.contract import StoredDocument
from tools.passages.seos import SeosSettings, segment

SENTENCE = st.sampled_from(
    (
        "Aspirin lowered the risk of stroke.", "However, bleeding was more frequent.", "RESULTS: 12 of 40 recovered.",
        "They were followed for two years, in whom nothing else had been given by their physicians before or after.",
        "\n", "\n\n", "# Methods\n", "疼痛持续三天。",
    )
)  # fmt: skip
TEXTS = st.lists(st.lists(SENTENCE, min_size=1, max_size=14).map(" ".join), max_size=5)


@pytest.mark.parametrize("method", ["seos", "seos_paper"])
@given(texts=TEXTS, budget=st.integers(8, 60))
def test_together_as_alone(method: str, texts: list[str], budget: int) -> None:
    documents = [StoredDocument(id=f"pubmed:{n}", title="A trial", text=text) for n, text in enumerate(texts)]
    settings = SeosSettings(method=method, budget=budget)  # type: ignore[arg-type]
    encoder = CountingEncoder(limit=64)
    assert segment_all(documents, encoder, settings) == [segment(d, encoder, settings) for d in documents]
