"""``colgen bench scale``: large masters of set partitioning and cutting stock, each in a process of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from benchmarks.harness import BenchOptions, measure
from colgen import (
    Columns,
    Duals,
    Method,
    Pricing,
    PricingContext,
    PricingResult,
    Problem,
    Termination,
    TimeLimit,
    artificial,
    solve,
)
from colgen.bounding.volume import Volume
from colgen.cli.template import Figure
from colgen.core.budget import peak_bytes
from colgen.core.files import write_figure
from colgen.problems.cutting_stock.generators import uniform
from colgen.problems.cutting_stock.template import CuttingStock
from colgen.reporting.axes import STYLES, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MINUTES, _LIMIT, _ROUNDS = 20.0, 300.0, 200
"""Approximate minutes of the benchmark; limit in seconds per size; rounds of an ascent."""

_SMALL, _LEAST = 60, 5.0
"""Rows and seconds of the first run, which compiles the kernels."""

_STRIDES = (1, 2, 3)
_LONGEST = 12
_ROLL = 10_000
_WORTHWHILE = 0.05


@dataclass(frozen=True)
class Size:
    """Effort of one relaxation.

    Attributes
    ----------
    rows
        Rows of the master.
    nonzeros
        Nonzeros of the final restricted master; of all columns if there is none.
    rounds
        Rounds of column generation.
    seconds
        Processor seconds of all rounds, without compilation.
    bytes
        Peak memory of the process, interpreter and libraries included.
    ended
        False if the time limit stopped the run.
    """

    rows: int
    nonzeros: int
    rounds: int
    seconds: float
    bytes: int
    ended: bool

    @property
    def seconds_per_round(self) -> float:
        """Return the mean seconds per round."""
        return self.seconds / self.rounds


class Partition(Problem[object]):
    """Set partitioning of rows on a circle by chains: up to twelve rows at equal distances, with random costs.

    A chain is identified by its stride (the distance), first row and length.  There must be more rows than the longest
    chain spans.
    """

    def __init__(self, rows: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.rows, self.strides = rows, _STRIDES
        lengths = np.arange(1, _LONGEST + 1)
        self.costs = np.sqrt(lengths) * rng.uniform(1.0, 2.0, (len(_STRIDES), rows, _LONGEST))

    def master(self) -> pyo.ConcreteModel:
        m = pyo.ConcreteModel()
        m.row = pyo.RangeSet(0, self.rows - 1)
        m.uncovered = artificial(m.row)
        m.cover = pyo.Constraint(m.row, rule=lambda m, i: m.uncovered[i] == 1)
        m.cost = pyo.Objective(expr=0.0, sense=pyo.minimize)
        return m

    def pricing(self) -> list[Pricing]:
        return [_Chains(self)]


class _Chains(Pricing):
    """Find the best length of each chain exactly, by cumulative sums of dual values."""

    def __init__(self, problem: Partition) -> None:
        self._costs = problem.costs
        self.cost_bound = float(problem.costs.min())
        steps = np.arange(_LONGEST)
        first = np.arange(problem.rows)[:, None]
        self._members = [(first + stride * steps) % problem.rows for stride in _STRIDES]

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        values, w = np.asarray(duals.array("cover")), context.cost_weight
        reduced = np.stack(
            [w * c - np.cumsum(values[m], axis=1) for c, m in zip(self._costs, self._members, strict=True)]
        )
        lengths = reduced.argmin(axis=2)
        best = np.take_along_axis(reduced, lengths[:, :, None], axis=2)[:, :, 0]
        rows, bound = duals.rows("cover"), float(best.min())
        strides, firsts = np.nonzero(best < min(-1e-9, _WORTHWHILE * bound))
        if not len(firsts):
            strides, firsts = (np.array([one]) for one in np.unravel_index(best.argmin(), best.shape))
        columns = self._columns(strides, firsts, lengths[strides, firsts], rows)
        stride = best.argmin(axis=0)  # at most one chain per first row is used: all of them cover it
        gains = best[stride, np.arange(len(stride))]

        def attained() -> tuple[Columns, NDArray[np.float64]]:
            used = np.flatnonzero(gains < 0.0)
            chosen = self._columns(stride[used], used, lengths[stride[used], used], rows)
            return chosen, np.ones(len(used))

        total = float(np.minimum(gains, 0.0).sum())
        return PricingResult(columns, bound, best[strides, firsts].tolist(), total, attained)

    def _columns(
        self, strides: NDArray[np.int64], firsts: NDArray[np.int64], lengths: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> Columns:
        members = np.stack(self._members)[strides, firsts]
        inside = np.arange(_LONGEST) <= lengths[:, None]
        starts = np.concatenate([[0], np.cumsum(lengths + 1)])
        taken = rows[members[inside]]
        keys = list(zip(strides.tolist(), firsts.tolist(), (lengths + 1).tolist(), strict=True))
        return Columns(self._costs[strides, firsts, lengths], starts, taken, np.ones(len(taken)), keys)


def partition_by_volume(rows: int, seconds: float) -> Size:
    """Bound set partitioning by a volume ascent; each round visits all entries of all chains."""
    problem = Partition(rows, 0)
    entries = len(_STRIDES) * rows * _LONGEST * (_LONGEST + 1) // 2
    return _measure(problem, rows, seconds, entries, method=Method(bounding=Volume(_ROUNDS)))


def partition_by_simplex(rows: int, seconds: float) -> Size:
    """Solve the relaxation of set partitioning by column generation."""
    return _measure(Partition(rows, 0), rows, seconds)


def rolls_by_simplex(widths: int, seconds: float) -> Size:
    """Solve the relaxation of cutting stock by column generation."""
    instance = uniform(widths, 0, roll=_ROLL, widths=(_ROLL // 10, 7 * _ROLL // 10))
    return _measure(CuttingStock(instance), widths, seconds)


def _measure(problem: Problem[Any], rows: int, seconds: float, nonzeros: int = 0, **options: Any) -> Size:
    result, lasted = measure(lambda: solve(problem, relaxation=True, stop=TimeLimit(seconds), **options))
    pool = result.pool
    held = 0 if pool is None else sum(len(column.coefficients) for column in pool)
    ended = result.termination is not Termination.TIME_LIMIT
    return Size(rows, nonzeros or held, len(result.iterations), lasted, peak_bytes(), ended)


def _measure_warm(family: Family, rows: int, seconds: float) -> Size:
    """Measure a family after a small run has compiled the kernels."""
    family(_SMALL, _LEAST)
    return family(rows, seconds)


Family: TypeAlias = Callable[[int, float], Size]

FAMILIES: dict[str, tuple[Family, tuple[int, ...]]] = {
    "set partitioning, volume": (partition_by_volume, (1_250, 2_500, 5_000, 10_000, 20_000)),
    "set partitioning, simplex": (partition_by_simplex, (312, 625, 1_250, 2_500)),
    "cutting stock, simplex": (rolls_by_simplex, (312, 625, 1_250, 2_500, 5_000)),
}
"""Functions and sizes by name."""


def bench_scale(options: BenchOptions) -> Sequence[Figure]:
    """Measure seconds per round and memory of large masters by size, and the growth of seconds with nonzeros."""
    share = 0.02 if options.quick else min(options.share(_MINUTES), 1.0)
    limit = max(_LIMIT * share, _LEAST)
    figures: list[Figure] = []
    sizes: dict[str, list[Size]] = {}
    for name, (family, counts) in FAMILIES.items():
        sizes[name] = []
        for rows in counts[: max(math.ceil(share * len(counts)), 2)]:
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:  # to measure its memory
                one = pool.submit(_measure_warm, family, rows, limit).result()
            stopped = "" if one.ended else f", stopped after {one.rounds} rounds"
            options.say(
                f"{name}, {rows:,} rows: {one.seconds_per_round:.3f} s per round, {one.bytes / 2**30:.2f} GiB{stopped}"
            )
            note = f"{one.nonzeros:,} nonzeros; {'solved' if one.ended else 'stopped by the time limit'}"
            figures += [
                Figure(f"seconds_a_round ({name}, {rows})", one.seconds_per_round, "s", one.rounds, note),
                Figure(f"bytes ({name}, {rows})", float(one.bytes), "bytes", 1, "peak of the process"),
            ]
            sizes[name].append(one)
            if not one.ended:
                break
    for name, found in sizes.items():
        if len(found) > 1:
            note = "seconds per round as a power of nonzeros, from the first to the last size"
            figures.append(Figure(f"scale_exponent ({name})", fit_exponent(found), "", len(found), note))
    most = max(one.bytes for found in sizes.values() for one in found)
    if options.plot is not None:
        write_figure(draw(sizes).figure, options.plot)
    return [Figure("scale_bytes_worst", float(most), "bytes", sum(map(len, sizes.values())), "of all sizes"), *figures]


def fit_exponent(sizes: Sequence[Size]) -> float:
    """Return the exponent of seconds per round as a power of nonzeros."""
    first, last = sizes[0], sizes[-1]
    return math.log(last.seconds_per_round / first.seconds_per_round) / math.log(last.nonzeros / first.nonzeros)


def draw(sizes: Mapping[str, Sequence[Size]]) -> Axes:
    """Plot seconds per round against nonzeros, both logarithmic, one line per family; dotted: linear growth."""
    axes = new_axes()
    for (line, marker), (name, found) in zip(STYLES[4:], sizes.items(), strict=False):
        nonzeros = [one.nonzeros for one in found]
        axes.plot(nonzeros, [one.seconds_per_round for one in found], marker=marker, linestyle=line, label=name)
        first = found[0]
        axes.plot(
            nonzeros, [first.seconds_per_round * n / first.nonzeros for n in nonzeros], ":", color="0.6", zorder=0
        )
    axes.set(xscale="log", yscale="log", xlabel="nonzeros", ylabel="processor seconds per round")
    axes.legend(frameon=False)
    return axes
