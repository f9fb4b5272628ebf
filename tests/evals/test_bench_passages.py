"""`anamnesis dev bench passages` on made-up data: what it counts as exact, and its figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals.bench.passages import Metered, is_exact, measure
from prompts.errors import DataError
from support.counting_encoder import CountingEncoder
from tools.encoders import Encoder
from tools.passages.contract import StoredDocument
from tools.passages.seos import SeosSettings, segment

TEXT = "## Care\nGout hurts a lot. Colchicine helps it. It is taken early.\n## Outlook\nMost people do well in time."
ARTICLE = """<article article-type="review-article"><front><article-meta>
<article-id pub-id-type="pmc">PMC{n}</article-id><title-group><article-title>Gout {n}</article-title></title-group>
</article-meta></front><body><sec><title>Care</title><p>{body}</p></sec></body></article>"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for folder in ("fulltext/nxml", "literature"):
        (tmp_path / folder).mkdir(parents=True)
    body = "Gout hurts a lot in the night. Colchicine helps it. It is taken early by most people. " * 12
    for n in range(2):
        (tmp_path / "fulltext/nxml" / f"{n}.nxml").write_text(ARTICLE.format(n=n, body=body))
    rows = [{"pmid": str(n), "title": None, "abstract": body if n else ""} for n in range(3)]
    (tmp_path / "literature/abstracts.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


def test_the_figures(data: Path) -> None:
    figures = {f.name: f for f in measure(data, 1)}
    exact = {name: (f.value, f.n) for name, f in figures.items() if name.startswith("offsets.")}
    assert exact == {"offsets.abstracts": (100, 2), "offsets.full_texts": (100, 2), "offsets.real_encoder": (100, 1)}
    assert figures["seos.encoding"].value > 0


def test_what_is_not_exact() -> None:
    encoder = CountingEncoder(40)
    document = StoredDocument(id="library:x", text=TEXT)
    passages = segment(document, encoder, SeosSettings(budget=8))
    assert is_exact(document, passages, encoder)
    first = passages[0]
    for wrong in (
        passages[1:],
        passages[::-1],
        (*passages, passages[-1]),
        (first.model_copy(update={"core_start": first.core_start + 1}), *passages[1:]),
        (first.model_copy(update={"start": first.start - 1}), *passages[1:]),
    ):
        assert not is_exact(document, wrong, encoder)
    assert not is_exact(document, passages, CountingEncoder(6))


def test_the_encoders_of_the_benchmark_count_as_the_real_one(encoder: Encoder) -> None:
    texts = ["Gout hurts.", "", "痛风"]
    metered, quick = Metered(encoder), Metered(encoder, quick=True)
    assert quick.count_tokens(texts) == metered.count_tokens(texts) == encoder.count_tokens(texts)
    assert metered.counting.clock > 0
    assert metered.encode_documents(texts).shape == (3, encoder.dimension)
    assert quick.encode_documents(texts).shape == (3, 8)


def test_missing_data_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        measure(tmp_path, 1)
