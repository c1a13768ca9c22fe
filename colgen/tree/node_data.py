"""Nodes as plain data, for files and other processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from colgen.core.decision import ROOT, Decision, DecisionPath
from colgen.core.decision_data import DecisionWriter
from colgen.core.errors import InputError
from colgen.core.serialization import as_plain, of_plain
from colgen.tree.branch_and_price import NodeStart
from colgen.tree.node import Node


class PathWriter:
    """Writes the decisions of many nodes. Shared decisions are written once, and data of previous calls are reused."""

    def __init__(self, writer: DecisionWriter) -> None:
        self._writer = writer
        self._known: dict[int, tuple[Decision, Any]] = {}

    def data(self, paths: Sequence[DecisionPath]) -> tuple[list[Any], list[int]]:
        """Return the links of paths, each with the number of the link above it, and the last link of each path."""
        number: dict[int, int] = {}
        links: list[Any] = []
        reused: dict[int, tuple[Decision, Any]] = {}
        found = []
        for last in paths:
            chain: list[DecisionPath] = []
            path: DecisionPath | None = last
            while path is not None and id(path) not in number:
                chain.append(path)
                path = path.above
            above = -1 if path is None else number[id(path)]
            for link in reversed(chain):
                links.append([above, [self._data(decision, reused) for decision in link.own]])
                above = number[id(link)] = len(links) - 1
            found.append(above)
        self._known = reused  # drop the data of closed nodes
        return links, found

    def _data(self, decision: Decision, reused: dict[int, tuple[Decision, Any]]) -> Any:
        known = self._known.get(id(decision)) or reused.get(id(decision))
        if known is None or known[0] is not decision:
            known = (decision, self._writer.data(decision))
        reused[id(decision)] = known
        return known[1]


def paths_of(links: Sequence[Any], writer: DecisionWriter) -> list[DecisionPath]:
    """Return the paths that consist of ``links``."""
    found: list[DecisionPath] = []
    for above, own in links:
        before = ROOT if above == -1 else found[above]
        decisions = [writer.read(data) for data in own]
        hash(tuple(decisions))  # decisions must be hashable, because nodes are compared by them
        found.append(before.below(decisions))
    return found


def node_data(node: Node, link: int) -> list[Any]:
    """Return a node as plain data. ``link`` is the last link of its path."""
    return [node.number, node.parent, node.depth, link, node.bound, _change_data(node)]


def node_of(data: Sequence[Any], paths: Sequence[DecisionPath]) -> Node:
    """Return the node of plain data. Of its start, only the data for pseudo-costs remain."""
    number, parent, depth, link, bound, change = data
    start = None if change is None else NodeStart(None, None, of_plain(change))
    return Node(int(number), None if parent is None else int(parent), int(depth), paths[link], float(bound), start)


def _change_data(node: Node) -> Any:
    """Return the data for pseudo-costs, or None if they cannot be written, which only delays learning."""
    change = getattr(node.start, "change", None)
    if change is None:
        return None
    try:
        return as_plain(tuple(change), "data for pseudo-costs")
    except InputError:
        return None
