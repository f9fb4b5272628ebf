"""A graph as people look at it: its figures, and its picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape

from tools.contract import Differential, RankedDisease
from tools.knowledge_graph.schema import Graph
from tools.knowledge_graph.votes import typical_nodes


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
