"""The open part of a branch-and-bound tree."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence

from colgen.core.result import NodeRecord, Termination
from colgen.core.sense import Sense
from colgen.tree.node import Node
from colgen.tree.queues import NodeQueue, Plunging


class OpenTree:
    """The open part of a branch-and-bound tree, at any time of the search.

    Attributes
    ----------
    queue
        The open nodes, without those under evaluation.
    current
        The nodes under evaluation.
    left, why_left
        Dual bound of the unresolved leaves, and the reason for the last of them.
    lost, why_lost
        The same without leaves that only a limit left unresolved: another run may resolve these.
    treated
        Number of closed nodes.
    next_number
        Number of the next child.
    checks_children
        Whether bounds of children are checked against those of their parents.
    records
        Records of the closed nodes.
    admit
        Called with nodes before they are opened. It may raise an error.
    """

    def __init__(self, sense: Sense, queue: NodeQueue | None = None) -> None:
        self.sense = sense
        self.queue = Plunging(sense) if queue is None else queue  # an empty queue is falsy
        self.bounds = OpenBounds(sense)
        self.left = self.lost = sense.hopeless
        self.why_left: Termination | None = None
        self.why_lost: Termination | None = None
        self.treated = 0
        self.next_number = 1
        self.current: list[Node] = []
        self.checks_children = True
        self.records: list[NodeRecord] = []
        self._limited: list[Node] = []
        self._closed = False
        self.begun = False
        self.admit: Callable[[Sequence[Node]], None] | None = None

    def begin(self) -> None:
        """Open the root, unless the tree was refilled."""
        if not self.begun:
            self.begun = True
            self.push([Node(bound=self.sense.ideal)])

    def refill(
        self, nodes: Sequence[Node], *, lost: float, why_lost: Termination | None, treated: int, next_number: int
    ) -> None:
        """Restore the open nodes and counts at which another run stopped."""
        self.begun = True
        self.left = self.lost = lost
        self.why_left = self.why_lost = why_lost
        self.treated, self.next_number = treated, next_number
        self.bounds.add(nodes)
        self.queue.refill(nodes)

    def close(self) -> None:
        """Mark the tree as completely searched."""
        self.begun = self._closed = True

    def push(self, nodes: Sequence[Node]) -> None:
        """Open the children of one node."""
        if self.admit is not None:
            self.admit(nodes)
        self.bounds.add(nodes)
        self.queue.push(nodes)

    def add(self, nodes: Sequence[Node]) -> None:
        """Open nodes with different parents, from another search."""
        if self.admit is not None:
            self.admit(nodes)
        self.bounds.add(nodes)
        self.queue.refill(nodes)

    def add_lost(self, bound: float, why: Termination | None) -> None:
        """Add leaves that no run can resolve. Does nothing without a reason ``why``."""
        if why is not None:
            self.left, self.why_left = self.sense.best(self.left, bound), why
            self.lost, self.why_lost = self.sense.best(self.lost, bound), why

    def pop(self) -> Node:
        """Return the next node, which is then under evaluation."""
        node = self.queue.pop()
        self.current.append(node)
        return node

    def close_node(self, node: Node) -> None:
        """Close a node under evaluation."""
        self.current.remove(node)
        self.treated += 1

    def new_number(self) -> int:
        """Return a number for a new node."""
        self.next_number += 1
        return self.next_number - 1

    def leave_unresolved(self, node: Node, bound: float, why: Termination, *, limited: bool) -> None:
        """Leave a leaf unresolved. Another run may resolve it if only a limit prevents this (``limited``)."""
        self.left, self.why_left = self.sense.best(self.left, bound), why
        if limited:
            self._limited.append(node)
        else:
            self.lost, self.why_lost = self.sense.best(self.lost, bound), why

    @property
    def best(self) -> float:
        """A dual bound of the open nodes and the unresolved leaves."""
        return self.sense.best(self.left, self.bounds.best)

    def unfinished(self) -> list[Node]:
        """Return all nodes that another run must evaluate, those under evaluation first."""
        if self._closed:
            return []
        if not self.begun:
            return [Node(bound=self.sense.ideal)]
        return [*self.current, *self.queue, *self._limited]

    def lost_outside(self, nodes: Sequence[Node]) -> float:
        """Return a dual bound of everything outside some nodes, including nodes that the queue has dropped."""
        found = {node.number for node in nodes}
        dropped = [bound for bound, number in self.bounds if number not in found]
        return self.sense.best(self.lost, *dropped) if dropped else self.lost


class OpenBounds:
    """The bounds of the open nodes in a heap, for any order of the queue.

    A closed node leaves the heap when it reaches the top. Nodes that a queue has dropped stay open and keep the bound
    weak.
    """

    def __init__(self, sense: Sense) -> None:
        self._sense = sense
        self._heap: list[tuple[float, int]] = []
        self._done: set[int] = set()

    def add(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            heapq.heappush(self._heap, (self._sense.sign * node.bound, node.number))

    def close(self, node: Node) -> None:
        self._done.add(node.number)

    def __len__(self) -> int:
        return len(self._heap) - len(self._done)

    def __iter__(self) -> Iterator[tuple[float, int]]:
        return ((self._sense.sign * bound, number) for bound, number in self._heap if number not in self._done)

    @property
    def best(self) -> float:
        """The weakest bound, hopeless if no node is open."""
        heap, done = self._heap, self._done
        while heap and heap[0][1] in done:
            done.remove(heapq.heappop(heap)[1])
        return self._sense.sign * heap[0][0] if heap else self._sense.hopeless
