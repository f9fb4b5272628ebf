"""The continuity curve of a document as a picture (SVG), with its breakpoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from tools.passages.seos import SectionCut

# ours: pixels of the picture and of its frame
WIDTH, HEIGHT = 1000, 320
LEFT, RIGHT, TOP, BOTTOM = 48, 16, 40, 56
SHORT = 28  # ours: characters of a heading that fit under its part of the curve
LINES = 4  # ours: parts into which lines divide the height


class _Scale(NamedTuple):
    """From characters of the text and continuity to pixels."""

    length: int
    low: float
    high: float

    def x(self, character: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * character / max(1, self.length)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share)


def curve_picture(title: str, text: str, cuts: Sequence[SectionCut]) -> str:
    """SVG: continuity over the characters of the text, a line at each breakpoint, the overlaps as bars, the headings.

    A section that is one passage has no curve; it is drawn as an empty part.
    """
    values = [float(v) for cut in cuts for v in cut.curve]
    scale = _Scale(len(text), min(values, default=0.0), max(values, default=1.0))
    titles = [None, *(cut.section.title for cut in cuts)]
    body = [
        _grid(scale),
        *(_section(c, scale, titled=c.section.title != t) for c, t in zip(cuts, titles, strict=False)),
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="11"><rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'
        f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>'
        f'<text x="{LEFT}" y="34" fill="#666">continuity between neighbouring sentences; red: breakpoints; '
        "bars: text that two passages share</text>"
    )
    return "\n".join([head, *body, "</svg>", ""])


def _grid(scale: _Scale) -> str:
    marks = []
    for step in range(LINES + 1):
        value = scale.low + (scale.high - scale.low) * step / LINES
        y = scale.y(value)
        marks.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#eee"/>')
        marks.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#666">{value:.2f}</text>')
    return "".join(marks)


def _section(cut: SectionCut, scale: _Scale, *, titled: bool) -> str:
    floor = HEIGHT - BOTTOM
    start = scale.x(cut.section.start)
    parts = [f'<line x1="{start:.1f}" x2="{start:.1f}" y1="{TOP}" y2="{floor}" stroke="#bbb" stroke-dasharray="2 3"/>']
    if len(cut.curve):
        points = " ".join(f"{scale.x(c):.1f},{scale.y(v):.1f}" for c, v in zip(cut.gaps, cut.curve, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="#1f5fa8" stroke-width="1.2"/>')
    for found in cut.breaks:
        x = scale.x(found.at)
        parts.append(
            f'<line class="break" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{floor}" stroke="#c33" stroke-width="0.8"/>'
        )
    for p in cut.passages:
        if p.start < p.core_start:
            x, width = scale.x(p.start), scale.x(p.core_start) - scale.x(p.start)
            parts.append(
                f'<rect class="overlap" x="{x:.1f}" y="{floor - 6}" width="{width:.1f}" height="6" fill="#e8a33d"/>'
            )
    heading = (cut.section.title or "")[:SHORT] if titled else ""
    parts.append(
        f'<text x="{start:.1f}" y="{floor + 12}" fill="#444" transform="rotate(20 {start:.1f} {floor + 12})">'
        f"{escape(heading)}</text>"
    )
    return "".join(parts)
