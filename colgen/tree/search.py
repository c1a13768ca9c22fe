"""Branch and bound over any bound: it knows nodes and their bounds, not where the bounds come from."""

from __future__ import annotations

import dataclasses
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
"""After so many nodes another solver is asked about the complete model, and again after twice as many each time."""

_NODES = 10
"""It may look at so many nodes for each that the tree has treated."""

_OPEN_ENDS = (Termination.NO_BRANCHING, Termination.NO_BOUND, Termination.UNBOUNDED_OR_INFEASIBLE)
"""Ends without a proof that no limit has set."""


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
    busy
        So many of those that it was given before it is at still.
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
        """Bound a node, offer answers to the run's incumbent on the way, and name the children."""

    def evaluate_all(self, nodes: Sequence[Node]) -> list[Evaluation]:
        """The same for several open nodes, ``width`` of them at most, in their order."""
        return [self.evaluate(node) for node in nodes]

    def evaluate_some(self, nodes: Sequence[Node]) -> list[tuple[Node, Evaluation]]:
        """Begin with these open nodes too, and tell of those that are done: one at least, of all that are under way."""
        return list(zip(nodes, self.evaluate_all(nodes), strict=True))

    def close(self) -> None:
        """Let go of nodes that are still under way: the search has ended."""
        return

    def pool(self) -> Pool | None:
        """The columns that are left at the end; None where there are none."""
        return None


@dataclass(frozen=True)
class TreeResult:
    """How the search ended: ``bound`` holds for all answers of the problem."""

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
    """Search the tree until the incumbent is proved optimal, or something stops the search.

    Parameters
    ----------
    tree
        What is left to be searched, of another run, or to be looked at from outside; None: a new one.
    on_node
        Called after each node, once it is known what has become of it.
    complete
        Ask another solver about the complete model, within so many of its nodes; see ``Method.complete``.

    Raises
    ------
    ChildBoundError
        If a child's relaxation is better than its parent's bound.
    """
    tree = OpenTree(run.sense, queue) if tree is None else tree
    search = _Search(relaxation, run, tree, node_limit, depth_limit, on_node, complete)
    tree.begin()
    try:
        while (tree.queue or relaxation.busy) and search.goes_on():
            nodes = search.next_nodes()
            for node, evaluation in search.evaluated(nodes):
                search.take(node, evaluation)
    finally:
        relaxation.close()
    return search.result()


