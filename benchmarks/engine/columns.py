"""Benchmark of columns: cost per column from oracle to HiGHS, in batches of arrays and as single objects."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable, Sequence
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import BenchOptions
from colgen import Column, Columns, Duals, LinearMaster, Pricing, PricingContext, PricingResult, artificial
from colgen.bounding.pricing_round import select_improving
from colgen.cli.template import Figure
from colgen.core.lazy_imports import LazyModule
from colgen.model.rows import compile_model
from colgen.pricing.calls import gather

if TYPE_CHECKING:
    import pyomo.environ as pyo
else:
    pyo = LazyModule("pyomo.environ")

_ROWS, _BATCH, _ENTRIES = 500, 1000, 10


class _RandomPatterns(Pricing):
    """Returns distinct random patterns, as a batch or as single columns."""

    def __init__(self, rounds: int, single: bool) -> None:
        rng = np.random.default_rng(7)
        self._single = single
        self._costs = rng.uniform(1.0, 100.0, (rounds, _BATCH))
        chosen = np.argpartition(rng.random((rounds, _BATCH, _ROWS), dtype=np.float32), _ENTRIES, axis=-1)
        self._members = np.sort(chosen[..., :_ENTRIES], axis=-1).astype(np.int32)
        self._lists = self._members.tolist() if single else []
        self._starts = np.arange(0, _ENTRIES * _BATCH + 1, _ENTRIES)
        self._ones = np.ones(_ENTRIES * _BATCH)
        self._round = 0

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        here, self._round = self._round, self._round + 1
        members = self._members[here]
        if not self._single:
            rows = duals.rows("cover")[members.ravel()]
            batch = Columns(self._costs[here], self._starts, rows, self._ones, lambda k: members[k].tolist())
            return PricingResult(batch)
        patterns = zip(self._costs[here].tolist(), self._lists[here], strict=True)
        return PricingResult(
            [Column(cost, {("cover", i): 1.0 for i in pattern}, pattern) for cost, pattern in patterns]
        )


def column_figures(options: BenchOptions) -> list[Figure]:
    """Measure microseconds and bytes per column of ten entries, from oracle to HiGHS."""
    rounds, repeats = (3, 1) if options.quick else (20, 7)
    model = pyo.ConcreteModel()
    model.item = pyo.RangeSet(0, _ROWS - 1)
    model.unmet = artificial(model.item)
    model.cover = pyo.Constraint(model.item, rule=lambda m, i: m.unmet[i] >= 1)
    model.cost = pyo.Objective(expr=0.0)
    compiled = compile_model(model)

    def time_rounds(oracle: _RandomPatterns) -> list[float]:
        """Return microseconds per column for each round: pricing, reduced costs, search for duplicates, adding."""
        master = LinearMaster(compiled)
        duals = master.solve().duals
        assert isinstance(duals, Duals)
        context = PricingContext(master.sense)
        microseconds = []
        for _ in range(rounds):
            started = time.process_time()
            results = gather([oracle.price(duals, context)], duals)
            gains = master.price(results.columns, duals) - 1e9  # all improve
            new = select_improving(master, [oracle], results, gains, context.tolerance)
            added = master.add(new.columns, (), new.origins)
            microseconds.append((time.process_time() - started) / _BATCH * 1e6)
            assert added == _BATCH
        return microseconds

    batches, singles = _RandomPatterns(rounds * (repeats + 1), False), _RandomPatterns(2 * rounds, True)
    in_batches = _least([lambda: time_rounds(batches)] * repeats)
    one_by_one = _least([lambda: time_rounds(singles)] * 2)
    gc.collect()
    tracemalloc.start()
    try:
        master = LinearMaster(compiled)
        duals = master.solve().duals
        assert isinstance(duals, Duals)
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(rounds):
            master.add(batches.price(duals, PricingContext(master.sense)).columns, (), 0)
        gc.collect()
        held = (tracemalloc.get_traced_memory()[0] - before) / (rounds * _BATCH)
    finally:
        tracemalloc.stop()
    note = f"of {_ENTRIES} entries, batches of {_BATCH}"
    options.say(f"columns {note}: {in_batches:.2f} us and {held:.0f} bytes each; as single objects {one_by_one:.1f} us")
    return [
        Figure("microseconds_per_column", in_batches, "us", rounds * repeats, f"{note}, from oracle to HiGHS"),
        Figure("microseconds_per_single_column", one_by_one, "us", rounds * 2, "as single objects"),
        Figure("bytes_per_column", held, "bytes", rounds * _BATCH, "held by the master, without HiGHS"),
    ]


def _least(runs: Sequence[Callable[[], list[float]]]) -> float:
    """Return the smallest median over several runs, to exclude load by other processes."""
    return min(median(run()) for run in runs)
