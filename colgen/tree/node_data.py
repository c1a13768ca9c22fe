"""Nodes as plain data: for a file, or for another process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from colgen.core.decision import ROOT, Decision, DecisionPath
from colgen.core.decision_data import DecisionWriter
from colgen.core.errors import InputError
from colgen.core.serialization import as_plain, of_plain
from colgen.tree.branch_and_price import started
from colgen.tree.node import Node


class PathWriter:
    """Writes the decisions of many nodes, those that several share once; what was written before is not made anew.

    Parameters
    ----------
    writer
        Of the problem's decisions.
    """

    def __init__(self, writer: DecisionWriter) -> None:
        self._writer = writer
        self._known: dict[int, tuple[Decision, Any]] = {}

    def data(self, paths: Sequence[DecisionPath]) -> tuple[list[Any], list[int]]:
        """All links of paths, each with the number of the one above it, and the number of each path's last."""
        number: dict[int, int] = {}
        links: list[Any] = []
        kept: dict[int, tuple[Decision, Any]] = {}
        found = []
        for last in paths:
            chain: list[DecisionPath] = []
            path: DecisionPath | None = last
            while path is not None and id(path) not in number:
                chain.append(path)
                path = path.above
            above = -1 if path is None else number[id(path)]
            for link in reversed(chain):
                links.append([above, [self._data(decision, kept) for decision in link.own]])
                above = number[id(link)] = len(links) - 1
            found.append(above)
        self._known = kept  # those of nodes that are done with are forgotten
        return links, found

    def _data(self, decision: Decision, kept: dict[int, tuple[Decision, Any]]) -> Any:
        known = self._known.get(id(decision)) or kept.get(id(decision))
        if known is None or known[0] is not decision:
            known = (decision, self._writer.data(decision))
        kept[id(decision)] = known
        return known[1]


def paths_of(links: Sequence[Any], writer: DecisionWriter) -> list[DecisionPath]:
    """The paths that links are of."""
    found: list[DecisionPath] = []
    for above, own in links:
        before = ROOT if above == -1 else found[above]
        decisions = [writer.made(data) for data in own]
        hash(tuple(decisions))  # nodes are compared by them
        found.append(before.below(decisions))
    return found


def node_data(node: Node, link: int) -> list[Any]:
    """A node, whose path ends with such a link."""
    return [node.number, node.parent, node.depth, link, node.bound, _moved(node)]


def node_of(data: Sequence[Any], paths: Sequence[DecisionPath]) -> Node:
    """The node that data are of; nothing is left of what its parent had handed to it but what pseudo-costs learn."""
    number, parent, depth, link, bound, moved = data
    start = None if moved is None else started(of_plain(moved))
    return Node(int(number), None if parent is None else int(parent), int(depth), paths[link], float(bound), start)


def _moved(node: Node) -> Any:
    """What pseudo-costs are to learn of a node; None if it is no plain data, which is no more than a pity."""
    moved = getattr(node.start, "moved", None)
    if moved is None:
        return None
    try:
        return as_plain(tuple(moved), "what has moved")
    except InputError:
        return None
