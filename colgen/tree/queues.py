"""Which open node comes next."""

from __future__ import annotations

import heapq
import itertools
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence

from colgen.core.sense import Sense
from colgen.tree.node import Node


class NodeQueue(ABC):
    """Decides which open node comes next."""

    def __init__(self, sense: Sense) -> None:
        self.sense = sense

    @abstractmethod
    def push(self, children: Sequence[Node]) -> None:
        """Take in the children of one node, in the order that the branching rule prefers."""

    @abstractmethod
    def pop(self) -> Node:
        """The next node."""

    @abstractmethod
    def __iter__(self) -> Iterator[Node]:
        """All open nodes."""

    def refill(self, nodes: Sequence[Node]) -> None:
        """Take in open nodes of another search, in the order in which its queue was looked at."""
        for node in nodes:
            self.push((node,))

    def __bool__(self) -> bool:
        return next(iter(self), None) is not None


class BestBound(NodeQueue):
    """The open node of the best bound; the deeper of equals."""

    def __init__(self, sense: Sense) -> None:
        super().__init__(sense)
        self._heap: list[tuple[float, int, int, Node]] = []

    def push(self, children: Sequence[Node]) -> None:
        for node in children:
            heapq.heappush(self._heap, (self.sense.sign * node.bound, -node.depth, node.number, node))

    def pop(self) -> Node:
        return heapq.heappop(self._heap)[-1]

    def __iter__(self) -> Iterator[Node]:
        return (entry[-1] for entry in self._heap)


class Plunging(BestBound):
    """Best bound with plunging: a child of a node just branched as long as there is one, else the best bound.

    Plunging finds answers early and keeps the warm start warm; jumping back to the best bound moves the global bound.
    """

    def __init__(self, sense: Sense) -> None:
        super().__init__(sense)
        self._next: deque[Node] = deque()  # several where nodes are evaluated in batches

    def push(self, children: Sequence[Node]) -> None:
        if children:
            super().push(children[1:])
            self._next.append(children[0])

    def refill(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            super().push((node,))

    def pop(self) -> Node:
        return self._next.popleft() if self._next else super().pop()

    def __iter__(self) -> Iterator[Node]:
        return itertools.chain(super().__iter__(), self._next)


class DepthFirst(NodeQueue):
    """The youngest open node."""

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
    """Level by level: the oldest open node."""

    def push(self, children: Sequence[Node]) -> None:
        self._nodes.extend(children)

    def pop(self) -> Node:
        return self._nodes.popleft()
