"""What a graph holds, counted."""

from __future__ import annotations

from collections import Counter

from tools.knowledge_graph.schema import Graph
from tools.knowledge_graph.votes import typical_nodes


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
