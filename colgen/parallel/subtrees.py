"""One tree on many machines: workers receive open nodes and return the open parts of their subtrees.

The supervisor keeps the queue, the incumbent and the bounds. A worker receives an open node, the known columns and the
incumbent, and makes its own restricted master and oracles. It searches the subtree of the node for a limited time. It
returns closed and open nodes, a better incumbent, and the columns that are basic at the end. If a worker is lost its
node is still open, and another worker receives it.

There are two modes. In batches, each subtree has a node limit that depends on the tree alone, and the supervisor waits
for all subtrees of a batch. The tree is then the same for any number of workers and losses. In free running, each
subtree has a time limit, and a free worker receives the next node at once. No worker waits, and runs differ.

The supervisor trusts the bounds that workers return, like those of a checkpoint, and checks the incumbents.
"""

from __future__ import annotations

import dataclasses
import math
import os
import pickle
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from colgen.bounding.protocol import Settings
from colgen.core.budget import Budget
from colgen.core.columns import Column
from colgen.core.decision_data import DecisionWriter
from colgen.core.duals import Duals
from colgen.core.errors import InputError
from colgen.core.pool import Pool
from colgen.core.result import Iteration, NodeRecord, NodeVisit, Termination
from colgen.core.solution import Solution
from colgen.parallel.clusters import Cluster
from colgen.parallel.node_batches import merge_incumbent, merge_run
from colgen.parallel.streams import PieceResult, Stream
from colgen.tree.branch_and_price import BranchAndPrice
from colgen.tree.node import Evaluation, Node, Subtree
from colgen.tree.node_data import PathWriter, node_data, node_of, paths_of
from colgen.tree.open_tree import OpenTree
from colgen.tree.search import Relaxation, branch_and_bound

WIDTH = 16
"""Default number of subtrees in a batch."""

_FIRST, _MOST = 4, 1024
"""Node limit of a subtree in the first batch, and its maximum. The limit doubles after each full batch."""

_ENOUGH = 2.0
"""Seconds after which a free-running worker starts no further node and returns the subtree."""

_JOURNEY = 1.0
"""Workers stop this many seconds before the deadline, so that their results arrive in time."""

_ENDS_ALL = (Termination.UNBOUNDED, Termination.UNBOUNDED_OR_INFEASIBLE, Termination.MEMORY_LIMIT)


class Maker(Protocol):
    """Makes the branch and price of a worker; it is pickled."""

    def search(self, budget: Budget, settings: Settings) -> BranchAndPrice:
        """Return a branch and price with the clock of ``budget`` and no other stop rules."""
        ...


def pack(maker: Maker, settings: Settings) -> bytes:
    """Pickle the data from which each worker makes its restricted master and oracles."""
    try:
        return pickle.dumps((maker, settings))
    except Exception as error:  # objects may raise anything
        raise InputError(
            "cluster: expected a problem that pickle can write, because it is sent to the workers: "
            f"{type(error).__name__}: {error}"
        ) from error


# --- messages --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """Data that all subtrees of a batch start from. ``bound`` is the dual bound of the whole problem.

    Workers check the incumbent again. ``scale`` is the scale of differences of objectives.
    """

    columns: Sequence[Column]
    incumbent: Solution | None
    duals: Any
    costs: Any
    bound: float
    scale: float


@dataclass(frozen=True)
class Task:
    """A subtree to search, with its limits.

    ``made`` and ``known`` are pickled, by :func:`pack` and from :class:`Known`. The root of the subtree (``links``,
    ``node``) is plain data, because decisions may refer to objects of their own process. No node is started after
    ``enough`` seconds. At least one is evaluated.
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
    """The result of the search of a subtree.

    Closed nodes (``done``) and open ones (``left``) are numbered by the worker. ``lost`` and ``why_lost`` are as in
    :class:`Subtree`. ``columns`` are new and basic at the end. ``stop`` is the reason to end the search of the whole
    tree. ``processor_seconds`` are those of the thread that searched it, in the process of this name.
    """

    links: Sequence[Any]
    done: Sequence[tuple[int, int | None, int, int, float, str]]
    left: Sequence[Sequence[Any]]
    lost: float
    why_lost: Termination | None
    incumbent: Solution | None
    columns: Sequence[Column]
    iterations: Sequence[Iteration]
    columns_generated: int
    stage_seconds: dict[str, float]
    notes: Sequence[str]
    stop: Termination | None
    processor_seconds: float
    process: str


def this_process() -> str:
    """Return a name of this process that no other has on any machine of a cluster."""
    return f"{platform.node()} {os.getpid()}"


