"""One tree on many machines: open nodes travel, and what is left of their subtrees comes back.

The supervisor keeps the queue, the best answer and the bounds.  A worker is given an open node, the columns and the
best answer that are known; it makes a restricted master and oracles of its own, searches the node's subtree for a
while, and sends back what it has found: nodes that it is done with and nodes that it has left open, a better answer,
columns that were basic in the end.  A worker that is lost costs what it was at: the node is still open, and somebody
else is given it.

Either subtrees are searched in batches, each for a number of nodes that depends on the tree alone, and nobody hears of
the others before all are done: the tree is the same whoever works, and however often one of them is lost.  Or each is
searched for some seconds, and whoever is done is given the next node at once: nobody waits, and no two runs are alike.

Bounds that come back are believed, as those of a checkpoint are; answers are checked.
"""

from __future__ import annotations

import dataclasses
import math
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from colgen.bounding.protocol import Settings
from colgen.core.budget import Budget
from colgen.core.columns import Column
from colgen.core.decision_data import DecisionWriter
from colgen.core.duals import Duals
from colgen.core.errors import InfeasibleAnswerError, InputError
from colgen.core.pool import Pool
from colgen.core.result import Iteration, NodeRecord, NodeVisit, Termination
from colgen.core.solution import Solution
from colgen.parallel.clusters import Cluster
from colgen.parallel.streams import Done, Stream
from colgen.tree.branch_and_price import BranchAndPrice
from colgen.tree.node import Evaluation, Node, Subtree
from colgen.tree.node_data import PathWriter, node_data, node_of, paths_of
from colgen.tree.open_tree import OpenTree
from colgen.tree.search import Relaxation, branch_and_bound

WIDTH = 16
"""Subtrees of a batch, where nobody says how many."""

_FIRST, _MOST = 4, 1024
"""Nodes of a subtree in the first batch, and at most: twice as many from one full batch to the next."""

_ENOUGH = 2.0
"""Seconds after which no node more of a subtree is begun that nobody waits for: it is worth the journey."""

_JOURNEY = 1.0
"""Seconds before the deadline at which workers end, for what they have found has to arrive."""

_COUNTED = ("master", "pricing", "separation")
"""Stages whose seconds the records of rounds tell."""

_ENDS_ALL = (Termination.UNBOUNDED, Termination.UNBOUNDED_OR_INFEASIBLE, Termination.MEMORY_LIMIT)


class Maker(Protocol):
    """What makes a branch and price of its own; it travels by ``pickle``."""

    def search(self, budget: Budget, settings: Settings) -> BranchAndPrice:
        """One with the clock of a budget, and no other stop rules."""
        ...


def packed(maker: Maker, settings: Settings) -> bytes:
    """What each worker makes its restricted master and oracles of.

    Raises
    ------
    InputError
        If it cannot travel.
    """
    try:
        return pickle.dumps((maker, settings))
    except Exception as error:  # whatever an object that cannot be written says of it
        raise InputError(
            f"cluster: expected a problem that pickle writes, for it travels: {type(error).__name__}: {error}"
        ) from error


