"""Several open nodes at once, each with its own restricted master, and the same tree for any number of workers.

The tree alone determines how many nodes form a batch and which master evaluates each (promise 5). Masters exchange
results after a batch, in the order of the nodes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from colgen.bounding.run import Run
from colgen.core.errors import InfeasibleAnswerError
from colgen.core.result import Iteration
from colgen.core.solution import Solution
from colgen.core.workers import Workers
from colgen.tree.branch_and_price import BranchAndPrice
from colgen.tree.node import Evaluation, Node
from colgen.tree.search import Relaxation

_COUNTED = ("master", "pricing", "separation")
"""Stages whose seconds are part of the records of rounds."""


def merge_run(
    run: Run,
    iterations: Sequence[Iteration],
    columns_generated: int,
    stage_seconds: Mapping[str, float],
    notes: Sequence[str],
) -> None:
    """Add the rounds, the columns, the seconds and the notes of a partial run to the run of the whole search."""
    run.columns_generated += columns_generated - sum(iteration.new_columns for iteration in iterations)
    for iteration in iterations:
        run.record(dataclasses.replace(iteration, number=len(run.iterations)), proves=False)
    for stage, seconds in stage_seconds.items():
        if stage not in _COUNTED:
            run.stage_seconds[stage] += seconds
    run.notes += [note for note in notes if note not in run.notes]


def merge_incumbent(search: BranchAndPrice, solution: Solution | None, source: str) -> None:
    """Offer the incumbent of a partial run, or raise an error if it is rejected: the run has pruned nodes by it."""
    run = search.run
    if solution is None or not run.sense.is_better(solution.objective, run.objective):
        return
    search.incumbents.offer_with_columns(solution, source)
    if not run.meets(solution.objective, run.objective):
        raise InfeasibleAnswerError(
            f"{source} found an answer of objective {solution.objective:g} that a separation of the main search cuts "
            "off: a separation must accept or reject an answer regardless of its earlier rows"
        )


class InBatches(Relaxation):
    """Evaluates open nodes in parallel, each in a seat with its own branch and price, master and oracles.

    The first seat evaluates the root. Its run is that of the whole search. Other seats, at most ``width``, are made
    when first needed, and start with its columns. Their runs share the budget and have no stop rules. The number of
    ``workers`` does not change the tree.
    """

    def __init__(
        self, first: BranchAndPrice, another: Callable[[], BranchAndPrice], width: int, workers: Workers
    ) -> None:
        self.width = width
        self._first, self._another, self._workers = first, another, workers
        self._seats = [first]

    def evaluate(self, node: Node) -> Evaluation:
        return self._first.evaluate(node)

    def evaluate_all(self, nodes: Sequence[Node]) -> list[Evaluation]:
        while len(self._seats) < len(nodes):
            self._seats.append(self._make_seat())
        seats = self._assign_seats(nodes)

        def evaluate(pair: tuple[BranchAndPrice, Node]) -> Evaluation:
            seat, node = pair
            seat.run.node_bound = node.bound
            return seat.evaluate(node)

        evaluations = self._workers.each(evaluate, list(zip(seats, nodes, strict=True)))
        self._exchange()
        if len(self._seats) > 1 and self._first.bounds.parts.separation:
            # A child may be evaluated on a master that lacks rows of its parent's bound.
            evaluations = [dataclasses.replace(evaluation, exact=None) for evaluation in evaluations]
        return evaluations

    def _assign_seats(self, nodes: Sequence[Node]) -> list[BranchAndPrice]:
        """Return a seat for each node: the seat with its parent's basis if that is free, else the first free one."""
        free = dict(enumerate(self._seats))
        homes = [0 if node.start is None else node.start.seat for node in nodes]
        seats: list[BranchAndPrice | None] = [free.pop(home, None) for home in homes]
        return [free.pop(min(free)) if seat is None else seat for seat in seats]

    def _make_seat(self) -> BranchAndPrice:
        """Return a new seat with the columns of the first."""
        seat, first = self._another(), self._first
        seat.seat = len(self._seats)
        seat.run.stage_seconds.clear()  # already counted in the first seat's run
        seat.run.scale = first.run.scale
        seat.run.global_bound = first.run.global_bound
        pool = first.pool()
        if pool is not None:
            seat.master.add(list(pool), ())
        self._share_incumbent(seat)
        return seat

    def _exchange(self) -> None:
        """Merge the runs of all seats into the first, and share the incumbent."""
        run = self._first.run
        for seat in self._seats[1:]:
            side = seat.run
            merge_run(run, side.iterations, side.columns_generated, side.stage_seconds, side.notes)
            side.iterations.clear()
            side.stage_seconds.clear()
            side.notes.clear()
            side.columns_generated = side.rows_generated = 0
            merge_incumbent(self._first, side.incumbent, f"restricted master {seat.seat} of the batch")
        for seat in self._seats[1:]:
            seat.run.global_bound = run.global_bound
            self._share_incumbent(seat)

    def _share_incumbent(self, seat: BranchAndPrice) -> None:
        """Offer the incumbent of the whole search to a seat."""
        best = self._first.run.incumbent
        if best is not None and seat.run.sense.is_better(best.objective, seat.run.objective):
            seat.incumbents.offer_with_columns(best, "another node of the batch")
