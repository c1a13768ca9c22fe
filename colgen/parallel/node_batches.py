"""Several open nodes at once, each by a restricted master of its own, and always the same tree.

How many nodes are evaluated at once, and by which master each, depends on the tree alone: not on how many workers there
are, nor on how fast one of them is.  Until all nodes of a batch are done no master hears of the others; then answers go
round, in the order of the nodes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from colgen.core.errors import InfeasibleAnswerError
from colgen.core.workers import Workers
from colgen.tree.branch_and_price import BranchAndPrice
from colgen.tree.node import Evaluation, Node
from colgen.tree.search import Relaxation

_COUNTED = ("master", "pricing", "separation")
"""Stages whose seconds the records of rounds tell."""


class InBatches(Relaxation):
    """Evaluates open nodes side by side, each in a seat: branch and price over a master, with oracles of its own.

    The root is the first seat's.  The others begin with the columns that are there when they are first needed.

    Parameters
    ----------
    first
        Whose run is that of the whole search.
    another
        Makes one more, whose run has no stop rules but the same budget.
    width
        How many there are at most.
    workers
        Who evaluates nodes at once; how many they are makes no difference to the tree.
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
            self._seats.append(self._made())
        seats = self._seated(nodes)

        def evaluate(pair: tuple[BranchAndPrice, Node]) -> Evaluation:
            seat, node = pair
            seat.run.node_bound = node.bound
            return seat.evaluate(node)

        evaluations = self._workers.each(evaluate, list(zip(seats, nodes, strict=True)))
        self._exchange()
        if len(self._seats) > 1 and self._first.bounds.parts.separation:
            # A child may come to a master that lacks a row which its parent's bound rests on.
            evaluations = [dataclasses.replace(evaluation, exact=None) for evaluation in evaluations]
        return evaluations

    def _seated(self, nodes: Sequence[Node]) -> list[BranchAndPrice]:
        """The seat of each node: its parent's, where the basis is, if that is free, else the first that is."""
        free = dict(enumerate(self._seats))
        homes = [0 if node.start is None else node.start.seat for node in nodes]
        found: list[BranchAndPrice | None] = [free.pop(home, None) for home in homes]
        return [free.pop(min(free)) if seat is None else seat for seat in found]

    def _made(self) -> BranchAndPrice:
        """One more seat, with the columns that the first one holds."""
        seat, first = self._another(), self._first
        seat.seat = len(self._seats)
        seat.run.stage_seconds.clear()  # what has passed before is the first one's
        seat.run.scale = first.run.scale
        seat.run.global_bound = first.run.global_bound
        pool = first.pool()
        if pool is not None:
            seat.master.add(list(pool), ())
        self._tell(seat)
        return seat

    def _exchange(self) -> None:
        """Let the run of the whole search take in what the others have done, and all of them the best answer."""
        first, run = self._first, self._first.run
        for seat in self._seats[1:]:
            side = seat.run
            counted = sum(iteration.new_columns for iteration in side.iterations)
            run.columns_generated += side.columns_generated - counted
            for iteration in side.iterations:
                run.record(dataclasses.replace(iteration, number=len(run.iterations)), proves=False)
            for stage, seconds in side.stage_seconds.items():
                if stage not in _COUNTED:
                    run.stage_seconds[stage] += seconds
            run.notes += [note for note in side.notes if note not in run.notes]
            side.iterations.clear()
            side.stage_seconds.clear()
            side.notes.clear()
            side.columns_generated = side.rows_generated = 0
            found = side.incumbent
            if found is not None and run.sense.is_better(found.objective, run.objective):
                first.answers.take_with_columns(found, f"restricted master {seat.seat} of the batch")
                if not run.meets(found.objective, run.objective):  # the seat has pruned by it
                    raise InfeasibleAnswerError(
                        f"restricted master {seat.seat} of the batch found an answer of objective "
                        f"{found.objective:g} that a separation at the first one cuts off: expected separations that "
                        "say the same of an answer whatever they have seen before"
                    )
        for seat in self._seats[1:]:
            seat.run.global_bound = run.global_bound
            self._tell(seat)

    def _tell(self, seat: BranchAndPrice) -> None:
        """Let a seat know the best answer."""
        best = self._first.run.incumbent
        if best is not None and seat.run.sense.is_better(best.objective, seat.run.objective):
            seat.answers.take_with_columns(best, "another node of the batch")
