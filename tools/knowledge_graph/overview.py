"""A graph as people look at it: its figures, its picture, and whether its contrasts hold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from html import escape
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tools.contract import Differential, RankedDisease
from tools.knowledge_graph.names import Names
from tools.knowledge_graph.questions import askable, bearer
from tools.knowledge_graph.ranking import Frequencies, Matrix, Observation, Ranker, frequencies
from tools.knowledge_graph.schema import Disease, FindingNode, Graph
from tools.knowledge_graph.votes import typical_nodes
from tools.library.monograph import CONFUSED, FRONT_MATTER, sections
from tools.text.demographics import Person
from tools.text.sentences import split_sentences


# What a graph holds, counted.
def statistics(graph: Graph) -> dict[str, int | float]:
    """Counts by name: nodes of each level, edges by role, relation, polarity and source."""
    edges = [(graph.finding[e.finding], e) for d in graph.diseases for e in d.manifestations]
    roles = Counter("|".join(sorted(e.roles, reverse=True)) for _, e in edges)
    sources = Counter((e.source or graph.about.name).partition("@")[0].partition(":")[0] for _, e in edges)
    return {
        "L1 categories": len(graph.categories),
        "L2 subcategories": len(graph.subcategories),
        "L3 diseases": len(graph.diseases),
        "L4 findings": len(graph.findings),
        "L4d findings": len(typical_nodes(graph)),
        "wordings": sum(1 + len(f.say) for f in graph.findings),
        "Chinese wordings": sum(len(f.say_zh) for f in graph.findings),
        "edges": len(edges),
        **{f"edges, role {name}": n for name, n in sorted(roles.items())},
        "edges with a counted presence rate": sum(e.rate is not None for _, e in edges),
        "edges against": sum(e.polarity == "absent" for _, e in edges),
        "edges with a side": sum(e.side is not None for _, e in edges),
        "edges with a value": sum(e.value is not None for _, e in edges),
        **{f"edges, {name}": n for name, n in sorted(Counter(f.relation for f, _ in edges).items())},
        **{f"edges from {name}": n for name, n in sorted(sources.items())},
        "findings a disease, mean": round(len(edges) / max(len(graph.diseases), 1), 1),
    }


# A picture of a differential as SVG: findings of the case, the ranked diseases with their shares, and L2 and L1.
ROWS = 8  # ours: diseases drawn
STEP, TOP, FONT = 34, 70, 13  # ours: pixels between rows, above the first, and of the letters
COLUMNS = (20, 400, 800, 1080)  # ours: left edges of findings, diseases, L2 and L1, in pixels
WIDTH, BAR = 1360, 300  # ours: of the picture, and of a share of 1
LETTERS = (46, 48, 36, 32)  # ours: characters that fit each column
FOR, AGAINST, PLAIN = "#2a7f3f", "#b3352c", "#444444"  # green, red and grey that stand out on white in print too
STYLE = f'font-family="sans-serif" font-size="{FONT}"'


def picture(graph: Graph, found: Differential, language: str = "en") -> str:
    """The SVG document. Lines lead from a finding to the diseases that it speaks for (green) or against (red)."""
    shown = found.ranking[:ROWS]
    told = _findings(shown)
    rows = max(len(told), len(shown), 1)
    height = TOP + STEP * rows + 20
    at = {name: TOP + STEP * n for n, name in enumerate(told)}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" {STYLE}>',
        f"<title>{escape(f'Differential by the graph {found.graph}')}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        *(_text(x, 30, head, 0, bold=True) for x, head in zip(COLUMNS, _heads(language), strict=True)),
        *(line for n, d in enumerate(shown) for line in _lines(d, TOP + STEP * n, at)),
        *(_text(COLUMNS[0], y, name, 0) for name, y in at.items()),
    ]
    for n, disease in enumerate(shown):
        parts += _disease(graph, disease, TOP + STEP * n, n + 1, language)
    return "\n".join([*parts, "</svg>", ""])


def _findings(shown: Sequence[RankedDisease]) -> list[str]:
    """Every finding named, in the order of the diseases."""
    return list(dict.fromkeys(name for d in shown for name in (*d.findings_for, *d.findings_against)))


def _heads(language: str) -> tuple[str, ...]:
    return ("表现", "疾病", "L2", "L1") if language == "zh" else ("Findings", "Diseases, share", "L2", "L1")


def _lines(disease: RankedDisease, y: int, at: dict[str, int]) -> Iterator[str]:
    for names, colour in ((disease.findings_for, FOR), (disease.findings_against, AGAINST)):
        for name in names:
            start, end = COLUMNS[0] + 310, COLUMNS[1] - 8
            yield (
                f'<line x1="{start}" y1="{at[name] - 4}" x2="{end}" y2="{y - 4}" stroke="{colour}" stroke-width="1.2"'
                ' stroke-opacity="0.6"/>'
            )


def _disease(graph: Graph, disease: RankedDisease, y: int, rank: int, language: str) -> Iterator[str]:
    chinese = language == "zh"
    name = disease.name_zh if chinese and disease.name_zh else disease.name
    width = round(BAR * disease.score, 1)
    yield f'<rect x="{COLUMNS[1]}" y="{y + 3}" width="{width}" height="6" fill="{FOR}" fill-opacity="0.5"/>'
    yield _text(COLUMNS[1], y, f"{rank}. {name}  {disease.score:.0%}", 1, bold=rank == 1)
    if not disease.l2:  # a diagnosis that only records have
        return
    l2 = graph.l2[disease.l2]
    l1 = next(c for c in graph.categories if c.id == l2.l1)
    for column, node in ((2, l2), (3, l1)):
        yield _text(COLUMNS[column], y, node.zh if chinese else node.name, column)


def _text(x: int, y: int, text: str, column: int, *, bold: bool = False) -> str:
    most = LETTERS[column]
    told = text if len(text) <= most else text[: most - 1] + "…"
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x}" y="{y}" fill="{PLAIN}"{weight}>{escape(told)}</text>'


# What tells a graph's diseases apart, checked: a contrast that is missing, stands one way only or rests on nothing.

CONFUSED_SHARE = 0.1  # ours: belief in another disease, when the usual things are told, that makes it a neighbour
USUAL, TOLD = (
    ("always", "usual"),
    ("always", "usual", "common"),
)  # ours: what patients tell at first, and when asked all
# ours: findings that take an age, by their words, with the youngest and the oldest in years
AGED = (
    (re.compile(r"\b\w*menopaus\w*", re.IGNORECASE), 35, 120),
    (re.compile(r"\b(?:pregnancy|pregnant|periods?|menstr\w*)\b", re.IGNORECASE), 8, 60),
    (re.compile(r"\b(?:newborn|meconium|nappy)\b", re.IGNORECASE), 0, 4),
)
Pairs = tuple[tuple[str, str], ...]
Which = NDArray[np.bool_]  # (findings,)


@dataclass(frozen=True)
class Distinctions:
    """What was found, each a pair of ids in graph order.

    Attributes:
        impossible: (disease, finding) that nobody of the disease's sex and ages can have.
        contrasts: (disease, neighbour) that the disease's page names as confused with it.
        one_sided: those whose neighbour's page does not name the disease.
        unlisted: those whose sentence tells of a finding that neither disease lists.
        alike: those whose sentence tells of a finding that both list as often.
        unpaired: (disease, finding) that speaks against it and that none of its group or of its contrasts has.
        uncontrasted: (disease, neighbour) that the ranking confuses and neither page contrasts.
        inseparable: (disease, neighbour) that stays before it when all that is common or denied is told.
        inseparable_by_asking: the same when only what a patient can tell is told.
    """

    impossible: Pairs
    contrasts: Pairs
    one_sided: Pairs
    unlisted: Pairs
    alike: Pairs
    unpaired: Pairs
    uncontrasted: Pairs
    inseparable: Pairs
    inseparable_by_asking: Pairs

    @property
    def counts(self) -> dict[str, int]:
        """The number of pairs of each kind."""
        return {f.name: len(getattr(self, f.name)) for f in fields(self)}


def confusions(graph: Graph, folder: Path) -> dict[str, str]:
    """What the pages of a folder say that each disease of a graph is confused with; without a page none."""
    out: dict[str, str] = {}
    for disease in graph.diseases:
        page = folder / f"{disease.id}.md"
        read = FRONT_MATTER.match(page.read_text(encoding="utf-8")) if page.is_file() else None
        body = read["body"] if read is not None else ""
        for section in sections(body):
            if section.title == CONFUSED:
                out[disease.id] = body[section.start : section.end]
    return out


def examine(graph: Graph, told: Mapping[str, str]) -> Distinctions:
    """Every doubtful distinction of a graph.

    Args:
        told: for each disease what its page says that it is confused with, from `confusions`; {} where there are none.
    """
    table = frequencies(graph)
    ranker = Ranker(graph, table)
    by_id = tuple(d.model_copy(update={"aliases": (*d.aliases, d.id.replace("-", " "))}) for d in graph.diseases)
    names = Names(graph.model_copy(update={"diseases": by_id}))
    short = {a.casefold() for d in graph.diseases for a in d.aliases if a.isupper()}
    named = {d: _sentences(names, short, d, text) for d, text in told.items()}
    contrasts = tuple(dict.fromkeys((d, other) for d, said in named.items() for _, who in said for other in who))
    known = set(contrasts)
    founded = [(pair, kind) for d, said in named.items() for pair, kind in _grounds(graph, table, names, d, said)]
    asked = np.array([askable(f) for f in graph.findings])
    shown = np.array([not f.only_shown for f in graph.findings])
    return Distinctions(
        impossible=tuple(chain.from_iterable(_impossible(graph, d) for d in graph.diseases)),
        contrasts=contrasts,
        one_sided=tuple((a, b) for a, b in contrasts if (b, a) not in known),
        unlisted=tuple(dict.fromkeys(pair for pair, kind in founded if kind == "unlisted")),
        alike=tuple(dict.fromkeys(pair for pair, kind in founded if kind == "alike")),
        unpaired=tuple(_unpaired(graph, table, contrasts)),
        uncontrasted=tuple(p for p in _confused(graph, ranker, asked) if not {p, p[::-1]} & known),
        inseparable=tuple(_before(graph, ranker, shown)),
        inseparable_by_asking=tuple(_before(graph, ranker, asked)),
    )


def _impossible(graph: Graph, disease: Disease) -> Iterator[tuple[str, str]]:
    for edge in disease.manifestations:
        finding = graph.finding[edge.finding]
        if edge.how_often != "absent" and not _can_have(disease, finding):
            yield disease.id, finding.id


def _can_have(disease: Disease, finding: FindingNode) -> bool:
    sex = bearer(finding).sex
    ages = [(low, high) for words, low, high in AGED if words.search(finding.name)]
    return (sex is None or disease.sex in ("any", sex)) and all(
        disease.ages.max >= low and disease.ages.min <= high for low, high in ages
    )


def _sentences(names: Names, short: Set[str], disease: str, text: str) -> list[tuple[str, list[str]]]:
    """The sentences of a section, each with the other diseases that it names.

    Args:
        short: names that are written in capitals, in lower case: "as" is no AS, and "pH" no PH.
    """
    said = []
    for span in split_sentences(text):
        words = re.split(r"\b", text[span.start : span.end])
        sentence = "".join("-" if w.casefold() in short and not w.isupper() else w for w in words)
        said.append((sentence, [other for other in names.diseases_in(sentence) if other != disease]))
    return said


def _grounds(
    graph: Graph, table: Frequencies, names: Names, disease: str, said: Sequence[tuple[str, list[str]]]
) -> Iterator[tuple[tuple[str, str], str]]:
    """Of the sentences that name one neighbour: those on a finding that neither lists, or that both list alike."""
    rows = {d.id: n for n, d in enumerate(graph.diseases)}
    columns = {f.id: n for n, f in enumerate(graph.findings)}
    for sentence, others in said:
        if len(others) != 1:
            continue
        pair = [rows[disease], rows[others[0]]]
        for column in (columns[f] for f in names.findings_in(sentence)):
            listed = table.listed[pair, column]
            if not (listed | table.absent[pair, column]).any():
                yield (disease, others[0]), "unlisted"
            elif listed.all() and np.ptp(table.present[pair, column]) == 0:
                yield (disease, others[0]), "alike"


def _unpaired(graph: Graph, table: Frequencies, contrasts: Pairs) -> Iterator[tuple[str, str]]:
    rows = {d.id: n for n, d in enumerate(graph.diseases)}
    columns = {f.id: n for n, f in enumerate(graph.findings)}
    near = {d.id: [n for n, e in enumerate(graph.diseases) if e.l2 == d.l2] for d in graph.diseases}
    for one, other in contrasts:
        near[one].append(rows[other])
        near[other].append(rows[one])
    for d in graph.diseases:
        against = [e.finding for e in d.manifestations if e.polarity == "absent" and "a" in e.roles]
        yield from ((d.id, f) for f in against if not table.listed[near[d.id], columns[f]].any())


def _confused(graph: Graph, ranker: Ranker, asked: Which) -> Iterator[tuple[str, str]]:
    """Pairs of which one gets a good share of belief when the usual things of the other are told."""
    found: set[tuple[int, int]] = set()
    for at, disease in enumerate(graph.diseases):
        shares = _shares(graph, ranker, disease, asked, USUAL)
        near = [int(n) for n in np.flatnonzero(shares >= CONFUSED_SHARE)]
        found |= {(min(at, n), max(at, n)) for n in near if n != at}
    return ((graph.diseases[a].id, graph.diseases[b].id) for a, b in sorted(found))


def _before(graph: Graph, ranker: Ranker, told: Which) -> Iterator[tuple[str, str]]:
    """Each disease that is not first though all that is common in it is told and what speaks against it denied."""
    for at, disease in enumerate(graph.diseases):
        shares = _shares(graph, ranker, disease, told, TOLD, denied=True)
        if shares.argmax() != at:
            yield disease.id, graph.diseases[int(shares.argmax())].id


def _shares(
    graph: Graph,
    ranker: Ranker,
    disease: Disease,
    told: Which,
    how_often: Sequence[str],
    *,
    denied: bool = False,
) -> Matrix:
    """Array (diseases,): the ranking of a person in the middle of the usual ages who tells of these findings."""
    columns = {f.id: n for n, f in enumerate(graph.findings)}
    wanted = (*how_often, "absent") if denied else tuple(how_often)
    edges = [e for e in disease.manifestations if e.how_often in wanted and told[columns[e.finding]]]
    seen = [Observation(columns[e.finding], 1.0, e.polarity == "present", n) for n, e in enumerate(edges)]
    sex = None if disease.sex == "any" else disease.sex
    return ranker.scores(seen, Person(age=sum(disease.ages.typical) / 2, sex=sex))
