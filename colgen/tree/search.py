"""Branch and bound over any relaxation: it handles nodes and bounds, and does not compute them."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from colgen.bounding.run import Run
from colgen.core.budget import interruption
from colgen.core.errors import ChildBoundError
from colgen.core.pool import Pool
from colgen.core.result import OWN, Certificate, NodeRecord, NodeVisit, Termination
from colgen.core.solution import Solution
from colgen.tree.node import Evaluation, Node, Subtree
from colgen.tree.open_tree import OpenTree
from colgen.tree.queues import NodeQueue

_PATIENCE = 64
"""Number of nodes before the tree's progress is judged. Later the number of nodes must double."""

_PROGRESS = 0.1
"""Share of the gap that the nodes in between must close; otherwise another solver gets the complete model."""

_NODES = 10
"""Node limit of that solver per node of the tree."""

_OPEN_ENDS = (Termination.NO_BRANCHING, Termination.NO_BOUND, Termination.UNBOUNDED_OR_INFEASIBLE)
"""Reasons for an end without proof that are not limits."""


class Relaxation(ABC):
    """Evaluates nodes: by column generation, by a dynamic program under a subgradient method, and so on.

    Attributes
    ----------
    root
        The last solution of the root relaxation, generally fractional, or None.
    root_bound
        The dual bound of the root before branching, or None.
    certificate
        The dual values that prove the bound of the root, or None.
    width
        Maximum number of nodes evaluated at once.
    busy
        Number of nodes still under evaluation.
    """

    root: Solution | None = None
    root_bound: float | None = None
    certificate: Certificate | None = None
    width: int = 1

    @property
    def busy(self) -> int:
        return 0

    @abstractmethod
    def evaluate(self, node: Node) -> Evaluation:
        """Bound a node, offer feasible solutions on the way, and return the children."""

    def evaluate_all(self, nodes: Sequence[Node]) -> list[Evaluation]:
        """Evaluate at most ``width`` nodes, and return the results in their order."""
        return [self.evaluate(node) for node in nodes]

    def evaluate_some(self, nodes: Sequence[Node]) -> list[tuple[Node, Evaluation]]:
        """Start evaluating these nodes, and return at least one finished node of all under evaluation."""
        return list(zip(nodes, self.evaluate_all(nodes), strict=True))

    def close(self) -> None:
        """Cancel the nodes under evaluation, because the search has ended."""
        return

    def pool(self) -> Pool | None:
        """Return the columns that are left at the end, or None."""
        return None


@dataclass(frozen=True)
class TreeResult:
    """The result of a search. ``bound`` is a dual bound of the whole problem."""

    termination: Termination
    bound: float
    nodes: Sequence[NodeRecord]
    bound_source: str = OWN


def branch_and_bound(
    relaxation: Relaxation,
    run: Run,
    *,
    queue: NodeQueue | None = None,
    node_limit: int | None = None,
    depth_limit: int | None = None,
    on_node: Callable[[NodeVisit], object] | None = None,
    tree: OpenTree | None = None,
    complete: Callable[[int], None] | None = None,
) -> TreeResult:
    """Search the tree until the incumbent is proved optimal or a limit is reached.

    Parameters
    ----------
    tree
        The open tree of another run, or one that the caller observes.
    on_node
        Called after each node.
    complete
        Gives the complete model to another solver, with a node limit; see ``Method.complete``.

    Raises
    ------
    ChildBoundError
        If the relaxation of a child is better than the bound of its parent.
    """
    tree = OpenTree(run.sense, queue) if tree is None else tree
    search = _Search(relaxation, run, tree, node_limit, depth_limit, on_node, complete)
    tree.begin()
    try:
        while (tree.queue or relaxation.busy) and search.may_continue():
            nodes = search.next_nodes()
            for node, evaluation in search.evaluate(nodes):
                search.store(node, evaluation)
    finally:
        relaxation.close()
    return search.result()


