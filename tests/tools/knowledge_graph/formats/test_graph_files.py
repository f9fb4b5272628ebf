"""A graph in a file is the same graph when it is read again; a damaged file is refused with what is wrong."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prompts.errors import DataError, InputError
from tools.knowledge_graph.formats import read_any, to_csv, write_any
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.schema import Graph

Words = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=20).map(
    lambda t: f"x{' '.join(t.split())}"
)
Edge = st.fixed_dictionaries(
    {
        "finding": st.sampled_from(["one", "two", "three"]),
        "how_often": st.sampled_from(["always", "common", "absent"]),
        "roles": st.sampled_from([["d"], ["a"], ["d", "a"], ["a", "d"]]),
    },
    optional={
        "side": st.sampled_from(["left", "right", "one", "both"]),
        "site": st.sampled_from(["chest", "skin"]),
        "onset": st.sampled_from(["sudden", "weeks"]),
        "note": Words,
        "rate": st.floats(0, 1),
        "records": st.integers(1, 10**6),
        "value": st.sampled_from(["3", "4-7"]),
        "source": st.sampled_from(["", "records", "library:gerd@0-80", "generated:some-model"]),
    },
)


def graph_of(name: str, note: str, edges: list[dict[str, object]]) -> Graph:
    findings = [
        {
            "id": i,
            "name": f"{i} {name}",
            "zh": f"{i} {name}",
            "relation": "lifestyle",
            "kind": "habit",
            "say": [f"say {i}"],
        }
        for i in ("one", "two", "three")
    ]
    findings[1]["broader"] = "one"
    kept = list({e["finding"]: e for e in edges}.values())
    used = {e["finding"] for e in kept} | {"one"}
    return Graph.model_validate(
        {
            "about": {"name": "tiny", "origin": "imported", "note": note},
            "categories": [{"id": "c", "name": name, "zh": name}],
            "subcategories": [{"id": "s", "l1": "c", "name": name, "zh": name}],
            "findings": [f for f in findings if f["id"] in used],
            "diseases": [
                {
                    "id": "d", "name": name, "zh": name, "aliases": [f"{name} too"], "icd10": "", "l2": "s",
                    "how_common": "rare", "severity": "unknown", "sex": "any",
                    "ages": {"min": 0, "max": 99.5, "typical": [1, 2]},
                    "manifestations": kept if "one" in {e["finding"] for e in kept} else [
                        *kept, {"finding": "one", "how_often": "rare", "roles": ["d"]}
                    ],
                }
            ],
        }
    )  # fmt: skip


@pytest.mark.parametrize("name", ["graph.csv", "graph.json", "graph.graphml", "folder"])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(title=Words, note=Words, edges=st.lists(Edge, min_size=1, max_size=3))
def test_what_is_written_is_read_again(
    name: str, title: str, note: str, edges: list[dict[str, object]], tmp_path: Path
) -> None:
    graph = graph_of(title, note, edges)
    write_any(graph, tmp_path / name)
    assert read_any(tmp_path / name) == graph


@pytest.mark.parametrize("name", ["graph.csv", "graph.json", "graph.graphml"])
def test_the_starter_graph_survives_each_format(name: str, tmp_path: Path) -> None:
    graph = read_graph()
    write_any(graph, tmp_path / name)
    assert read_any(tmp_path / name) == graph


def test_the_triples_carry_all_that_an_edge_has() -> None:
    rows = list(csv.DictReader(to_csv(read_graph()).decode().splitlines()))
    edge = next(
        r for r in rows if (r["subject"], r["object"]) == ("disease:boerhaave-syndrome", "finding:pleural-effusion")
    )
    assert edge["relation"] == "has_symptomatology"
    assert (edge["role"], edge["side"], edge["polarity"], edge["provenance"]) == ("a", "left", "present", "starter")
    against = next(r for r in rows if r["object"] == "finding:recent-endoscopy" and r["how_often"] == "absent")
    assert against["polarity"] == "absent"


def _rows(change: Callable[[list[list[str]]], None], tmp_path: Path) -> Path:
    rows = list(
        csv.reader(
            to_csv(graph_of("a", "n", [{"finding": "two", "how_often": "rare", "roles": ["d"]}])).decode().splitlines()
        )
    )
    change(rows)
    path = tmp_path / "graph.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def _edge(rows: list[list[str]]) -> list[str]:
    return next(r for r in rows if r[1].startswith("has_"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: r.append(["disease:d", "cures", "finding:one"]), "unknown relation 'cures'"),
        (lambda r: r.append(["disease:d", "is_a", "l1:c"]), "'l1:c' is no l2"),
        (lambda r: r.append(["disease:d", "has_lifestyle", "finding:far", "d", "rare"]), "unknown finding 'far'"),
        (lambda r: _edge(r).__setitem__(3, "x"), "manifestations.0.roles"),
        (lambda r: _edge(r).__setitem__(5, "2.5"), "manifestations.0.rate"),
        (lambda r: _edge(r).__setitem__(7, "absent"), "polarity and how_often contradict"),
        (lambda r: _edge(r).__setitem__(1, "has_therapy"), "is of relation lifestyle"),
        (lambda r: r.append(["disease:d", "name", "again"]), "two values of 'name'"),
        (lambda r: r.append(["disease:d", "ages", "1 2"]), "ages need four numbers"),
        (lambda r: r[0].__setitem__(1, "verb"), "column relation is missing"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_refused_with_the_fault(
    change: Callable[[list[list[str]]], None], said: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as error:
        read_any(_rows(change, tmp_path))
    assert said in str(error.value)


def test_an_entity_of_an_xml_file_is_not_opened(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("top secret")
    path = tmp_path / "graph.graphml"
    write_any(graph_of("a", "n", [{"finding": "one", "how_often": "rare", "roles": ["d"]}]), path)
    head, body = path.read_text().split("\n", 1)
    entity = f'<!DOCTYPE graphml [<!ENTITY x SYSTEM "{secret.as_uri()}">]>'
    path.write_text(f"{head}\n{entity}\n{body.replace('tiny', '&x;', 3)}")
    try:
        told = read_any(path).model_dump_json()
    except DataError as error:
        told = str(error)
    assert "top secret" not in told


@pytest.mark.parametrize(("name", "data"), [("a.json", "[]"), ("a.json", "{"), ("a.graphml", "<x/>"), ("a.csv", "")])
def test_no_graph_is_a_data_error(name: str, data: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(data)
    with pytest.raises(DataError):
        read_any(tmp_path / name)


def test_unknown_names_are_the_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("")
    for path in (tmp_path / "a.txt", tmp_path / "none.csv"):
        with pytest.raises(InputError):
            read_any(path)


FOREIGN = [
    ("tonsil_pain", "has_symptomatology", "Do you feel pain somewhere?: tonsil(R)"),
    ("tonsil_pain", "has_symptomatology", "Do you feel pain somewhere?: tonsil(L)"),
    ("tonsil_pain", "has_symptomatology", "Do you smoke?: TRUE"),
    ("tonsil_pain", "has_symptomatology", "Does it spread?: NA"),
    ("tonsil__pain", "has_therapy", "Rest, and fluids"),
    ("sad_cough", "has_symptomatology", "Cough at night"),
    ("sad_cough", "is_a", "lungs"),
    ("lungs", "is_a", "medicine"),
]


def test_triples_of_others_are_mended_and_the_note_says_how(tmp_path: Path) -> None:
    path = tmp_path / "theirs.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("subject", "relation", "object", "column4"), *((*r, "") for r in FOREIGN)])
    graph = read_any(path)
    tonsil, cough = graph.diseases
    assert (tonsil.id, tonsil.l2, cough.l2) == ("tonsil-pain", "unclassified", "lungs")
    assert {graph.finding[e.finding].name: e.roles for e in tonsil.manifestations} == {
        "Do you feel pain somewhere: tonsil right": ("d",),
        "Do you feel pain somewhere: tonsil left": ("d",),
        "Do you smoke": ("d",),
        "Rest, and fluids": ("d", "a"),
    }
    assert (
        "2 of 3 names had no class; 1 of 2 diseases had several spellings; 4 pasted answers, 1 of them"
        in graph.about.note
    )


def test_json_of_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_any(read_graph(), path)
    document = json.loads(path.read_text()) | {"format": 99}
    path.write_text(json.dumps(document))
    with pytest.raises(DataError, match="format 1"):
        read_any(path)


def test_triples_in_chinese_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "zh.csv"
    rows = [
        "COVID-19,has_symptomatology,发热",
        "COVID-19,has_symptomatology,咳嗽",
        "COVID-19感染,has_symptomatology,乏力",
    ]
    path.write_text("\n".join(["subject,relation,object", *rows, "流感,is_a,病毒", "流感,has_symptomatology,发热", ""]))
    graph = read_any(path)
    assert [d.name for d in graph.diseases] == ["COVID-19", "COVID-19感染", "流感"]
    assert {f.name for f in graph.findings} == {"发热", "咳嗽", "乏力"}
    assert graph.l2[graph.diseases[2].l2].name == "病毒"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "subject,relation,object\n", "there is no disease"),
        ("a.csv", "subject,relation,object\nflu\n", "row 2"),
        ("a.json", "[" * 100_000, "no JSON"),
    ],
)
def test_a_file_without_a_graph_is_refused(name: str, text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=said):
        read_any(tmp_path / name)
