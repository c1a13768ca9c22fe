"""Decremental state-space relaxation: remembering visits to classes closes the gap that penalties leave."""

from __future__ import annotations

import dataclasses

from colgen import SeparationContext
from colgen.bounding.checks import check_rows
from colgen.bounding.guesses import prove
from colgen.bounding.protocol import Bounded, Bounding, NodeState, Outcome, Parts
from colgen.bounding.run import PRICING, SEPARATION, Recorder
from colgen.problems.title_path.master import WalkMaster, as_solution
from colgen.problems.title_path.pricing import WalkPricing, zero_penalties


class Memory(Bounding):
    """Bound a node in rounds: separate rows of classes that the heaviest walk repeats, then price with their memory.

    The engine prices the oracle at penalties and memory, and the bounds are those that the oracle returns.
    """

    def bound(self, node: NodeState, parts: Parts) -> Bounded:
        master, run = parts.master, parts.run
        (oracle,) = parts.oracles
        assert isinstance(master, WalkMaster)
        assert isinstance(oracle, WalkPricing)
        duals, bound = node.duals or zero_penalties(master.instance), run.root_bound
        rounds = Recorder(run, master, node.number, node.depth, proves=parts.settings.stop_early)
        while True:
            if oracle.walk is not None and run.prunes(bound):
                return Bounded(Outcome.PRUNED, bound, proved=True)
            if run.expired:
                return Bounded(Outcome.STOPPED, bound, termination=run.budget.reason, proved=True)
            rounds.begin()
            if oracle.walk:
                self._separate(oracle.walk, master, parts, node)
                rounds.lap(SEPARATION)
            duals = dataclasses.replace(duals, remembered=master.remembered.copy(), path=oracle.path or duals.path)
            found = prove(master, parts.oracles, duals, parts.context(node), parts.settings)
            for answer in found.answers:
                parts.take(answer, "an oracle")
            rounds.lap(PRICING)
            bound = run.sense.worst(bound, found.bound)
            reason = rounds.write(2, run.objective, bound, duals=duals if parts.settings.keep_duals else None)
            if (reason or found.cut_off) and not run.prunes(bound):
                return Bounded(Outcome.STOPPED, bound, termination=reason or run.budget.reason, proved=True)

    def _separate(self, walk: tuple[int, ...], master: WalkMaster, parts: Parts, node: NodeState) -> None:
        """Add the rows that the walk violates."""
        run, solution = parts.run, as_solution(master.instance, walk)
        context = SeparationContext(
            run.sense, node.number, node.depth, len(run.iterations), True, scale=run.scale, budget=run.budget
        )
        for separator in parts.separation:
            rows = separator.separate(solution, context)
            master.add((), [row for row, _ in check_rows(separator, rows, solution, run.known)])
