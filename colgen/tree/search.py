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
    width
        So many open nodes are evaluated at once.
    """

    root: Solution | None = None
    root_bound: float | None = None
    certificate: Certificate | None = None
    width: int = 1

    @abstractmethod
    def evaluate(self, node: Node) -> Evaluation:
        """Bound a node, offer answers to the run's incumbent on the way, and name the children."""

    def evaluate_all(self, nodes: Sequence[Node]) -> list[Evaluation]:
        """The same for several open nodes, ``width`` of them at most, in their order."""
        return [self.evaluate(node) for node in nodes]

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

    def refill(self, nodes: Sequence[Node]) -> None:
        """Take in open nodes of another run, in the order in which its queue was looked at, into an empty queue."""
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


# --- the search ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TreeResult:
    """How the search ended: ``bound`` holds for all answers of the problem."""

    termination: Termination
    bound: float
    nodes: Sequence[NodeRecord]


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
    """

    def __init__(self, sense: Sense, queue: NodeQueue | None = None) -> None:
        self.sense = sense
        self.queue = Plunging(sense) if queue is None else queue  # an empty queue is false
        self.bounds = _OpenBounds(sense)
        self.left = self.lost = sense.hopeless
        self.why_left: Termination | None = None
        self.why_lost: Termination | None = None
        self.treated = 0
        self.next_number = 1
        self.current: list[Node] = []
        self.compares = True
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


def branch_and_bound(
    relaxation: Relaxation,
    run: Run,
    *,
    queue: NodeQueue | None = None,
    node_limit: int | None = None,
    depth_limit: int | None = None,
    on_node: Callable[[NodeVisit], object] | None = None,
    tree: OpenTree | None = None,
) -> TreeResult:
    """Search the tree until the incumbent is proved optimal, or something stops the search.

    Parameters
    ----------
    tree
        What is left to be searched, of another run, or to be looked at from outside; None: a new one.
    on_node
        Called after each node, once it is known what has become of it.

    Raises
    ------
    ChildBoundError
        If a child's relaxation is better than its parent's bound.
    """
    sense = run.sense
    tree = OpenTree(sense, queue) if tree is None else tree
    records: list[NodeRecord] = []
    stop: Termination | None = None

    def tell() -> None:
        run.look()
        if on_node is not None:
            run.prove(tree.best)
            open_nodes = len(tree.bounds)
            on_node(NodeVisit(records[-1], run.incumbent, run.objective, run.global_bound, open_nodes, run.seconds))

    def is_full(more: int) -> bool:
        return node_limit is not None and tree.treated + more >= node_limit

    tree.begin()
    while tree.queue and stop is None:
        if run.reason is not None:  # spoken in a round that decided its node
            stop = run.reason
            break
        if is_full(0):
            stop = Termination.NODE_LIMIT
            break
        nodes: list[Node] = []
        while len(nodes) < relaxation.width and not is_full(len(nodes)) and tree.queue:
            node = tree.pop()
            run.prove(tree.best)
            if run.prunes(node.bound) and node.number:
                tree.bounds.close(node)
                records.append(_record(node, node.bound, "pruned"))
                tree.done(node)
                tell()
                continue
            nodes.append(node)
        if not nodes:
            continue
        run.node_bound = nodes[0].bound
        try:
            evaluations = relaxation.evaluate_all(nodes)
        except KeyboardInterrupt:
            known = [run.node_bound] if len(nodes) == 1 else [node.bound for node in nodes]
            evaluations = [Evaluation(bound, "interrupted", stop=Termination.INTERRUPTED) for bound in known]
        for node, evaluation in zip(nodes, evaluations, strict=True):
            tree.bounds.close(node)  # not before: what nobody has bounded yet holds the bound of all answers down
            if tree.compares:
                _check_child(run, node, evaluation)
            bound = sense.worst(node.bound, evaluation.bound)
            records.append(_record(node, bound, evaluation.outcome))
            if evaluation.stop is not None:
                stop = stop or evaluation.stop
                tree.left = sense.best(tree.left, bound)
                tell()
                continue  # it stays current
            if evaluation.unresolved is not None:
                # What a limit has cut short would be called something else.
                reason = run.budget.reason
                tree.leave(node, bound, reason or evaluation.unresolved, limited=reason is not None)
            elif evaluation.children and depth_limit is not None and node.depth >= depth_limit:
                tree.leave(node, bound, Termination.DEPTH_LIMIT, limited=True)
            elif not run.prunes(bound):
                path = node.path.below(evaluation.fixed)
                children = [
                    Node(
                        tree.number(),
                        node.number,
                        node.depth + 1,
                        path.below(decisions),
                        sense.worst(bound, evaluation.bounds[k]) if evaluation.bounds else bound,
                        evaluation.starts[k] if evaluation.starts else evaluation.start,
                    )
                    for k, decisions in enumerate(evaluation.children)
                ]
                tree.push(children)
            tree.done(node)
            tell()
    run.prove(tree.best)
    bound = run.global_bound  # a round that was cut short may have proved more than what its node was left with
    if run.prunes(bound):  # nothing open can be better
        proved = Termination.OPTIMAL if run.incumbent is not None else Termination.INFEASIBLE
        # An empty tree without an incumbent proves infeasibility; a stopped one without open nodes does not exist.
        return TreeResult(proved, bound, records)
    return TreeResult(stop or tree.why_left or Termination.NO_BRANCHING, bound, records)


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
