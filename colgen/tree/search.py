"""Branch and bound over any bound: it knows nodes and their bounds, not where the bounds come from."""

from __future__ import annotations

import heapq
import itertools
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from colgen.bounds.run import Run
from colgen.core.decision import Decision
from colgen.core.errors import ChildBoundError
from colgen.core.path import ROOT, DecisionPath
from colgen.core.pool import Pool
from colgen.core.result import Certificate, NodeRecord, NodeVisit, Termination
from colgen.core.sense import Sense
from colgen.core.solution import Solution


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the tree: the branching decisions from the root, and what it inherits.

    Attributes
    ----------
    path
        The decisions, shared with its ancestors.
    bound
        The parent's dual bound, before any rounding.
    start
        Whatever the parent left to start warm from.
    """

    number: int = 0
    parent: int | None = None
    depth: int = 0
    path: DecisionPath = ROOT
    bound: float = 0.0
    start: Any = field(default=None, repr=False)
    _decisions: tuple[Decision, ...] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """All decisions from the root on: one tuple, made when the node is treated."""
        known = self._decisions
        if known is None:
            known = self.path.decisions
            object.__setattr__(self, "_decisions", known)
        return known


@dataclass(frozen=True)
class Evaluation:
    """What a relaxation says of a node.

    Attributes
    ----------
    bound
        On the node's answers, before any rounding.
    outcome
        One word or two for the record.
    children
        The decisions of each child, to be explored in this order; empty for a leaf.
    start
        Handed to the children.
    bounds, starts
        For each child a bound that is proved of it already, and what it alone is handed; empty if none was tried.
    fixed
        Decisions found at the node by reductions, which hold for all children.
    exact
        The relaxation's optimum, if it was solved to the end: it can be no better than the parent's bound.
    unresolved
        Why a leaf is left although it may hold better answers; None for a leaf that is done with.
    stop
        Why the whole search must end; the node then stays open.
    """

    bound: float
    outcome: str
    children: Sequence[Sequence[Decision]] = ()
    start: Any = None
    exact: float | None = None
    unresolved: Termination | None = None
    stop: Termination | None = None
    fixed: tuple[Decision, ...] = ()
    bounds: Sequence[float] = ()
    starts: Sequence[Any] = ()


class Relaxation(ABC):
    """Where a node's bound comes from: column generation, a dynamic program under a subgradient, ...

    Attributes
    ----------
    root
        The root's last solution, fractional in general; None if the relaxation has no such thing.
    root_bound
        The root's dual bound before any branching; None until it is known.
    certificate
        What proves the root's bound, where dual values do.
    """

    root: Solution | None = None
    root_bound: float | None = None
    certificate: Certificate | None = None

    @abstractmethod
    def evaluate(self, node: Node) -> Evaluation:
        """Bound a node, offer answers to the run's incumbent on the way, and name the children."""

    def pool(self) -> Pool | None:
        """The columns that are left at the end; None where there are none."""
        return None


# --- which node next -------------------------------------------------------------------------------------------------


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
    """Best bound with plunging: a child of the node just branched as long as there is one, else the best bound.

    Plunging finds answers early and keeps the warm start warm; jumping back to the best bound moves the global bound.
    """

    def __init__(self, sense: Sense) -> None:
        super().__init__(sense)
        self._next: Node | None = None

    def push(self, children: Sequence[Node]) -> None:
        if children:
            super().push(children[1:])
            self._next = children[0]

    def pop(self) -> Node:
        node, self._next = self._next, None
        return node if node is not None else super().pop()

    def __iter__(self) -> Iterator[Node]:
        return itertools.chain(super().__iter__(), () if self._next is None else (self._next,))


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


# --- the search ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TreeResult:
    """How the search ended: ``bound`` holds for all answers of the problem."""

    termination: Termination
    bound: float
    nodes: Sequence[NodeRecord]