def search_subtree(task: Task) -> SubtreeResult:
    """Search a subtree; this leaves no state behind in its process."""
    started = time.thread_time()
    maker, settings = pickle.loads(task.made)
    known: Known = pickle.loads(task.known)
    search: BranchAndPrice = maker.search(Budget(task.seconds, task.memory), settings)
    writer = writer_of(search)
    run, node, sense = search.run, node_of(task.node, paths_of(task.links, writer)), search.master.sense
    run.scale = known.scale
    run.prove(known.bound)
    search.master.add(known.columns, ())
    if known.incumbent is not None:
        search.incumbents.offer_with_columns(known.incumbent, "the supervisor")
    search.bounds.estimate_scale()
    search.costs.restore(known.costs)
    search.bounds.set_duals(known.duals)
    before, sent = run.incumbent, len(known.columns)
    tree = OpenTree(sense)
    tree.refill([node], lost=sense.hopeless, why_lost=None, treated=0, next_number=node.number + 1)
    tree.left = known.bound  # this run proves nothing of incumbents from other subtrees
    tree.checks_children = (
        not search.bounds.parts.separation
    )  # the parent's bound may depend on rows that are missing here

    def check_time(visit: NodeVisit) -> None:
        if run.seconds >= task.enough:
            run.reason = run.reason or Termination.TIME_LIMIT

    ended = branch_and_bound(search, run, node_limit=task.nodes, tree=tree, on_node=check_time)
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
        tree.lost_outside(left),
        tree.why_lost,
        None if run.incumbent is before else run.incumbent,
        basic,
        tuple(run.iterations),
        run.columns_generated,
        dict(run.stage_seconds),
        tuple(run.notes),
        ended.termination if ended.termination in _ENDS_ALL else None,
        time.thread_time() - started,
        this_process(),
    )


def writer_of(search: BranchAndPrice) -> DecisionWriter:
    """Return a writer of the decisions of a search. Raise an ``InputError`` if a rule does not declare its own."""
    return DecisionWriter([*search.search.branching, *search.search.reductions])


# --- the supervisor --------------------------------------------------------------------------------------------------


class OnCluster(Relaxation):
    """Sends the subtrees of open nodes to a cluster. The root is evaluated in this process.

    The run of ``first`` is that of the whole search, and ``made`` is the result of :func:`pack`. With ``free``, each
    subtree is returned at once. Otherwise the search waits for a batch of ``width`` subtrees.
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
        self._done: dict[int, PieceResult] = {}
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
        found = [(self._under_way[number], self._merge(number)) for number in sorted(self._done)]
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
        run, known = self._first.run, pickle.dumps(self._shared_data())
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

    def _shared_data(self) -> Known:
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

    def _merge(self, number: int) -> Evaluation:
        """Merge the result of a subtree into the run, with node numbers of the whole tree."""
        done, node, first = self._done[number], self._under_way[number], self._first
        run = first.run
        if done.error is not None:
            raise done.error
        if done.fault:
            run.notes.append(f"The subtree of node {node.number} cannot be searched on the cluster: {done.fault}.")
            return Evaluation(node.bound, "lost", stop=Termination.FAULT)
        found: SubtreeResult = done.outcome
        subtree, numbers = self._renumber(node, found)
        iterations = [dataclasses.replace(it, node=numbers.get(it.node, node.number)) for it in found.iterations]
        merge_run(run, iterations, found.columns_generated, found.stage_seconds, found.notes)
        if found.process != this_process():  # the clock of this process counts its own threads
            run.processor_elsewhere += found.processor_seconds
        first.master.add(found.columns, ())
        merge_incumbent(first, found.incumbent, f"the subtree of node {node.number}")
        bound = run.sense.best(subtree.lost, *[each.bound for each in subtree.left])
        return Evaluation(bound, "searched", stop=found.stop, subtree=subtree)

    def _renumber(self, root: Node, found: SubtreeResult) -> tuple[Subtree, dict[int, int]]:
        """Return the nodes of a subtree with numbers of the whole tree, and these numbers by the worker's."""
        tree, numbers, paths = self._tree, dict[int, int](), paths_of(found.links, self._writer)

        def parent_of(number: int, parent: int | None) -> int | None:
            return root.parent if number == root.number or parent is None else numbers[parent]

        done = []
        for number, parent, depth, end, bound, outcome in found.done:
            numbers[number] = root.number if number == root.number else tree.new_number()
            done.append(NodeRecord(numbers[number], parent_of(number, parent), depth, bound, outcome, paths[end]))
        left = []
        for data in found.left:
            node = node_of(data, paths)
            numbers[node.number] = tree.new_number()
            above = parent_of(node.number, node.parent)
            left.append(dataclasses.replace(node, number=numbers[node.number], parent=above))
        return Subtree(done, left, found.lost, found.why_lost), numbers


def _or_none(guess: Any) -> Any:
    """Return a guess if it can be pickled, else None."""
    try:
        pickle.dumps(guess)
    except Exception:
        return None
    return guess
