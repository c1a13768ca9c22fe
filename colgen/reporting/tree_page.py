"""The branch-and-bound tree in a page: hover for bound and decisions, click to fold, wheel to zoom.

The picture needs neither script nor matplotlib. Folding and zooming need the script.
"""

from __future__ import annotations

import html
import math
from collections import defaultdict
from collections.abc import Sequence

from colgen.core.result import NodeRecord
from colgen.core.text import number
from colgen.reporting.tree_layout import layout

_DRAWN = 2_000
"""Maximum number of nodes drawn, to limit the size of the page."""

_ACROSS, _DOWN, _RADIUS, _MARGIN = 26.0, 46.0, 7.0, 20.0
"""Distance of leaves, distance of levels, size of nodes and margin, in units of the picture."""

_SIDES = 3.0
"""Ratio of width to depth above which leaves move closer, down to the width of a node."""

_SHAPES = {
    # outcome: shape, so that no colour is needed
    "branched": '<circle r="6"/>',
    "whole": '<path d="M0-9 2.6-2.8 9-2.8 3.9 1.2 5.6 7.6 0 3.8-5.6 7.6-3.9 1.2-9-2.8-2.6-2.8Z"/>',
    "pruned": '<rect x="-6" y="-6" width="12" height="12"/>',
    "infeasible": '<path d="M-6-6 6 6M6-6-6 6"/>',
}
_OTHER_SHAPE = '<path d="M0-8 8 0 0 8-8 0Z"/>'

STYLE = """
.tree { --paper: #fff; --ink: #000; }
@media (prefers-color-scheme: dark) { .tree { --paper: #181a1b; --ink: #ddd; } }
.tree svg { width: 100%; max-height: 34rem; border: 1px solid #8884; background: var(--paper); touch-action: pan-y; }
.tree line { stroke: #888; stroke-width: 1; } .tree line.of { stroke: #D55E00; stroke-width: 3; }
.tree g { stroke: var(--ink); stroke-width: 1; fill: var(--paper); cursor: pointer; outline: none; }
.tree g.branched { fill: #0072B2; } .tree g.whole { fill: #009E73; } .tree g.infeasible { stroke: #D55E00;
stroke-width: 3; } .tree g.folded { stroke-width: 4; stroke-dasharray: 2 1; } .tree g:focus-visible { stroke: #D55E00; }
.tree .away { display: none; } .tree output { display: block; min-height: 3em; font-size: 13px; }
.tree .key svg { width: 20px; height: 20px; border: 0; vertical-align: middle; }
.tree .key span { margin-right: 1rem; white-space: nowrap; }
"""

SCRIPT = """
const grow = tree => {
  const svg = tree.querySelector(":scope > svg"), output = tree.querySelector("output"), hint = output.textContent;
  const nodes = new Map([...svg.querySelectorAll("g")].map(g => [g.dataset.n, g]));
  const edges = new Map([...svg.querySelectorAll("line")].map(line => [line.dataset.n, line]));
  const above = g => nodes.get(g.dataset.p);
  const refold = () => {  // parents come before their children
    for (const [n, g] of nodes) {
      const p = above(g), away = !!p && (p.matches(".away") || p.matches(".folded"));
      g.classList.toggle("away", away);
      edges.get(n)?.classList.toggle("away", away);
    }
  };
  const show = g => {
    for (const line of edges.values()) line.classList.remove("of");
    output.textContent = g ? g.querySelector("title").textContent : hint;
    for (; g; g = above(g)) edges.get(g.dataset.n)?.classList.add("of");
  };
  const parents = new Set([...nodes.values()].map(g => g.dataset.p));
  const fold = g => { if (parents.has(g.dataset.n)) { g.classList.toggle("folded"); refold(); } };
  let moved = false;
  for (const g of nodes.values()) {
    g.onmouseenter = g.onfocus = () => show(g);
    g.onmouseleave = g.onblur = () => show(null);
    g.onclick = () => { if (!moved) fold(g); };
    g.onkeydown = event => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); fold(g); }
    };
  }
  const whole = svg.getAttribute("viewBox"), box = svg.viewBox.baseVal;
  const scale = () => 1 / svg.getScreenCTM().a;
  const zoom = (by, x, y) => {
    box.x += (x - box.x) * (1 - by); box.y += (y - box.y) * (1 - by); box.width *= by; box.height *= by;
  };
  svg.onwheel = event => {
    if (!event.ctrlKey && !event.altKey && !event.shiftKey && document.activeElement !== svg) return;
    event.preventDefault();
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    zoom(event.deltaY + event.deltaX > 0 ? 1.2 : 1 / 1.2, at.x, at.y);
  };
  const middle = by => zoom(by, box.x + box.width / 2, box.y + box.height / 2);
  const acts = { "+": () => middle(1 / 1.4), "−": () => middle(1.4), "reset": () => svg.setAttribute("viewBox", whole),
    "unfold": () => { for (const g of nodes.values()) g.classList.remove("folded"); refold(); } };
  for (const button of tree.querySelectorAll("button")) button.onclick = acts[button.textContent];
  svg.onpointerdown = event => {
    let { clientX: x, clientY: y } = event;
    moved = false;
    const drag = next => {
      if (!moved && Math.hypot(next.clientX - x, next.clientY - y) < 4) return;
      moved = true;
      const by = scale();
      box.x -= (next.clientX - x) * by; box.y -= (next.clientY - y) * by;
      x = next.clientX; y = next.clientY;
    };
    const end = () => { removeEventListener("pointermove", drag); removeEventListener("pointerup", end); };
    addEventListener("pointermove", drag); addEventListener("pointerup", end);
  };
};
document.querySelectorAll(".tree").forEach(grow);
"""

