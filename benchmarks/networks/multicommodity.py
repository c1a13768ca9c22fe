"""Figures of multicommodity flow: CommaLAB's grid and planar networks, public transport, and road networks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.harness import BenchOptions, Run, check_agreement, read_table, repeat_if_brief, run_built, run_program
from colgen import CompactModel, Paths, Rows, Sense, decompose
from colgen.cli.template import Figure
from colgen.decomposition.decomposed import Decomposed
from colgen.networks import Unsplittable
from colgen.networks.files import CommodityNetwork, read_commodities
from colgen.reporting.compared import solve_complete
from colgen.solvers.linear.mip import MIPSolution

_LIMIT = 600.0
"""Time limit of each run in seconds."""

_DIVISORS = {"Barcelona": 5050.0, "ChicagoSketch": 2.4, "Winnipeg": 2000.0}
"""Divisors of the demands of road networks: those of Spoorendonk and Petersen (2025)."""

_COMPARED = ("planar80", "grid7", "planar150", "Winnipeg", "Barcelona")
"""Instances that HiGHS solves as an arc model within the limit."""

_UNSPLITTABLE = ("grid1", "grid3", "planar30")
_QUICK = ("grid1", "planar30")

_GROWING, _PARTS = "planar500", (8, 4, 2, 1)
"""Network on which the growth with the number of commodities is measured, over these parts of them."""

_EQUAL = 1e-7
"""Relative difference from the table of optima; some of its last digits are those of an interior point method."""

_BRIEF = 2.0
"""Seconds below which a run is repeated."""


def multicommodity(folder: Path, options: BenchOptions) -> Sequence[Figure]:
    """Solve the networks of a folder; times are processor time."""
    figures, equal, count = [], 0, 0
    for entry in read_table(folder / "optima.csv"):
        name, optimum = entry["instance"], float(entry["optimum"])
        if options.quick and name not in _QUICK:
            continue
        network = read(folder, name)
        run = _repeated(network, name)
        options.say(str(run))
        label = name.replace("-", "_")
        figures.append(Figure(f"multicommodity_{label}_seconds", run.counted, "s", 1, "continuous flow"))
        room = max(_EQUAL * abs(optimum), 0.5 * 10.0 ** -len(entry["optimum"].partition(".")[2]))
        equal += run.proved and abs(run.objective - optimum) <= room
        count += 1
        if name in _COMPARED and not options.quick:
            other = run_program("HiGHS", name, _LIMIT, solve_arc_model, network)
            options.say(str(other))
            check_agreement(name, {"ours": run.claim, "HiGHS": other.claim}, slack=_EQUAL * abs(optimum))
            ratio = run.counted / other.counted
            figures.append(Figure(f"multicommodity_{label}_vs_highs", ratio, "ratio", 1, "ours over the arc model"))
    figures.append(Figure("multicommodity_equal", equal, "networks", count, "proved and equal to the known optimum"))
    if not options.quick:
        figures.append(_growth(folder, options))
    figures += _unsplittable(folder, options)
    return figures


def _repeated(network: CommodityNetwork, name: str) -> Run:
    return repeat_if_brief(lambda: run_built(lambda: problem(network), _LIMIT, name=name)[0], _BRIEF)


def _growth(folder: Path, options: BenchOptions) -> Figure:
    """Return the exponent of seconds in the number of commodities.

    Demands of a part are scaled to the same total, so that capacities stay as tight.
    """
    network = read(folder, _GROWING)
    order = np.random.default_rng(options.seed).permutation(len(network.demands))
    counts, seconds = [], []
    for part in _PARTS:
        chosen = np.sort(order[: len(order) // part])
        demands = network.demands[chosen]
        some = replace(
            network,
            origins=network.origins[chosen],
            destinations=network.destinations[chosen],
            demands=demands * (network.demands.sum() / demands.sum()),
        )
        run = _repeated(some, f"{_GROWING} with {len(chosen)} commodities")
        options.say(str(run))
        counts.append(len(chosen))
        seconds.append(run.counted)
    exponent = float(np.polyfit(np.log(counts), np.log(seconds), 1)[0])
    note = f"{_GROWING}, {counts[0]} to {counts[-1]} commodities of the same total demand"
    return Figure("multicommodity_growth", exponent, "exponent", len(counts), note)


def _unsplittable(folder: Path, options: BenchOptions) -> Sequence[Figure]:
    """Return the figures of one path per commodity, checked against binary arc variables."""
    figures = []
    for name in _QUICK if options.quick else _UNSPLITTABLE:
        network = read(folder, name)
        run = run_built(partial(problem, network, unsplittable=True), _LIMIT, name=f"{name}, unsplittable")[0]
        other = run_program("HiGHS", f"{name}, unsplittable", _LIMIT, solve_arc_model, network, True)
        for each in (run, other):
            options.say(str(each))
        check_agreement(name, {"ours": run.claim, "HiGHS": other.claim})
        seconds = run.counted if run.proved else math.inf
        figures.append(Figure(f"multicommodity_unsplittable_{name}_seconds", seconds, "s", 1, "to the proof"))
    return figures


def read(folder: Path, name: str) -> CommodityNetwork:
    """Return an instance by its name in the table."""
    if name in _DIVISORS:
        paths = (folder / f"{name}_net.tntp.gz", folder / f"{name}_trips.tntp.gz")
        return read_commodities(*paths, divisor=_DIVISORS[name])
    path = folder / name
    return read_commodities(path if path.is_file() else folder / f"{name}.txt.gz")


def problem(network: CommodityNetwork, *, unsplittable: bool = False) -> Decomposed:
    """Return a network as a problem."""
    rows = Rows(Sense.MINIMIZE)
    flow = rows.add_variables("flow", range(len(network.tails)), cost=network.costs, upper=network.capacities)
    commodities = (network.origins, network.destinations, network.demands)
    rules = [Unsplittable()] if unsplittable else []
    paths = Paths((network.tails, network.heads), flow, commodities=commodities, rules=rules)
    return decompose(CompactModel.from_rows(rows), [paths], method="dantzig-wolfe")


def solve_arc_model(network: CommodityNetwork, unsplittable: bool = False) -> MIPSolution:
    """Solve the model with a flow per origin and arc, or a binary variable per commodity and arc, in HiGHS."""
    vertices = np.unique(np.concatenate([network.tails, network.heads]))
    tails, heads = np.searchsorted(vertices, network.tails), np.searchsorted(vertices, network.heads)
    moved = network.origins != network.destinations
    of, to = (np.searchsorted(vertices, each[moved]) for each in (network.origins, network.destinations))
    demands, arcs = network.demands[moved], len(tails)
    groups = np.arange(len(of)) if unsplittable else np.unique(of, return_inverse=True)[1]
    size = int(groups.max()) + 1
    supply, units = np.zeros((size, len(vertices))), demands if unsplittable else np.ones(size)
    amounts = np.ones(len(of)) if unsplittable else demands
    np.add.at(supply, (groups, of), amounts)
    np.add.at(supply, (groups, to), -amounts)
    ends = (np.concatenate([tails, heads]), np.tile(np.arange(arcs), 2))
    incidence = sparse.csr_array((np.repeat([1.0, -1.0], arcs), ends), shape=(len(vertices), arcs))
    limited = np.flatnonzero(np.isfinite(network.capacities))
    total = sparse.csr_array(sparse.eye_array(arcs))[limited, :]
    matrix = sparse.vstack([sparse.kron(sparse.eye_array(size), incidence), sparse.kron(units[None, :], total)])
    width, height = size * arcs, supply.size + len(limited)
    rows = Rows.of_arrays(
        Sense.MINIMIZE,
        sparse.csc_array(matrix),
        columns=(
            [("flow", k) for k in range(width)],
            (units[:, None] * network.costs[None, :]).ravel(),
            np.zeros(width),
            np.full(width, 1.0 if unsplittable else np.inf),
        ),
        rows=(
            [("row", k) for k in range(height)],
            np.concatenate([supply.ravel(), np.full(len(limited), -np.inf)]),
            np.concatenate([supply.ravel(), network.capacities[limited]]),
        ),
        integer=np.full(width, unsplittable),
        artificial=np.zeros(width, dtype=np.bool_),
    )
    return solve_complete(rows, _LIMIT)