# --- what travels ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """What the supervisor knows, of all subtrees of a batch the same.

    Attributes
    ----------
    columns, incumbent, duals, costs
        Guesses to begin with: the answer is checked again.
    bound
        On all answers of the problem.
    scale
        Of differences of objectives.
    """

    columns: Sequence[Column]
    incumbent: Solution | None
    duals: Any
    costs: Any
    bound: float
    scale: float


@dataclass(frozen=True)
class Task:
    """A subtree to be searched.

    Attributes
    ----------
    made, known
        What :func:`packed` has returned, and :class:`Known` likewise.
    links, node
        The subtree's root, as plain data: decisions may hold what only their own process knows.
    nodes, seconds, memory
        Limits.
    enough
        Seconds after which no node is begun; one at least is treated.
    """

    made: bytes
    known: bytes
    links: Sequence[Any]
    node: Sequence[Any]
    nodes: int | None
    seconds: float
    memory: float
    enough: float


@dataclass(frozen=True)
class SubtreeResult:
    """What a worker has found in a subtree.

    Attributes
    ----------
    links, done, left
        Nodes that are done with and those that are left, numbered by the worker, with all their decisions.
    lost, why_lost
        As of a :class:`Subtree`.
    incumbent
        A better answer; None where there is none.
    columns
        Those that were basic in the end, and are new.
    stop
        Why the search of the whole tree must end.
    """

    links: Sequence[Any]
    done: Sequence[tuple[int, int | None, int, int, float, str]]
    left: Sequence[Sequence[Any]]
    lost: float
    why_lost: Termination | None
    incumbent: Solution | None
    columns: Sequence[Column]
    iterations: Sequence[Iteration]
    generated: tuple[int, int]
    stage_seconds: dict[str, float]
    notes: Sequence[str]
    stop: Termination | None


def search_subtree(task: Task) -> SubtreeResult:
    """Search a subtree, in whatever process: nothing is left behind there."""
    maker, settings = pickle.loads(task.made)
    known: Known = pickle.loads(task.known)
    search: BranchAndPrice = maker.search(Budget(task.seconds, task.memory), settings)
    writer = writer_of(search)
    run, node, sense = search.run, node_of(task.node, paths_of(task.links, writer)), search.master.sense
    run.scale = known.scale
    run.prove(known.bound)
    search.master.add(known.columns, ())
    if known.incumbent is not None:
        search.answers.take_with_columns(known.incumbent, "the supervisor")
    search.bounds.size_up()
    search.costs.learn_again(known.costs)
    search.bounds.begin_near(known.duals)
    before, sent = run.incumbent, len(known.columns)
    tree = OpenTree(sense)
    tree.refill([node], lost=sense.hopeless, why_lost=None, treated=0, next_number=node.number + 1)
    tree.left = known.bound  # answers of other subtrees may turn up here: this one proves nothing of them
    tree.compares = not search.bounds.parts.separation  # the parent's bound may rest on rows that are not here

    def look(visit: NodeVisit) -> None:
        if run.seconds >= task.enough:
            run.reason = run.reason or Termination.TIME_LIMIT

    ended = branch_and_bound(search, run, node_limit=task.nodes, tree=tree, on_node=look)
    left = tree.unfinished()
    numbers = {each.number for each in left}
    done = [record for record in ended.nodes if record.number not in numbers]
    pool = search.pool()
    basic = [] if pool is None else [pool[k] for k in range(sent, len(pool)) if pool.basic[k]]
    links, ends = PathWriter(writer).data([*(each.path for each in done), *(each.path for each in left)])
    return SubtreeResult(
        links,
        [(e.number, e.parent, e.depth, end, e.bound, e.outcome) for e, end in zip(done, ends, strict=False)],
        [node_data(each, end) for each, end in zip(left, ends[len(done) :], strict=True)],
        tree.lost_beside(left),
        tree.why_lost,
        None if run.incumbent is before else run.incumbent,
        basic,
        tuple(run.iterations),
        (run.columns_generated, run.rows_generated),
        dict(run.stage_seconds),
        tuple(run.notes),
        ended.termination if ended.termination in _ENDS_ALL else None,
    )


def writer_of(search: BranchAndPrice) -> DecisionWriter:
    """Writes the decisions that may be made in a tree.

    Raises
    ------
    InputError
        If a branching rule or reduction does not say which these are.
    """
    return DecisionWriter([*search.search.branching, *search.search.reductions])


# --- the supervisor --------------------------------------------------------------------------------------------------


class OnCluster(Relaxation):
    """Lets the workers of a cluster search the subtrees of open nodes; the root is evaluated here.

    Parameters
    ----------
    first
        Whose run is that of the whole search.
    made
        What :func:`packed` has returned.
    tree
        What is left to be searched.
    width
        Subtrees at once.
    free
        Whether nobody waits for the others.
    node_limit
        Of the whole tree.
    """

    def __init__(
        self,
        first: BranchAndPrice,
        made: bytes,
        cluster: Cluster,
        tree: OpenTree,
        *,
        width: int,
        free: bool,
        node_limit: int | None = None,
    ) -> None:
        self.width = width
        self._first, self._made, self._tree = first, made, tree
        self._free, self._node_limit, self._nodes = free, node_limit, _FIRST
        self._writer = writer_of(first)
        self._stream = Stream(cluster, search_subtree)
        self._under_way: dict[int, Node] = {}
        self._done: dict[int, Done] = {}
        self._sent = 0

    @property
    def busy(self) -> int:
        return len(self._under_way)

    def evaluate(self, node: Node) -> Evaluation:
        return self._first.evaluate(node)

    def evaluate_some(self, nodes: Sequence[Node]) -> list[tuple[Node, Evaluation]]:
        if nodes and nodes[0].number == 0:
            return [(nodes[0], self._first.evaluate(nodes[0]))]
        self._send(nodes)
        budget = self._first.run.budget
        while len(self._done) < (1 if self._free else len(self._under_way)) and not budget.expired:
            self._done |= {done.number: done for done in self._stream.some()}
        found = [(self._under_way[number], self._taken(number)) for number in sorted(self._done)]
        for number in self._done:
            del self._under_way[number]
        self._done = {}
        reason = budget.reason
        if reason is not None:
            found += [(node, Evaluation(node.bound, "stopped", stop=reason)) for node in self._under_way.values()]
            self._under_way = {}
            self._stream.close()
        return found

    def close(self) -> None:
        self._stream.close()

    def pool(self) -> Pool | None:
        return self._first.pool()

    def _send(self, nodes: Sequence[Node]) -> None:
        if not nodes:
            return
        run, known = self._first.run, pickle.dumps(self._known())
        seconds = max(run.seconds_left - _JOURNEY, 0.5 * run.seconds_left)
        limit = None if self._free else self._nodes
        if self._node_limit is not None:
            share = max((self._node_limit - self._tree.treated) // (len(nodes) + self.busy), 1)
            limit = share if limit is None else min(limit, share)
        enough = _ENOUGH if self._free else math.inf
        for node in nodes:
            links, ends = PathWriter(self._writer).data([node.path])
            task = Task(self._made, known, links, node_data(node, ends[0]), limit, seconds, run.budget.memory, enough)
            self._stream.send(self._sent, task)
            self._under_way[self._sent] = node
            self._sent += 1
        if len(nodes) == self.width:
            self._nodes = min(2 * self._nodes, _MOST)

    def _known(self) -> Known:
        first, run = self._first, self._first.run
        pool, duals = first.pool(), first.bounds.last_duals
        return Known(
            [] if pool is None else list(pool),
            run.incumbent,
            dict(zip(duals.keys, duals.values.tolist(), strict=True)) if isinstance(duals, Duals) else _or_none(duals),
            first.costs.as_plain(),
            run.global_bound,
            run.scale,
        )

    def _taken(self, number: int) -> Evaluation:
        """What has become of a subtree: its nodes are given numbers of the whole tree."""
        done, node, first = self._done[number], self._under_way[number], self._first
        run = first.run
        if done.error is not None:
            raise done.error
        if done.fault:
            run.notes.append(f"The subtree of node {node.number} cannot be searched on the cluster: {done.fault}.")
            return Evaluation(node.bound, "lost", stop=Termination.FAULT)
        found: SubtreeResult = done.outcome
        subtree, names = self._numbered(node, found)
        for iteration in found.iterations:
            named = dataclasses.replace(
                iteration, number=len(run.iterations), node=names.get(iteration.node, node.number)
            )
            run.record(named, proves=False)
        run.columns_generated += found.generated[0] - sum(iteration.new_columns for iteration in found.iterations)
        for stage, seconds in found.stage_seconds.items():
            if stage not in _COUNTED:
                run.stage_seconds[stage] += seconds
        run.notes += [note for note in found.notes if note not in run.notes]
        first.master.add(found.columns, ())
        if found.incumbent is not None and run.sense.is_better(found.incumbent.objective, run.objective):
            first.answers.take_with_columns(found.incumbent, f"the subtree of node {node.number}")
            if not run.meets(found.incumbent.objective, run.objective):  # the worker has pruned by it
                raise InfeasibleAnswerError(
                    f"the subtree of node {node.number} has an answer of objective {found.incumbent.objective:g} that "
                    "a separation at the supervisor cuts off: expected separations that say the same of an answer "
                    "whatever they have seen before"
                )
        bound = run.sense.best(subtree.lost, *[each.bound for each in subtree.left])
        return Evaluation(bound, "searched", stop=found.stop, subtree=subtree)

    def _numbered(self, root: Node, found: SubtreeResult) -> tuple[Subtree, dict[int, int]]:
        """The nodes of a subtree, and what each is called here by its number there."""
        tree, names, paths = self._tree, dict[int, int](), paths_of(found.links, self._writer)

        def parent_of(number: int, parent: int | None) -> int | None:
            return root.parent if number == root.number or parent is None else names[parent]

        done = []
        for number, parent, depth, end, bound, outcome in found.done:
            names[number] = root.number if number == root.number else tree.number()
            done.append(NodeRecord(names[number], parent_of(number, parent), depth, bound, outcome, paths[end]))
        left = []
        for data in found.left:
            node = node_of(data, paths)
            names[node.number] = tree.number()
            above = parent_of(node.number, node.parent)
            left.append(dataclasses.replace(node, number=names[node.number], parent=above))
        return Subtree(done, left, found.lost, found.why_lost), names


def _or_none(guess: Any) -> Any:
    """What is no more than a guess, if it can travel."""
    try:
        pickle.dumps(guess)
    except Exception:
        return None
    return guess
