"""What is left of a tree to be searched."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence

from colgen.core.result import NodeRecord, Termination
from colgen.core.sense import Sense
from colgen.tree.node import Node
from colgen.tree.queues import NodeQueue, Plunging


class OpenTree:
    """What is left of a tree to be searched, at any time of the search.

    Attributes
    ----------
    queue
        The open nodes but for those that are being treated.
    current
        The nodes that are being treated.
    left, why_left
        The best bound of the leaves that could not be resolved, and why they could not.
    lost, why_lost
        The same without those that only a limit has kept from being resolved: another run may.
    treated
        How many nodes are done with.
    next_number
        Of the next child.
    compares
        Whether children are held against the bounds of their parents.
    records
        What has become of the nodes that are done with.
    """

    def __init__(self, sense: Sense, queue: NodeQueue | None = None) -> None:
        self.sense = sense
        self.queue = Plunging(sense) if queue is None else queue  # an empty queue is false
        self.bounds = OpenBounds(sense)
        self.left = self.lost = sense.hopeless
        self.why_left: Termination | None = None
        self.why_lost: Termination | None = None
        self.treated = 0
        self.next_number = 1
        self.current: list[Node] = []
        self.compares = True
        self.records: list[NodeRecord] = []
        self._again: list[Node] = []
        self._closed = False
        self.begun = False
        self.admit: Callable[[Sequence[Node]], None] | None = None
        """Told of nodes that are about to be opened; it may refuse them."""

    def begin(self) -> None:
        """Open the root, unless nodes of another run are there."""
        if not self.begun:
            self.begun = True
            self.push([Node(bound=self.sense.ideal)])

    def refill(
        self, nodes: Sequence[Node], *, lost: float, why_lost: Termination | None, treated: int, next_number: int
    ) -> None:
        """Go on where another run has stopped."""
        self.begun = True
        self.left = self.lost = lost
        self.why_left = self.why_lost = why_lost
        self.treated, self.next_number = treated, next_number
        self.bounds.add(nodes)
        self.queue.refill(nodes)

    def close(self) -> None:
        """All is proved: nothing is left to be searched."""
        self.begun = self._closed = True

    def push(self, nodes: Sequence[Node]) -> None:
        """Open the children of one node."""
        if self.admit is not None:
            self.admit(nodes)
        self.bounds.add(nodes)
        self.queue.push(nodes)

    def put(self, nodes: Sequence[Node]) -> None:
        """Open nodes that somebody else has left, which are not the children of one."""
        if self.admit is not None:
            self.admit(nodes)
        self.bounds.add(nodes)
        self.queue.refill(nodes)

    def lose(self, bound: float, why: Termination | None) -> None:
        """Take in that leaves of such a bound cannot be resolved by anybody; no ``why``: that there are none."""
        if why is not None:
            self.left, self.why_left = self.sense.best(self.left, bound), why
            self.lost, self.why_lost = self.sense.best(self.lost, bound), why

    def pop(self) -> Node:
        """The next node: it is current from now on."""
        node = self.queue.pop()
        self.current.append(node)
        return node

    def done(self, node: Node) -> None:
        """A current node is done with."""
        self.current.remove(node)
        self.treated += 1

    def number(self) -> int:
        """A number for a new node."""
        self.next_number += 1
        return self.next_number - 1

    def leave(self, node: Node, bound: float, why: Termination, *, limited: bool) -> None:
        """Leave a leaf unresolved; ``limited``: another run may resolve it."""
        self.left, self.why_left = self.sense.best(self.left, bound), why
        if limited:
            self._again.append(node)
        else:
            self.lost, self.why_lost = self.sense.best(self.lost, bound), why

    @property
    def best(self) -> float:
        """A bound on what the open nodes and the unresolved leaves hold."""
        return self.sense.best(self.left, self.bounds.best)

    def unfinished(self) -> list[Node]:
        """All nodes that another run must look at, the current ones first."""
        if self._closed:
            return []
        if not self.begun:
            return [Node(bound=self.sense.ideal)]
        return [*self.current, *self.queue, *self._again]

    def lost_beside(self, nodes: Sequence[Node]) -> float:
        """A bound on what is in none of these nodes, and resolved by nobody: a queue may have dropped some."""
        found = {node.number for node in nodes}
        dropped = [bound for bound, number in self.bounds if number not in found]
        return self.sense.best(self.lost, *dropped) if dropped else self.lost


class OpenBounds:
    """The bounds of the open nodes, whatever the queue's order: the best of them is always on top of a heap.

    A node that is done with leaves the heap when it comes to the top.  A node that a queue has dropped stays open: what
    nobody has looked at weakens the bound.
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
        """Bound and number of each."""
        return ((self._sense.sign * bound, number) for bound, number in self._heap if number not in self._done)

    @property
    def best(self) -> float:
        """The weakest of their bounds, hopeless if no node is open."""
        heap, done = self._heap, self._done
        while heap and heap[0][1] in done:
            done.remove(heapq.heappop(heap)[1])
        return self._sense.sign * heap[0][0] if heap else self._sense.hopeless
