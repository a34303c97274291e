"""A memory's neighbours as a small picture: what it replaced, what replaced it, what it rests on. Pure.

Drawn like a commit graph, one row a node: it reads the same on a phone, and needs no layout engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from memfs.model.codepoints import escape_hidden
from memfs.model.values import dataclass

ROW = 34
MAX_ROWS = 12
"""Most rows of each sort; the rest is counted."""

_SPINE, _TWIG, _TEXT = 14, 40, 62
_LONGEST = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One row: ``note`` stands after the label, ``tone`` is a class of the style sheet."""

    label: str
    note: str = ""
    tone: str = "plain"
    href: str | None = None


def draw_graph(here: Node, *, newer: Sequence[Node], older: Sequence[Node], evidence: Sequence[Node]) -> str:
    """Return the picture as inline SVG without scripts, styles or outside references."""
    above, below, leaves = _capped(newer), _capped(older), _capped(evidence)
    rows: list[tuple[str, Node]] = [("newer", node) for node in above]
    rows.append(("here", here))
    rows += [("leaf", node) for node in leaves]
    rows += [("older", node) for node in below]
    at = {place: ROW * place + ROW // 2 for place in range(len(rows))}
    middle = len(above)
    last_spine = max((place for place, (kind, _) in enumerate(rows) if kind != "leaf"), default=middle)
    lines: list[str] = []
    if last_spine > 0:
        lines.append(f'<path class="edge" d="M{_SPINE} {at[0]}V{at[last_spine]}"/>')
    for place, (kind, _) in enumerate(rows):
        if kind == "leaf":
            lines.append(
                f'<path class="edge leaf" d="M{_SPINE} {at[middle]}V{at[place] - 8}q0 8 8 8H{_TWIG}" fill="none"/>'
            )
    shapes = [_draw(kind, node, at[place]) for place, (kind, node) in enumerate(rows)]
    height = ROW * len(rows)
    title = f"What {escape(_visible(here.label))} is connected to"
    return (
        f'<svg class="graph" width="100%" height="{height}" role="group" aria-label="{title}">'
        f"<title>{title}</title>{''.join(lines)}{''.join(shapes)}</svg>"
    )


def _draw(kind: str, node: Node, y: int) -> str:
    tone = escape(node.tone)
    if kind == "leaf":
        shape = f'<rect class="node {tone}" x="{_TWIG}" y="{y - 5}" width="10" height="10" rx="2"/>'
        x = _TEXT
    else:
        radius = 7 if kind == "here" else 5
        shape = f'<circle class="node {tone}{" here" if kind == "here" else ""}" cx="{_SPINE}" cy="{y}" r="{radius}"/>'
        x = _SPINE + 20
    label = f'<tspan class="{"label here" if kind == "here" else "label"}">{escape(_visible(node.label))}</tspan>'
    note = f'<tspan class="note" dx="8">{escape(_visible(node.note))}</tspan>' if node.note else ""
    text = f'<text x="{x}" y="{y + 4}">{label}{note}</text>'
    if node.href:
        text = f'<a href="{escape(node.href)}">{text}</a>'
    return shape + text


def _visible(text: str) -> str:
    shown = escape_hidden(text[: _LONGEST * 2], single_line=True)
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"


def _capped(nodes: Sequence[Node]) -> list[Node]:
    if len(nodes) <= MAX_ROWS:
        return list(nodes)
    kept = list(nodes[: MAX_ROWS - 1])
    return [*kept, Node(label=f"and {len(nodes) - len(kept)} more", tone="plain")]
