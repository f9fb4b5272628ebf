"""NCBI's files, made by hand in their real format, become an index; a kill in the middle loses nothing."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from prompts.errors import DataError, InputError
from support import processes
from tools.encoders_on_disk import MedCPTEncoder
from tools.indexes.large import LargeIndex
from tools.indexes.large_building import BuildSettings, work_folder
from tools.literature.medcpt import published as module
from tools.literature.medcpt.published import Published, check_same_space, look

ROOT = Path(__file__).resolve().parents[4]
SETTINGS = BuildSettings(flat_up_to=50, sample=20, block=100)
ARTICLES = [("chest pain", "fever and croup"), ("croup", "chest chest pain"), ("fever", ""), ("pain", "croup fever")]


def write_chunk(folder: Path, number: int, vectors: np.ndarray, pmids: list[str], records: dict | None = None) -> None:
    folder.mkdir(exist_ok=True)
    np.save(folder / f"embeds_chunk_{number}.npy", vectors)
    (folder / f"pmids_chunk_{number}.json").write_text(json.dumps(pmids))
    if records is not None:
        (folder / f"pubmed_chunk_{number}.json").write_text(json.dumps(records))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two chunks, one of each precision; rows are not of unit length, as NCBI's are not."""
    random = np.random.default_rng(0)
    for number, kind in ((0, np.float16), (10, np.float32)):
        vectors = random.normal(size=(700, 32)) * 9
        write_chunk(tmp_path / "ncbi", number, vectors.astype(kind), [str(1000 * number + n) for n in range(700)])
    return tmp_path / "ncbi"


def build(published: Published, target: Path) -> LargeIndex:
    return LargeIndex.build(
        target, published.blocks(), encoder="e", dimension=32, source=published.source, settings=SETTINGS
    )


def test_every_row_is_found_under_its_pmid(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS", 300)
    index = build(look(folder), tmp_path / "index")
    assert len(index) == 1400
    for number, row in ((0, 3), (10, 699)):
        vector = np.load(folder / f"embeds_chunk_{number}.npy")[row : row + 1].astype(np.float32)
        best = index.search_vectors(vector, 1)[0][0]
        assert best.id == str(1000 * number + row)
        assert best.score == pytest.approx(1, abs=2e-3)


@pytest.mark.slow
def test_killed_at_any_step_and_continued_the_index_is_the_same(folder: Path, tmp_path: Path) -> None:
    whole = build(look(folder), tmp_path / "whole").manifest
    code = (
        "import time\n"
        "from pathlib import Path\n"
        "from tools.indexes.large_building import BuildSettings\n"
        "from tools.indexes.large import LargeIndex\n"
        "from tools.literature.medcpt import published as module\n"
        "def told(step, done, of):\n"
        "    if step == stop and done != of: print('now', flush=True); time.sleep(60)\n"
        "p = module.look(Path(folder))\n"
        "LargeIndex.build(Path(target), p.blocks(), encoder='e', dimension=32, source=p.source, progress=told,\n"
        "    settings=BuildSettings.model_validate_json(settings))\n"
    )
    target = tmp_path / "killed"
    for step in ("store", "train", "code", "tune"):
        given = f"folder, target, stop, settings = {(str(folder), str(target), step, SETTINGS.model_dump_json())!r}\n"
        process = processes.snippet(given + code, environment={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=ROOT)
        process.wait_for("now")
        process.kill()
        assert not (target / "manifest.json").exists()
    stored = (work_folder(target) / "vectors.f16").stat()
    index = build(look(folder), target)
    assert next(target.glob("*/vectors.f16")).stat().st_ino == stored.st_ino, "stored rows were not used again"
    assert index.manifest.checksum == whole.checksum
    assert (index.manifest.nprobe, index.manifest.count) == (whole.nprobe, 1400)
    assert not work_folder(target).exists()


def test_the_unfinished_import_of_another_folder_is_not_mixed_in(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "index"

    def stop(step: str, *_: int) -> None:
        if step == "train":
            raise KeyboardInterrupt

    published = look(folder)
    with pytest.raises(KeyboardInterrupt):
        LargeIndex.build(
            target, published.blocks(), encoder="e", dimension=32, source="s", settings=SETTINGS, progress=stop
        )
    with pytest.raises(DataError, match="--afresh"):
        build(published, target)


def test_wrong_folders_and_damaged_chunks_are_told(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="embeds_chunk_N"):
        look(tmp_path)
    with pytest.raises(InputError, match="no folder"):
        look(tmp_path / "nowhere")
    (folder / "pmids_chunk_0.json").write_text(json.dumps(["1"] * 699))
    with pytest.raises(DataError, match="one PMID a row"):
        build(look(folder), tmp_path / "index")
    (folder / "pmids_chunk_0.json").write_text(json.dumps(["x1"] * 700))
    with pytest.raises(DataError, match="no PMID"):
        build(look(folder), tmp_path / "index")
    (folder / "embeds_chunk_10.npy").write_bytes((folder / "embeds_chunk_10.npy").read_bytes()[:-50])
    with pytest.raises(DataError, match="embeds_chunk_10"):
        look(folder)
    (folder / "pmids_chunk_10.json").unlink()
    with pytest.raises(DataError, match="is missing beside"):
        look(folder)


def test_vectors_of_another_encoder_are_noticed(medcpt_folders: tuple[str, str, str], tmp_path: Path) -> None:
    query, article, _ = medcpt_folders
    encoder, other = MedCPTEncoder(query, article), MedCPTEncoder(article, query)
    pmids = [str(n) for n in range(4)]
    records = {p: {"d": "20200101", "t": t, "a": a, "m": ""} for p, (t, a) in zip(pmids, ARTICLES, strict=True)}
    write_chunk(tmp_path / "ncbi", 0, 5 * encoder.encode_articles(ARTICLES).astype(np.float16), pmids, records)
    assert check_same_space(look(tmp_path / "ncbi"), encoder) == pytest.approx(1, abs=1e-3)
    with pytest.raises(DataError, match="not made with"):
        check_same_space(look(tmp_path / "ncbi"), other)
    (tmp_path / "ncbi" / "pubmed_chunk_0.json").unlink()
    assert check_same_space(look(tmp_path / "ncbi"), other) is None


def test_the_command_imports_and_tells(folder: Path, tmp_path: Path) -> None:
    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "ANAMNESIS_HOME": str(tmp_path / "home")}
        return processes.command("index", "embeddings", *arguments, environment=environment, cwd=tmp_path)

    assert "No vectors" in command("status").stdout
    refused = command("import", str(folder))
    assert refused.returncode == 2
    assert "no MedCPT is set" in refused.stderr
    done = command("import", str(folder), "--encoder", "mine")
    assert done.returncode == 0, done.stderr
    assert "1,400 vectors of 32 dimensions, mine" in done.stdout
    assert "store: 1,400 of 1,400" in done.stderr
    assert "as it was built" in command("status", "--verify").stdout
    assert json.loads(command("status", "--json").stdout)["measured"]["queries"] == 500
