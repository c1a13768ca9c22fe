"""The layout of a branch-and-bound tree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from colgen.core.result import NodeRecord


def layout(nodes: Sequence[NodeRecord]) -> dict[int, float]:
    """Return a horizontal position for each node: leaves side by side, parents centred above their children."""
    children: dict[int | None, list[int]] = defaultdict(list)
    numbers = {node.number for node in nodes}
    for node in sorted(nodes, key=lambda node: node.number):
        children[node.parent if node.parent in numbers else None].append(node.number)
    place: dict[int, float] = {}
    leaves = 0
    stack = [(number, False) for number in reversed(children[None])]
    while stack:  # not recursive: a tree can be deeper than Python's stack
        number, seen = stack.pop()
        if not children[number]:
            place[number] = float(leaves)
            leaves += 1
        elif seen:
            below = [place[child] for child in children[number]]
            place[number] = (below[0] + below[-1]) / 2
        else:
            stack.append((number, True))
            stack += [(child, False) for child in reversed(children[number])]
    return place