class _Search:
    """The steps and the state of :func:`branch_and_bound`."""

    def __init__(
        self,
        relaxation: Relaxation,
        run: Run,
        tree: OpenTree,
        node_limit: int | None,
        depth_limit: int | None,
        on_node: Callable[[NodeVisit], object] | None,
        complete: Callable[[int], None] | None,
    ) -> None:
        self._relaxation, self._run, self._tree = relaxation, run, tree
        self._node_limit, self._depth_limit, self._on_node = node_limit, depth_limit, on_node
        self._complete, self._patience = complete, _PATIENCE
        self._reached: float | None = None
        self._stop: Termination | None = None

    def may_continue(self) -> bool:
        """Return whether nothing stops the search before its next node."""
        if self._stop is None:
            self._stop = self._run.reason  # set in a round that also decided its node
        if self._stop is None and self._is_full(0):
            self._stop = Termination.NODE_LIMIT
        if self._stop is None and self._complete is not None and self._tree.treated >= self._patience:
            self._patience = 2 * self._tree.treated
            if not self._has_progressed():
                self._complete(_NODES * self._tree.treated)
        return self._stop is None and not self._run.is_closed

    def _has_progressed(self) -> bool:
        """Return whether the nodes since the last call have closed a share of the gap that was left then."""
        before = self._relaxation.root_bound if self._reached is None else self._reached
        self._reached = self._tree.best
        if before is None:
            return False
        closed, gap = abs(self._reached - before), abs(self._run.objective - before)
        return math.isfinite(gap) and closed >= _PROGRESS * gap

    def _is_full(self, more: int) -> bool:
        return self._node_limit is not None and self._tree.treated + more >= self._node_limit

    def next_nodes(self) -> list[Node]:
        """Return the nodes to evaluate next, and record pruned ones."""
        tree, run, nodes = self._tree, self._run, list[Node]()
        busy = self._relaxation.busy
        tree.queue.objective = run.objective
        while busy + len(nodes) < self._relaxation.width and not self._is_full(busy + len(nodes)) and tree.queue:
            node = tree.pop()
            run.prove(tree.best)
            if run.prunes(node.bound) and node.number:
                tree.bounds.close(node)
                tree.close_node(node)
                self._record(node, node.bound, "pruned")
            else:
                nodes.append(node)
        run.best_waiting = tree.queue.best
        return nodes

    def evaluate(self, nodes: Sequence[Node]) -> Sequence[tuple[Node, Evaluation]]:
        """Evaluate nodes. An interrupted node returns the bound proved so far (promise 6)."""
        run = self._run
        if nodes:
            run.node_bound = nodes[0].bound
        elif not self._relaxation.busy:
            return ()
        try:
            return self._relaxation.evaluate_some(nodes)
        except KeyboardInterrupt:
            known = [run.node_bound] if len(nodes) == 1 else [node.bound for node in nodes]
            reason = interruption()
            evaluations = [Evaluation(bound, "interrupted", stop=reason) for bound in known]
            self._stop = self._stop or reason
            return list(zip(nodes, evaluations, strict=True))

    def store(self, node: Node, evaluation: Evaluation) -> None:
        """Close a node and open its children, or leave it unresolved. It stays open if the search stops at it."""
        tree, run = self._tree, self._run
        tree.bounds.close(node)  # not earlier: a node without evaluation keeps the global bound weak
        if tree.checks_children:
            _check_child(run, node, evaluation)
        bound = run.sense.worst(node.bound, evaluation.bound)
        if evaluation.subtree is not None:
            self._stop = self._stop or evaluation.stop
            self._graft(node, evaluation.subtree)
            return
        if evaluation.stop is not None:
            self._stop = self._stop or evaluation.stop
            tree.left = run.sense.best(tree.left, bound)
        else:
            self._branch(node, evaluation, bound)
            tree.close_node(node)
        self._record(node, bound, evaluation.outcome)

    def _branch(self, node: Node, evaluation: Evaluation, bound: float) -> None:
        tree, reason = self._tree, self._run.budget.reason
        if evaluation.unresolved is not None:
            # A limit may be the true reason.
            tree.leave_unresolved(node, bound, reason or evaluation.unresolved, limited=reason is not None)
        elif evaluation.children and self._depth_limit is not None and node.depth >= self._depth_limit:
            tree.leave_unresolved(node, bound, Termination.DEPTH_LIMIT, limited=True)
        elif not self._run.prunes(bound):
            tree.push(self._make_children(node, evaluation, bound))

    def _graft(self, node: Node, found: Subtree) -> None:
        """Replace a node by the result of searching its subtree elsewhere."""
        tree, sense = self._tree, self._run.sense
        tree.close_node(node)
        tree.treated += len(found.done) - 1
        tree.add_lost(sense.worst(node.bound, found.lost), found.why_lost)
        tree.add([dataclasses.replace(each, bound=sense.worst(node.bound, each.bound)) for each in found.left])
        for record in found.done:
            self._add_record(dataclasses.replace(record, bound=sense.worst(node.bound, record.bound)))

    def _make_children(self, node: Node, evaluation: Evaluation, bound: float) -> list[Node]:
        path = node.path.below(evaluation.fixed)
        return [
            Node(
                self._tree.new_number(),
                node.number,
                node.depth + 1,
                path.below(decisions),
                self._run.sense.worst(bound, evaluation.bounds[k]) if evaluation.bounds else bound,
                evaluation.starts[k] if evaluation.starts else evaluation.start,
            )
            for k, decisions in enumerate(evaluation.children)
        ]

    def _record(self, node: Node, bound: float, outcome: str) -> None:
        self._add_record(NodeRecord(node.number, node.parent, node.depth, bound, outcome, node.path))

    def _add_record(self, record: NodeRecord) -> None:
        """Store the record of a node and call ``on_node``."""
        run, tree = self._run, self._tree
        tree.records.append(record)
        run.look()
        if self._on_node is not None:
            run.prove(tree.best)
            self._on_node(
                NodeVisit(record, run.incumbent, run.objective, run.global_bound, len(tree.bounds), run.seconds)
            )

    def result(self) -> TreeResult:
        """Return the termination, the bound and the records. A run is optimal only if a bound proves it (promise 1)."""
        run, tree = self._run, self._tree
        run.prove(tree.best)
        bound = run.global_bound  # an interrupted round may have proved more than the bound of its node
        ended = self._stop or tree.why_left or Termination.NO_BRANCHING
        if self._complete is not None and ended in _OPEN_ENDS and not run.prunes(bound):
            self._complete(_NODES * max(tree.treated, _PATIENCE))
            ended = run.budget.reason or ended
        source, trusted = OWN, run.trusted
        if trusted is not None and run.sense.is_better(bound, trusted.bound):
            bound, source = run.sense.best(trusted.bound, run.objective), trusted.source
        if run.prunes(bound):  # nothing open can be better
            ended = Termination.OPTIMAL if run.incumbent is not None else Termination.INFEASIBLE
            # An empty tree without an incumbent proves infeasibility; a stopped tree has open nodes.
        elif ended is Termination.UNBOUNDED_OR_INFEASIBLE and run.incumbent is not None:
            ended = Termination.UNBOUNDED
        return TreeResult(ended, bound, tree.records, source)


def _check_child(run: Run, node: Node, evaluation: Evaluation) -> None:
    exact = evaluation.exact
    if exact is not None and not run.meets(exact, node.bound):
        last = node.decisions[-1] if node.decisions else "none"
        raise ChildBoundError(
            f"the relaxation {exact:g} of node {node.number} is better than the bound {node.bound:g} of its parent: "
            "that bound is invalid (an oracle is not exact under its decisions), or the branching decision "
            f"{last} enlarges the problem"
        )
