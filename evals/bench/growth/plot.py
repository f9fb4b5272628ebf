"""A figure of panels with logarithmic axes, as SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

WIDTH, HEIGHT, EDGE = 360, 250, 52  # ours: pixels of a panel, and of its margin
COLOURS = ("#1b6ca8", "#c2571a", "#3a7d44")  # ours: told apart also without colour sight, with the marks
MARKS = ("circle", "square", "diamond")


class Panel(NamedTuple):
    """One panel: title, unit, and its lines by key and name."""

    title: str
    unit: str
    lines: tuple[tuple[str, str], ...]


def drawn(measured: Mapping[int, Mapping[str, float]], panels: Sequence[Panel]) -> str:
    """The figure, two panels side by side; the horizontal axis is the number of passages."""
    rows = (len(panels) + 1) // 2
    box = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {rows * HEIGHT}"'
    parts = [
        f'<svg {box} font-family="sans-serif" font-size="11" role="img">',
        "<title>Cost of a collection on one machine as it grows</title>",
        f'<rect width="{2 * WIDTH}" height="{rows * HEIGHT}" fill="white"/>',
    ]
    for n, panel in enumerate(panels):
        parts.append(f'<g transform="translate({n % 2 * WIDTH},{n // 2 * HEIGHT})">')
        parts += _panel(measured, panel)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def _panel(measured: Mapping[int, Mapping[str, float]], panel: Panel) -> list[str]:
    sizes = sorted(measured)
    values = [measured[size][key] for size in sizes for key, _ in panel.lines]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    first, last = math.log10(sizes[0]), math.log10(sizes[-1])
    wide, tall = WIDTH - 2 * EDGE, HEIGHT - 2 * EDGE

    def x(size: float) -> float:
        return EDGE + wide * (math.log10(size) - first) / max(last - first, 1e-9)

    def y(value: float) -> float:
        return HEIGHT - EDGE - tall * (math.log10(value) - low) / max(high - low, 1)

    parts = [f'<text x="{EDGE}" y="{EDGE - 30}" font-weight="bold">{panel.title} ({panel.unit})</text>']
    for power in range(low, high + 1):
        at = y(10**power)
        parts.append(f'<line x1="{EDGE}" x2="{WIDTH - EDGE}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{EDGE - 6}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:,g}</text>')
    ticks = [(x(size), _short(size)) for size in sizes]
    parts += [f'<text x="{at:.1f}" y="{HEIGHT - EDGE + 16}" text-anchor="middle">{size}</text>' for at, size in ticks]
    parts.append(f'<text x="{WIDTH / 2:.0f}" y="{HEIGHT - EDGE + 32}" text-anchor="middle">passages</text>')
    for n, (key, name) in enumerate(panel.lines):
        points = [(x(size), y(measured[size][key])) for size in sizes]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[n]}" stroke-width="1.5"/>')
        parts += [_mark(n, *point) for point in points]
        left = EDGE + 100 * n
        parts.append(_mark(n, left, EDGE - 15))
        parts.append(f'<text x="{left + 8}" y="{EDGE - 11}">{name}</text>')
    return parts


def _mark(n: int, x: float, y: float) -> str:
    colour = f'fill="{COLOURS[n]}"'
    if MARKS[n] == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" {colour}/>'
    turned = f' transform="rotate(45 {x:.1f} {y:.1f})"' if MARKS[n] == "diamond" else ""
    return f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6" {colour}{turned}/>'


def _short(size: int) -> str:
    return f"{size / 1e6:g}M" if size >= 1e6 else f"{size / 1e3:g}k"
