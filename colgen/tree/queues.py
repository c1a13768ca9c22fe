"""The order in which open nodes are evaluated."""

from __future__ import annotations

import heapq
import itertools
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence

from colgen.core.sense import Sense
from colgen.tree.node import Node


class NodeQueue(ABC):
    """The order in which open nodes are evaluated.

    Attributes
    ----------
    objective
        The objective of the incumbent, hopeless as long as there is none. The search sets it before each node.
    """

    def __init__(self, sense: Sense) -> None:
        self.sense = sense
        self.objective = sense.hopeless

    @abstractmethod
    def push(self, children: Sequence[Node]) -> None:
        """Add the children of one node, in the order that the branching rule prefers."""

    @abstractmethod
    def pop(self) -> Node:
        """Remove and return the next node."""

    @abstractmethod
    def __iter__(self) -> Iterator[Node]:
        """Yield all open nodes."""

    @property
    def best(self) -> float:
        """The best bound of the open nodes; hopeless if there is none, or if the order does not depend on bounds."""
        return self.sense.hopeless

    def refill(self, nodes: Sequence[Node]) -> None:
        """Add open nodes of another search, in the order of iteration over its queue."""
        for node in nodes:
            self.push((node,))

    def __bool__(self) -> bool:
        return next(iter(self), None) is not None


class BestBound(NodeQueue):
    """Take the open node with the best bound first; the deeper one if bounds are equal."""

    def __init__(self, sense: Sense) -> None:
        super().__init__(sense)
        self._heap: list[tuple[float, int, int, Node]] = []

    def push(self, children: Sequence[Node]) -> None:
        for node in children:
            heapq.heappush(self._heap, (self.sense.sign * node.bound, -node.depth, node.number, node))

    def pop(self) -> Node:
        return heapq.heappop(self._heap)[-1]

    @property
    def best(self) -> float:
        return self._heap[0][-1].bound if self._heap else self.sense.hopeless

    def __iter__(self) -> Iterator[Node]:
        return (entry[-1] for entry in self._heap)


class Plunging(BestBound):
    """Best bound with plunging: the first child of the node just branched on, otherwise the best bound.

    Plunging finds feasible solutions early and keeps warm starts useful. Returning to the best bound improves the
    global bound. A plunge pauses at a child that lags behind the best open node, see :meth:`Sense.lags`.
    """

    def __init__(self, sense: Sense) -> None:
        super().__init__(sense)
        self._next: deque[Node] = deque()  # more than one if nodes are evaluated in batches

    def push(self, children: Sequence[Node]) -> None:
        if children:
            super().push(children[1:])
            self._next.append(children[0])

    def refill(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            super().push((node,))

    def pop(self) -> Node:
        while self._next:
            node = self._next.popleft()
            if not self.sense.lags(node.bound, super().best, self.objective):
                return node
            super().push((node,))
        return super().pop()

    @property
    def best(self) -> float:
        return self.sense.best(super().best, *(node.bound for node in self._next))

    def __iter__(self) -> Iterator[Node]:
        return itertools.chain(super().__iter__(), self._next)


class DepthFirst(NodeQueue):
    """Take the newest open node first."""

    def __init__(self, sense: Sense) -> None:
        super().__init__(sense)
        self._nodes: deque[Node] = deque()

    def push(self, children: Sequence[Node]) -> None:
        self._nodes.extend(reversed(children))

    def pop(self) -> Node:
        return self._nodes.pop()

    def __iter__(self) -> Iterator[Node]:
        return iter(self._nodes)


class LevelWise(DepthFirst):
    """Take the oldest open node first: the tree is searched level by level."""

    def push(self, children: Sequence[Node]) -> None:
        self._nodes.extend(children)

    def pop(self) -> Node:
        return self._nodes.popleft()