_HINT = (
    "Point at a node to see its bound and decisions; click to fold its subtree; drag to move; Ctrl and wheel to zoom."
)


def tree(nodes: Sequence[NodeRecord]) -> str:
    """Return the tree as HTML elements. The page needs :data:`STYLE` and :data:`SCRIPT` once.

    Only the first nodes of a large tree are drawn, with a note.
    """
    drawn = sorted(nodes, key=lambda node: node.number)[:_DRAWN]
    place = layout(drawn)
    width, height = max(place.values(), default=0.0), max((node.depth for node in drawn), default=0)
    across = _ACROSS if not width else min(_ACROSS, max(2 * _RADIUS, _SIDES * max(height, 6) * _DOWN / width))
    at = {node.number: (across * place[node.number], _DOWN * node.depth) for node in drawn}
    edges = "".join(_edge(node, at) for node in drawn if node.parent in at)
    marks = "".join(_mark(node, *at[node.number]) for node in drawn)
    left, size = -_MARGIN, (across * width + 2 * _MARGIN, _DOWN * height + 2 * _MARGIN)
    picture = f'<svg viewBox="{left:g} {left:g} {size[0]:g} {size[1]:g}" tabindex="0">{edges}{marks}</svg>'
    buttons = "".join(f'<button type="button">{word}</button>' for word in ("+", "−", "reset", "unfold"))
    more = len(nodes) - len(drawn)
    left_out = f"<p>{more:,} later nodes are left out.</p>" if more else ""
    key = f'<div class="key">{_key(drawn)}</div>'
    return f'<div class="tree">{buttons}{key}{picture}<output>{_HINT}</output>{left_out}</div>'


def _edge(node: NodeRecord, at: dict[int, tuple[float, float]]) -> str:
    assert node.parent is not None
    (x1, y1), (x2, y2) = at[node.parent], at[node.number]
    return f'<line data-n="{node.number}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>'


def _mark(node: NodeRecord, x: float, y: float) -> str:
    parent = "" if node.parent is None else node.parent
    return (
        f'<g class="{_word(node.outcome)}" tabindex="0" data-n="{node.number}" data-p="{parent}" '
        f'transform="translate({x:g} {y:g})"><title>{html.escape(_describe(node))}</title>{_shape(node.outcome)}</g>'
    )


def _describe(node: NodeRecord) -> str:
    """Return the data of a node as one text, its last decision first."""
    bound = f"bound {number(node.bound, 8)}" if math.isfinite(node.bound) else "no bound"
    decisions = [str(decision) for decision in reversed(node.decisions)]
    after = f"; {' ← '.join(decisions)}" if decisions else ""
    return f"node {node.number}, depth {node.depth}: {node.outcome}, {bound}{after}"


def _key(nodes: Sequence[NodeRecord]) -> str:
    """Return the legend of the shapes, with the number of nodes of each."""
    counts: dict[str, int] = defaultdict(int)
    for node in nodes:
        counts[node.outcome] += 1
    return "".join(
        f'<span><svg viewBox="-10 -10 20 20"><g class="{_word(outcome)}">{_shape(outcome)}</g></svg> '
        f"{html.escape(outcome)} ({count:,})</span>"
        for outcome, count in counts.items()
    )


def _shape(outcome: str) -> str:
    return _SHAPES.get(outcome, _OTHER_SHAPE)


def _word(outcome: str) -> str:
    """Return the CSS class of an outcome."""
    return outcome if outcome in _SHAPES else "other"