def branch_and_bound(
    relaxation: Relaxation,
    run: Run,
    *,
    queue: NodeQueue | None = None,
    node_limit: int | None = None,
    depth_limit: int | None = None,
    on_node: Callable[[NodeVisit], object] | None = None,
) -> TreeResult:
    """Search the tree until the incumbent is proved optimal, or something stops the search.

    Parameters
    ----------
    on_node
        Called after each node, once it is known what has become of it.

    Raises
    ------
    ChildBoundError
        If a child's relaxation is better than its parent's bound.
    """
    sense = run.sense
    queue = Plunging(sense) if queue is None else queue  # an empty queue is false
    open_nodes = _OpenBounds(sense)
    numbers = itertools.count(1)
    records: list[NodeRecord] = []
    left = sense.hopeless  # best bound of the leaves that could not be resolved
    why_left: Termination | None = None
    stop: Termination | None = None

    def tell() -> None:
        if on_node is not None:
            run.prove(sense.best(left, open_nodes.best))
            visit = NodeVisit(records[-1], run.incumbent, run.objective, run.global_bound, len(open_nodes), run.seconds)
            on_node(visit)

    root = [Node(bound=sense.ideal)]
    open_nodes.add(root)
    queue.push(root)
    while queue and stop is None:
        if run.reason is not None:  # spoken in a round that decided its node
            stop = run.reason
            break
        if node_limit is not None and len(records) >= node_limit:
            stop = Termination.NODE_LIMIT
            break
        node = queue.pop()
        run.prove(sense.best(left, open_nodes.best))
        open_nodes.close(node)
        if run.prunes(node.bound) and node.number:
            records.append(_record(node, node.bound, "pruned"))
            tell()
            continue
        run.node_bound = node.bound
        try:
            evaluation = relaxation.evaluate(node)
        except KeyboardInterrupt:
            evaluation = Evaluation(run.node_bound, "interrupted", stop=Termination.INTERRUPTED)
        _check_child(run, node, evaluation)
        bound = sense.worst(node.bound, evaluation.bound)
        records.append(_record(node, bound, evaluation.outcome))
        if evaluation.stop is not None:
            stop = evaluation.stop
            left = sense.best(left, bound)
        elif evaluation.unresolved is not None:
            # What a limit has cut short would be called something else.
            left, why_left = sense.best(left, bound), run.budget.reason or evaluation.unresolved
        elif evaluation.children and depth_limit is not None and node.depth >= depth_limit:
            left, why_left = sense.best(left, bound), Termination.DEPTH_LIMIT
        elif not run.prunes(bound):
            path = node.path.below(evaluation.fixed)
            children = [
                Node(
                    next(numbers),
                    node.number,
                    node.depth + 1,
                    path.below(decisions),
                    sense.worst(bound, evaluation.bounds[k]) if evaluation.bounds else bound,
                    evaluation.starts[k] if evaluation.starts else evaluation.start,
                )
                for k, decisions in enumerate(evaluation.children)
            ]
            open_nodes.add(children)
            queue.push(children)
        tell()
    run.prove(sense.best(left, open_nodes.best))
    bound = run.global_bound  # a round that was cut short may have proved more than what its node was left with
    if run.prunes(bound):  # nothing open can be better
        proved = Termination.OPTIMAL if run.incumbent is not None else Termination.INFEASIBLE
        # An empty tree without an incumbent proves infeasibility; a stopped one without open nodes does not exist.
        return TreeResult(proved, bound, records)
    return TreeResult(stop or why_left or Termination.NO_BRANCHING, bound, records)


class _OpenBounds:
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

    @property
    def best(self) -> float:
        """The weakest of their bounds, hopeless if no node is open."""
        heap, done = self._heap, self._done
        while heap and heap[0][1] in done:
            done.remove(heapq.heappop(heap)[1])
        return self._sense.sign * heap[0][0] if heap else self._sense.hopeless


def _record(node: Node, bound: float, outcome: str) -> NodeRecord:
    return NodeRecord(node.number, node.parent, node.depth, bound, outcome, node.path)


def _check_child(run: Run, node: Node, evaluation: Evaluation) -> None:
    exact = evaluation.exact
    if exact is not None and not run.meets(exact, node.bound):
        last = node.decisions[-1] if node.decisions else "none"
        raise ChildBoundError(
            f"node {node.number} has the relaxation {exact:g}, better than its parent's bound {node.bound:g}: the "
            "parent's bound was not valid (an oracle that is not exact under its decisions), or the branching "
            f"decision {last} enlarges the problem"
        )
