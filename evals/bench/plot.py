"""Panels of lines as SVG, two side by side, on linear or on logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

WIDTH, HEIGHT, EDGE = 360, 250, 52  # ours: pixels of a panel, and of its margin
COLOURS = ("#1b6ca8", "#c2571a", "#3a7d44")  # ours: told apart without colour sight too, with the dashes
DASHES = ("none", "6 3", "2 2")
Point = tuple[float, float]


class Panel(NamedTuple):
    """One panel: its title with the unit, what the horizontal axis counts, and its lines by name."""

    title: str
    along: str
    lines: Mapping[str, Sequence[Point]]
    logarithmic: bool = False


def drawn(title: str, panels: Sequence[Panel]) -> str:
    """The picture."""
    wide, tall = min(2, len(panels)) * WIDTH, -(-len(panels) // 2) * HEIGHT
    parts = [
        f'<g transform="translate({n % 2 * WIDTH},{n // 2 * HEIGHT})">{_panel(p)}</g>' for n, p in enumerate(panels)
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" font-family="sans-serif" font-size="11"'
    )
    return "\n".join(
        [
            f'{head} role="img">',
            f"<title>{title}</title>",
            '<rect width="100%" height="100%" fill="white"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


def _panel(panel: Panel) -> str:
    points = [point for line in panel.lines.values() for point in line] or [(1.0, 1.0)]
    across, up = [x for x, _ in points], [y for _, y in points]
    if panel.logarithmic:
        low, high = 10.0 ** math.floor(math.log10(min(up))), 10.0 ** math.ceil(math.log10(max(up)))
        rows = [10.0**power for power in range(round(math.log10(low)), round(math.log10(high)) + 1)]
    else:
        low, high = 0.0, max(up)
        rows = [high * part / 4 for part in range(5)]
    columns = sorted(set(across)) if panel.logarithmic else [max(across)]

    def share(value: float, least: float, most: float) -> float:
        if panel.logarithmic:
            value, least, most = math.log10(value), math.log10(least), math.log10(most)
        return (value - least) / (most - least) if most > least else 0.0

    def x(value: float) -> float:
        return round(EDGE + (WIDTH - 2 * EDGE) * share(value, min(across), max(across)), 1)

    def y(value: float) -> float:
        return round(HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * share(value, low, high), 1)

    parts = [_text(EDGE, EDGE - 30, panel.title, "start"), _text(WIDTH / 2, HEIGHT - EDGE + 32, panel.along, "middle")]
    for row in rows:
        parts.append(f'<line x1="{EDGE}" x2="{WIDTH - EDGE}" y1="{y(row)}" y2="{y(row)}" stroke="#ddd"/>')
        parts.append(_text(EDGE - 6, y(row) + 4, f"{row:,.4g}", "end"))
    parts += [_text(x(value), HEIGHT - EDGE + 16, f"{value:,g}", "middle") for value in columns]
    for n, (name, line) in enumerate(panel.lines.items()):
        path = " ".join(f"{x(a)},{y(b)}" for a, b in line)
        style = f'fill="none" stroke="{COLOURS[n]}" stroke-width="1.5" stroke-dasharray="{DASHES[n]}"'
        left = EDGE + 100 * n
        parts.append(f'<polyline points="{path}" {style}/>')
        parts.append(f'<line x1="{left - 12}" x2="{left + 4}" y1="{EDGE - 15}" y2="{EDGE - 15}" {style}/>')
        parts.append(_text(left + 8, EDGE - 11, name, "start"))
    return "\n".join(parts)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'