class _Search:
    """The steps of :func:`branch_and_bound`, and what it has come to so far."""

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
        self._stop: Termination | None = None

    def goes_on(self) -> bool:
        """Whether nothing stops the search before its next node."""
        if self._stop is None:
            self._stop = self._run.reason  # spoken in a round that decided its node
        if self._stop is None and self._is_full(0):
            self._stop = Termination.NODE_LIMIT
        if self._stop is None and self._complete is not None and self._tree.treated >= self._patience:
            self._patience = 2 * self._tree.treated
            self._complete(_NODES * self._tree.treated)
        return self._stop is None and not self._run.is_closed

    def _is_full(self, more: int) -> bool:
        return self._node_limit is not None and self._tree.treated + more >= self._node_limit

    def next_nodes(self) -> list[Node]:
        """The nodes to be evaluated next, at most as many as the relaxation takes at once; pruned ones are recorded."""
        tree, run, nodes = self._tree, self._run, list[Node]()
        busy = self._relaxation.busy
        while busy + len(nodes) < self._relaxation.width and not self._is_full(busy + len(nodes)) and tree.queue:
            node = tree.pop()
            run.prove(tree.best)
            if run.prunes(node.bound) and node.number:
                tree.bounds.close(node)
                tree.done(node)
                self._record(node, node.bound, "pruned")
            else:
                nodes.append(node)
        return nodes

    def evaluated(self, nodes: Sequence[Node]) -> Sequence[tuple[Node, Evaluation]]:
        """Each node with what the relaxation says of it; of an interrupted one what is known by then."""
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

    def take(self, node: Node, evaluation: Evaluation) -> None:
        """Close a node: open its children, or leave it unresolved; one at which the search stops stays current."""
        tree, run = self._tree, self._run
        tree.bounds.close(node)  # not before: what nobody has bounded yet holds the bound of all answers down
        if tree.compares:
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
            tree.done(node)
        self._record(node, bound, evaluation.outcome)

    def _branch(self, node: Node, evaluation: Evaluation, bound: float) -> None:
        tree, reason = self._tree, self._run.budget.reason
        if evaluation.unresolved is not None:
            # What a limit has cut short would be called something else.
            tree.leave(node, bound, reason or evaluation.unresolved, limited=reason is not None)
        elif evaluation.children and self._depth_limit is not None and node.depth >= self._depth_limit:
            tree.leave(node, bound, Termination.DEPTH_LIMIT, limited=True)
        elif not self._run.prunes(bound):
            tree.push(self._children(node, evaluation, bound))

    def _graft(self, node: Node, found: Subtree) -> None:
        """Put in place of a node what somebody else has left of its subtree."""
        tree, sense = self._tree, self._run.sense
        tree.done(node)
        tree.treated += len(found.done) - 1
        tree.lose(sense.worst(node.bound, found.lost), found.why_lost)
        tree.put([dataclasses.replace(each, bound=sense.worst(node.bound, each.bound)) for each in found.left])
        for record in found.done:
            self._keep(dataclasses.replace(record, bound=sense.worst(node.bound, record.bound)))

    def _children(self, node: Node, evaluation: Evaluation, bound: float) -> list[Node]:
        path = node.path.below(evaluation.fixed)
        return [
            Node(
                self._tree.number(),
                node.number,
                node.depth + 1,
                path.below(decisions),
                self._run.sense.worst(bound, evaluation.bounds[k]) if evaluation.bounds else bound,
                evaluation.starts[k] if evaluation.starts else evaluation.start,
            )
            for k, decisions in enumerate(evaluation.children)
        ]

    def _record(self, node: Node, bound: float, outcome: str) -> None:
        self._keep(NodeRecord(node.number, node.parent, node.depth, bound, outcome, node.path))

    def _keep(self, record: NodeRecord) -> None:
        """Keep what has become of a node, and tell whoever asked."""
        run, tree = self._run, self._tree
        tree.records.append(record)
        run.look()
        if self._on_node is not None:
            run.prove(tree.best)
            self._on_node(
                NodeVisit(record, run.incumbent, run.objective, run.global_bound, len(tree.bounds), run.seconds)
            )

    def result(self) -> TreeResult:
        """How it ended."""
        run, tree = self._run, self._tree
        run.prove(tree.best)
        bound = run.global_bound  # a round that was cut short may have proved more than what its node was left with
        ended = self._stop or tree.why_left or Termination.NO_BRANCHING
        if self._complete is not None and ended in _OPEN_ENDS and not run.prunes(bound):
            self._complete(_NODES * max(tree.treated, _PATIENCE))
        source, trusted = OWN, run.trusted
        if trusted is not None and run.sense.is_better(bound, trusted.bound):
            bound, source = run.sense.best(trusted.bound, run.objective), trusted.source
        if run.prunes(bound):  # nothing open can be better
            ended = Termination.OPTIMAL if run.incumbent is not None else Termination.INFEASIBLE
            # An empty tree without an incumbent proves infeasibility; a stopped one without open nodes does not exist.
        elif ended is Termination.UNBOUNDED_OR_INFEASIBLE and run.incumbent is not None:
            ended = Termination.UNBOUNDED
        return TreeResult(ended, bound, tree.records, source)


def _check_child(run: Run, node: Node, evaluation: Evaluation) -> None:
    exact = evaluation.exact
    if exact is not None and not run.meets(exact, node.bound):
        last = node.decisions[-1] if node.decisions else "none"
        raise ChildBoundError(
            f"node {node.number} has the relaxation {exact:g}, better than its parent's bound {node.bound:g}: the "
            "parent's bound was not valid (an oracle that is not exact under its decisions), or the branching "
            f"decision {last} enlarges the problem"
        )
