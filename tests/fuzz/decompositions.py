"""Fuzz compact models with every solution method: decomposed, two-stage, complete, and as a Pyomo solver.

A model is a list of variables, each in at most one block, and rows over them.  Several transformations must not change
the result: fractional bounds of integer variables, other units of continuous variables, scaled rows, and a constant
that makes the optimum zero.  The truth is computed without them: by enumeration if all variables are integer and
bounded, otherwise by HiGHS without presolve.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray
from scipy import optimize

from colgen import Rows, Sense, Termination, TimeLimit, decompose, read, solve
from colgen.core.errors import InputError
from colgen.model.rows import compile_model, free_variables
from colgen.reporting.compared import solve_complete
from colgen.solvers.linear.highs import highs_lp
from colgen.solvers.linear.lp import LPStatus
from colgen.solvers.linear.program import Program
from tests.fuzz.judging import UNKNOWN, Claims, Failure, Fault, Truths, single
from tests.fuzz.scores import Floats, Rng, Sample, draw_scale

NAME = "decompositions"

DANTZIG_WOLFE, BENDERS, COMPLETE, PYOMO, FILES = "dantzig-wolfe", "benders", "complete", "pyomo", "files"
"""Solution methods: ``decompose`` by both methods, the complete models of ``compare``, ``SolverFactory``, and
``decompose`` of a file with stated, drawn or detected blocks."""

_SECONDS = 10.0
"""Time limit of a run in seconds; reaching it is a failure."""

_TRUTH_SECONDS = 5.0
"""Time limit in seconds of HiGHS as the reference."""

_OPTIMAL, _OUT_OF_TIME, _INFEASIBLE, _UNBOUNDED = range(4)
"""Statuses of scipy."""

_MOST_POINTS = 30_000
"""Largest number of points to enumerate."""

_NEAR = 1e-6
"""Tolerance of rows and objectives, relative to their terms."""

_ALMOST = 1e-11
"""Relative distance of a bound from an integer that simulates rounding errors."""


# --- drawing ---------------------------------------------------------------------------------------------------------


def draw(rng: Rng) -> Sample:
    """Draw one to three blocks, up to three variables outside blocks, and up to two linking rows."""
    solver = str(rng.choice([DANTZIG_WOLFE, BENDERS, COMPLETE, PYOMO, FILES], p=[0.5, 0.15, 0.1, 0.05, 0.2]))
    style = str(rng.choice(list(_BLOCKS))) if solver != BENDERS else "any"
    blocks = int(rng.integers(1, 4))
    size, matrix, low, high = _BLOCKS[style](rng)
    equal = bool(blocks > 1 and rng.random() < 0.35)
    statics = int(rng.integers(1, 4) if solver == BENDERS else rng.integers(0, 3))
    links = int(rng.integers(1, 3)) if blocks > 1 or statics else int(rng.integers(0, 2))
    integer = _draw_types(rng, solver, style, size)
    lower, upper = _draw_bounds(rng, style, integer)
    parts = []
    for k in range(blocks):
        if k == 0 or not equal:
            costs = rng.integers(-6, 7, size).astype(float)
            coefficients = rng.integers(0 if rng.random() < 0.5 else -2, 3, (links, size)).astype(float)
            if k and style == "any" and rng.random() < 0.5:
                _, matrix, low, high = _any_rows(rng, size)
        parts.append((costs, coefficients, matrix, low, high))
    arrays = _join(parts, statics, rng, lower, upper, integer, links, solver)
    if rng.random() < 0.8:
        _admit_a_point(rng, arrays, style not in _FIXED, size if equal else 0)
    width = len(arrays["costs"])
    is_integer = arrays["integer"] > 0.0
    arrays["outward"] = _draw_outward(rng, width, is_integer, arrays["lower"] > arrays["upper"])
    arrays["units"] = _draw_units(rng, arrays["block"], is_integer, equal)
    arrays["row_scales"] = 10.0 ** rng.choice([0, 0, 0, -3, 3], len(arrays["low"]))
    if solver == BENDERS and rng.random() < 0.3:
        arrays["costs"] *= rng.choice([0.002, 0.05, 1.0, 30.0, 1200.0], width)
    if rng.random() < 0.08:
        k = int(rng.integers(width))
        arrays["costs"][k] *= 10.0 ** int(rng.integers(4, 9))
    settings = {
        "solver": solver,
        "maximize": bool(rng.random() < 0.5),
        "aggregate": bool(rng.random() < 0.7),
        "recognize": bool(rng.random() < 0.7),
        "zero": bool(rng.random() < 0.2),
        "format": str(rng.choice(["lp", "mps"])),
        "blocks": str(rng.choice(["stated", "drawn", "detected"])),
        "seed": int(rng.integers(1 << 30)),
    }
    constant = float(rng.integers(-5, 6)) if rng.random() < 0.3 else 0.0
    return Sample(NAME, arrays, draw_scale(rng) if rng.random() < 0.3 else 1.0, (constant,), settings)


_Rows = tuple[int, Floats, Floats, Floats]
"""Number of variables of a block, its matrix, and the sides of its rows."""


def _any_rows(rng: Rng, size: int = 0) -> _Rows:
    size, rows = size or int(rng.integers(1, 4)), int(rng.integers(0, 3))
    matrix = rng.integers(-2, 5, (rows, size)).astype(float)
    high = rng.integers(-1, 9, rows).astype(float)
    kind = rng.random(rows)
    low = np.where(kind < 0.2, high, -np.inf)
    flipped = kind > 0.75
    return size, matrix, np.where(flipped, high - 3.0, low), np.where(flipped, np.inf, high)


def _knapsack_rows(rng: Rng) -> _Rows:
    size = int(rng.integers(1, 5))
    return size, rng.integers(0, 6, (1, size)).astype(float), np.array([-np.inf]), rng.integers(0, 12, 1).astype(float)


def _interval_rows(rng: Rng) -> _Rows:
    size, rows = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    matrix = np.zeros((rows, size))
    for r in range(rows):
        first = int(rng.integers(size))
        matrix[r, first : int(rng.integers(first, size)) + 1] = 1.0
    high = rng.integers(0, 7, rows).astype(float)
    return size, matrix, np.where(rng.random(rows) < 0.3, high - 2.0, -np.inf), high


def _network_rows(rng: Rng) -> _Rows:
    size, rows = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    matrix = np.zeros((rows, size))
    for k in range(size):
        tail, head = int(rng.integers(rows + 1)), int(rng.integers(rows + 1))
        if tail < rows:
            matrix[tail, k] += 1.0
        if head < rows:
            matrix[head, k] -= 1.0
    high = rng.integers(-1, 4, rows).astype(float)
    return size, matrix, np.where(rng.random(rows) < 0.5, high, -np.inf), high


def _path_rows(rng: Rng) -> _Rows:
    """Return the flow conservation of one unit from the first of four vertices to the last, over five arcs."""
    arcs = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
    matrix = np.zeros((4, len(arcs)))
    for k, (tail, head) in enumerate(arcs):
        matrix[tail, k], matrix[head, k] = 1.0, -1.0
    side = np.array([1.0, 0.0, 0.0, -1.0])
    return len(arcs), matrix, side, side.copy()


def _stable_rows(rng: Rng) -> _Rows:
    size = int(rng.integers(2, 5))
    edges = [pair for pair in itertools.combinations(range(size), 2) if rng.random() < 0.6] or [(0, 1)]
    matrix = np.zeros((len(edges), size))
    for r, pair in enumerate(edges):
        matrix[r, list(pair)] = 1.0
    return size, matrix, np.full(len(edges), -np.inf), np.ones(len(edges))


def _lot_rows(rng: Rng) -> _Rows:
    """Return lot sizing over two periods: production, inventory, and setups required for production."""
    demand = rng.integers(0, 4, 2).astype(float)
    enough = float(demand.sum()) + 1.0
    made, kept, ready = (0, 1), (2,), (3, 4)
    matrix = np.zeros((4, 5))
    matrix[0, [made[0], kept[0]]] = 1.0, -1.0
    matrix[1, [kept[0], made[1]]] = 1.0
    for period in (0, 1):
        matrix[2 + period, [made[period], ready[period]]] = 1.0, -enough
    return 5, matrix, np.array([*demand, -np.inf, -np.inf]), np.array([*demand, 0.0, 0.0])


_BLOCKS: Mapping[str, Callable[[Rng], _Rows]] = {
    "any": _any_rows,
    "more": _any_rows,
    "knapsacks": _knapsack_rows,
    "intervals": _interval_rows,
    "networks": _network_rows,
    "paths": _path_rows,
    "stable sets": _stable_rows,
    "lots": _lot_rows,
}
"""Rows of a block by the structure that may be recognized."""


_FIXED = ("paths", "stable sets", "lots")
"""Structures whose rows must keep their sides."""


def _draw_types(rng: Rng, solver: str, style: str, size: int) -> NDArray[np.bool_]:
    if solver == BENDERS:
        return np.zeros(size, dtype=np.bool_)
    if style == "lots":
        return np.arange(size) >= 3
    share = float(rng.choice([1.0, 1.0, 0.6, 0.0])) if style in ("any", "more") else 1.0
    return np.asarray(rng.random(size) < share)


def _draw_bounds(rng: Rng, style: str, integer: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Draw bounds: mostly from zero, infinite in 30% of models, sometimes around zero."""
    size = len(integer)
    if style == "lots":
        return np.zeros(size), np.where(integer, 1.0, np.inf)
    if style in ("paths", "stable sets") and rng.random() < 0.7:
        return np.zeros(size), np.ones(size)
    lower: Floats = np.where(rng.random(size) < 0.7, 0, rng.integers(-3, 2, size)).astype(float)
    upper: Floats = (lower + rng.integers(0 if rng.random() < 0.3 else 1, 4, size)).astype(float)
    if rng.random() < 0.3:
        upper[rng.random(size) < 0.6] = np.inf
        lower[rng.random(size) < 0.2] = -np.inf
    if rng.random() < 0.02 and integer.any():  # an integer variable without a feasible value
        k = int(np.flatnonzero(integer)[0])
        lower[k] = 1.0 if not math.isfinite(lower[k]) else lower[k]
        upper[k] = lower[k] - 1.0  # written as a fractional interval
    return lower, upper


def _join(
    parts: list[tuple[Floats, Floats, Floats, Floats, Floats]],
    statics: int,
    rng: Rng,
    lower: Floats,
    upper: Floats,
    integer: NDArray[np.bool_],
    links: int,
    solver: str,
) -> dict[str, Floats]:
    """Join blocks, variables outside blocks, and linking rows into one model."""
    blocks, size = len(parts), len(lower)
    width = blocks * size + statics
    rows, low, high = [], [], []
    for k, (_, _, matrix, row_low, row_high) in enumerate(parts):
        for r in range(len(matrix)):
            row = np.zeros(width)
            row[k * size : (k + 1) * size] = matrix[r]
            if solver == BENDERS:
                row[blocks * size :] = rng.integers(-2, 3, statics)
            rows.append(row)
            low.append(row_low[r])
            high.append(row_high[r])
    for r in range(links):
        row = np.zeros(width)
        if solver != BENDERS:
            for k, (_, coefficients, _, _, _) in enumerate(parts):
                row[k * size : (k + 1) * size] = coefficients[r]
        row[blocks * size :] = rng.integers(-2, 3, statics)
        side, kind = float(rng.integers(-1, 2 * blocks + 2)), rng.random()
        rows.append(row)
        low.append(side if kind < 0.55 else -np.inf)
        high.append(side if kind > 0.4 else np.inf)
    static_integer = rng.random(statics) < (0.8 if solver == BENDERS else 0.5)
    static_lower = rng.integers(-2, 1, statics).astype(float)
    static_upper = static_lower + rng.integers(1, 5, statics)
    if solver != BENDERS:
        static_upper[rng.random(statics) < 0.1] = np.inf
        static_lower[rng.random(statics) < 0.05] = -np.inf
    return {
        "costs": np.concatenate([*(part[0] for part in parts), rng.integers(-4, 5, statics).astype(float)]),
        "lower": np.concatenate([*[lower] * blocks, static_lower]),
        "upper": np.concatenate([*[upper] * blocks, static_upper]),
        "integer": np.concatenate([*[integer] * blocks, static_integer]).astype(float),
        "block": np.concatenate([np.repeat(np.arange(blocks), size), np.full(statics, -1)]).astype(float),
        "matrix": np.array(rows).reshape(len(rows), width),
        "low": np.array(low),
        "high": np.array(high),
    }


def _admit_a_point(rng: Rng, arrays: dict[str, Floats], own: bool, equal: int) -> None:
    """Move sides of linking rows, and of blocks if ``own``, so that a random point satisfies them.

    If ``equal`` is not zero, blocks have that many variables, and the point is equal in each block.
    """
    low = np.where(np.isfinite(arrays["lower"]), arrays["lower"], np.minimum(arrays["upper"], 2.0) - 2.0)
    high = np.maximum(np.minimum(arrays["upper"], low + 3.0), low)
    point = rng.integers(low, high, endpoint=True).astype(float)
    in_block = arrays["block"] >= 0.0
    if equal:
        point[in_block] = np.tile(point[:equal], int(in_block.sum()) // equal)
    linking = np.array([len(set(arrays["block"][row != 0.0].tolist())) > 1 for row in arrays["matrix"]], dtype=np.bool_)
    moved = linking | own
    activity = arrays["matrix"] @ point
    equation = arrays["low"] == arrays["high"]
    for name, worse in (("low", np.minimum), ("high", np.maximum)):
        arrays[name] = np.where(moved, np.where(equation, activity, worse(arrays[name], activity)), arrays[name])


def _draw_outward(rng: Rng, width: int, is_integer: NDArray[np.bool_], empty: NDArray[np.bool_]) -> Floats:
    """Draw how far bounds of integer variables lie outside their integer values, shape (2, width).

    A negative number lies inside and simulates rounding.
    """
    outward = np.zeros((2, width))
    if rng.random() < 0.6:
        share = rng.choice([0.0, 0.1, 0.5, 0.9, -_ALMOST], (2, width))
        outward[:, is_integer] = share[:, is_integer]
    outward[0, empty], outward[1, empty] = 0.7, 0.6  # an interval of 0.3 without an integer
    return outward


def _draw_units(rng: Rng, block: Floats, is_integer: NDArray[np.bool_], equal: bool) -> Floats:
    """Draw factors of continuous variables, separately for variables outside blocks."""
    units = np.ones(len(block))
    if rng.random() < 0.25:
        for k in {-1.0, 0.0} if equal else set(block.tolist()):
            mine = block >= 0.0 if equal and k >= 0.0 else block == k
            units[mine & ~is_integer] = 10.0 ** int(rng.integers(-6, 10)) if rng.random() < 0.6 else 1.0
    return units


# --- judging ---------------------------------------------------------------------------------------------------------


def evaluate(sample: Sample) -> tuple[Truths, Claims] | Failure:
    """Return truth and claims, negated if costs are minimised; a failure if their statuses differ."""
    s = 1.0 if sample.settings["maximize"] else -1.0
    best, point = truth_of(sample.arrays, sample.settings["maximize"])
    if math.isnan(best):
        return UNKNOWN
    constant = sample.scale * _constant(sample, best)
    outcome = _solve(sample, constant)
    if outcome is None:
        return UNKNOWN
    termination, objective, bound, x = outcome
    undecided = termination is Termination.UNBOUNDED_OR_INFEASIBLE
    if math.isinf(best) and undecided:
        return _CORRECT
    if (termination is Termination.UNBOUNDED) != (best == math.inf) or undecided:
        fault = Fault.WRONG_PROOF if termination.is_proof else Fault.FALSE_ALARM
        return Failure(fault, f"ended with {termination.name}, expected the best objective {best:g}")
    if best == math.inf:
        return _CORRECT
    costs = np.abs(sample.arrays["costs"])
    used = costs[costs > 0.0]
    size = float(np.median(used)) if len(used) else 1.0
    if point is not None:
        size = max(size, float((costs * np.abs(point)).max(initial=0.0)), float(np.abs(sample.constants).max()))
    own = -math.inf if x is None else s * _worth(sample.arrays, x)
    if own > best + 100.0 * _NEAR * size:
        return UNKNOWN  # the answer satisfies the data and is better: the reference is wrong
    worth = sample.scale * own + s * constant
    truths = Truths(
        np.array([sample.scale * best + s * constant]), sample.scale * size, np.array([s * constant]), 5.0 * _NEAR
    )
    return truths, single(s * objective, s * bound, worth, termination.is_proof, termination.name)


_CORRECT = Truths(np.zeros(1), 1.0, np.zeros(1)), single(0.0, 0.0, 0.0, True)
"""Result for an infeasible or unbounded model with a correct status."""


def _constant(sample: Sample, best: float) -> float:
    """Return the constant of the objective, which makes the optimum zero in some models."""
    if sample.settings["zero"] and math.isfinite(best):
        return -best if sample.settings["maximize"] else best
    return float(sum(sample.constants))


def _solve(sample: Sample, constant: float) -> tuple[Termination, float, float, Floats | None] | None:
    """Return status, objective, bound and answer of a run; None if the model is rejected for a valid reason."""
    model, settings = model_of(sample, constant), sample.settings
    if settings["solver"] == COMPLETE:
        solved = solve_complete(model, _SECONDS)
        ended = {
            LPStatus.OPTIMAL: Termination.OPTIMAL,
            LPStatus.INFEASIBLE: Termination.INFEASIBLE,
            LPStatus.UNBOUNDED: Termination.UNBOUNDED_OR_INFEASIBLE,
        }.get(solved.status, Termination.TIME_LIMIT)
        values = None if solved.values is None or ended is not Termination.OPTIMAL else solved.values
        if values is not None:
            order = [int(variable.local_name[1:]) for variable in free_variables(model)[2]]
            values = values[np.argsort(order)] / sample.arrays["units"]
        return ended, solved.objective, solved.bound, values
    how = {"aggregate": settings["aggregate"], "recognize": settings["recognize"]}
    try:
        if settings["solver"] == PYOMO:
            return _by_pyomo(sample, model, how)
        if settings["solver"] == FILES:
            return _by_file(sample, model, how)
        method = "benders" if settings["solver"] == BENDERS else "dantzig-wolfe"
        problem = decompose(model, method=method, **how)  # type: ignore[call-overload]
    except InputError as error:
        if _is_unsupported(sample, str(error)):
            return None
        raise
    result = solve(problem, stop=TimeLimit(_SECONDS))
    values = None if result.answer is None else _values(sample, model)
    return result.termination, result.objective, result.dual_bound, values


def _is_unsupported(sample: Sample, message: str) -> bool:
    """Return whether the method does not support the model, so that rejecting it is correct."""
    if "cost of" in message and "is unbounded" in message:
        width = sample.arrays["upper"] - sample.arrays["lower"]
        return sample.settings["solver"] == BENDERS and not np.isfinite(width).all()
    if sample.settings["solver"] == FILES and ("without loss" in message or "no block" in message):
        return True
    return ("no block" in message or "first stage" in message) and len(set(sample.arrays["block"].tolist())) < 2


def _by_pyomo(sample: Sample, model: Any, how: Mapping[str, bool]) -> tuple[Termination, float, float, Floats | None]:
    solver = pyo.SolverFactory("colgen")
    solved = solver.solve(model, timelimit=_SECONDS, options=dict(how))
    condition = solved.solver.termination_condition
    ended = {
        pyo.TerminationCondition.optimal: Termination.OPTIMAL,
        pyo.TerminationCondition.infeasible: Termination.INFEASIBLE,
        pyo.TerminationCondition.unbounded: Termination.UNBOUNDED,
        pyo.TerminationCondition.infeasibleOrUnbounded: Termination.UNBOUNDED_OR_INFEASIBLE,
    }.get(condition, Termination.TIME_LIMIT)
    bounds = float(solved.problem.lower_bound), float(solved.problem.upper_bound)
    bound, objective = bounds[::-1] if sample.settings["maximize"] else bounds
    return ended, objective, bound, _values(sample, model) if math.isfinite(objective) else None


def _by_file(
    sample: Sample, model: Any, how: Mapping[str, bool]
) -> tuple[Termination, float, float, Floats | None] | None:
    """Write the model and its blocks to files, read both, and solve."""
    f = compile_model(model)
    order = [int(variable.local_name[1:]) for variable in free_variables(model)[2]]
    lp = highs_lp(Program(f.sense is Sense.MAXIMIZE, f.matrix, f.costs, f.lower, f.upper, f.row_lower, f.row_upper))
    lp.offset_ = f.offset
    lp.col_names_ = [f"x{k}" for k in order]
    lp.row_names_ = [f"r{r}" for r in range(len(f.row_lower))]
    lp.integrality_ = [
        highspy.HighsVarType.kInteger if each else highspy.HighsVarType.kContinuous for each in f.integer
    ]
    writer = highspy.Highs()
    writer.setOptionValue("output_flag", False)
    if writer.passModel(lp) != highspy.HighsStatus.kOk:
        return None  # HiGHS drops very small coefficients
    with tempfile.TemporaryDirectory() as folder:
        path, dec = Path(folder, f"m.{sample.settings['format']}"), Path(folder, "m.dec")
        writer.writeModel(str(path))
        compact = read(path)
        if sample.settings["blocks"] != "detected":
            dec.write_text(_blocks(sample, f, compact.source.constraint_names))
            compact = read(path, dec)
    result = solve(decompose(compact, **how), stop=TimeLimit(_SECONDS))  # type: ignore[call-overload]
    values = None
    if result.answer is not None:
        values = np.array([result.answer.get(f"x{k}", 0.0) for k in range(len(order))]) / sample.arrays["units"]
    return result.termination, result.objective, result.dual_bound, values


def _blocks(sample: Sample, f: Rows, names: Sequence[str]) -> str:
    """Return a decomposition in GCG's format, that of the sample or one drawn at random.

    HiGHS writes a ranged row ``r1`` to an LP file as two rows, ``r1lo`` and ``r1up``.
    """
    rows = len(f.row_lower)
    if sample.settings["blocks"] == "stated":
        labels = [int(key[0].partition("[")[2].partition("]")[0] or -1) if "[" in key[0] else -1 for key in f.row_keys]
    else:
        labels = np.random.default_rng(sample.settings["seed"]).integers(-1, 4, rows).tolist()
    lines = ["CONSDEFAULTMASTER", str(sample.settings["seed"] % 2), "NBLOCKS", "4"]
    for k in range(4):
        lines += [f"BLOCK {k + 1}", *(name for name in names if labels[int(name[1:].rstrip("loup"))] == k)]
    return "\n".join(lines)


# --- the model -------------------------------------------------------------------------------------------------------


def model_of(sample: Sample, constant: float) -> pyo.ConcreteModel:
    """Return the transformed Pyomo model, with one ``pyo.Block`` per block."""
    arrays = sample.arrays
    m = pyo.ConcreteModel()
    m.b = pyo.Block(sorted({int(k) for k in arrays["block"] if k >= 0}))
    units, scales = sample.arrays["units"], arrays["row_scales"]
    lower, upper = (_stated_bound(arrays, name, units) for name in ("lower", "upper"))
    x: list[Any] = []
    for k, block in enumerate(arrays["block"].astype(int).tolist()):
        home = m if block < 0 else m.b[block]
        domain = pyo.Integers if arrays["integer"][k] else pyo.Reals
        variable = pyo.Var(domain=domain, bounds=tuple(None if math.isinf(v) else v for v in (lower[k], upper[k])))
        home.add_component(f"x{k}", variable)
        x.append(variable)
    for r, row in enumerate(arrays["matrix"]):
        used = np.flatnonzero(row).tolist()
        if not used:
            continue
        body = pyo.quicksum(float(row[k] * scales[r] / units[k]) * x[k] for k in used)
        low, high = (
            None if math.isinf(side) else float(side * scales[r]) for side in (arrays["low"][r], arrays["high"][r])
        )
        constraint = pyo.Constraint(expr=body == low if low == high else pyo.inequality(low, body, high))
        own = {int(arrays["block"][k]) for k in used} - {-1}
        home = m.b[own.pop()] if len(own) == 1 else m
        home.add_component(f"r{r}", constraint)
    costs = sample.scale * arrays["costs"] / units
    m.total = pyo.Objective(
        expr=pyo.quicksum(float(c) * v for c, v in zip(costs, x, strict=True)) + constant,
        sense=pyo.maximize if sample.settings["maximize"] else pyo.minimize,
    )
    return m


def _stated_bound(arrays: Mapping[str, Floats], name: str, units: Floats) -> Floats:
    """Return the transformed bounds."""
    outward = -arrays["outward"][0] if name == "lower" else arrays["outward"][1]
    bounds = arrays[name]
    near = np.abs(outward) == _ALMOST
    moved = np.where(near, np.where(np.isfinite(bounds), bounds, 0.0) * (1.0 + outward), bounds + outward)
    return np.where(np.isfinite(bounds), moved, bounds) * units


def _values(sample: Sample, model: Any) -> Floats:
    """Return the values that a run stored in the model, in original units."""
    values = np.zeros(len(sample.arrays["costs"]))
    for k, block in enumerate(sample.arrays["block"].astype(int).tolist()):
        home = model if block < 0 else model.b[block]
        value = home.component(f"x{k}").value
        values[k] = math.nan if value is None else value
    return values / sample.arrays["units"]


def _worth(arrays: Mapping[str, Floats], x: Floats) -> float:
    """Return the objective of a point from the data alone, without constant; NaN if it is infeasible."""
    integer = arrays["integer"] > 0.0
    room = 10.0 * _NEAR * np.maximum(np.abs(x), 1.0)
    fits = (np.abs(x - np.rint(x))[integer] <= _NEAR).all()
    fits = fits and (x >= arrays["lower"] - room).all() and (x <= arrays["upper"] + room).all()
    activity, nonzero = arrays["matrix"] @ x, arrays["matrix"].any(axis=1)
    slack = 10.0 * _NEAR * np.maximum(np.abs(arrays["matrix"]) @ np.abs(x), 1.0)
    held = (activity >= arrays["low"] - slack) & (activity <= arrays["high"] + slack)
    if not (fits and (held | ~nonzero).all()):
        return math.nan
    return float(arrays["costs"] @ x)


# --- truth -----------------------------------------------------------------------------------------------------------


def truth_of(arrays: Mapping[str, Floats], maximize: bool) -> tuple[float, Floats | None]:
    """Return the best objective of the maximisation form, and an optimal point.

    -inf if infeasible, inf if unbounded, NaN if HiGHS does not finish.
    """
    integer = arrays["integer"] > 0.0
    lower, upper = arrays["lower"], arrays["upper"]
    if (lower > upper).any():
        return -math.inf, None
    costs = arrays["costs"] if maximize else -arrays["costs"]
    width = upper - lower + 1.0
    if integer.all() and np.isfinite(width).all() and width.prod() <= _MOST_POINTS:
        return _by_points(arrays, costs)
    return _by_highs(arrays, costs)


def _by_points(arrays: Mapping[str, Floats], costs: Floats) -> tuple[float, Floats | None]:
    ends = zip(arrays["lower"].tolist(), arrays["upper"].tolist(), strict=True)
    grids = np.meshgrid(*(np.arange(low, high + 1.0) for low, high in ends), indexing="ij")
    points = np.array([grid.ravel() for grid in grids]).T
    nonzero = arrays["matrix"].any(axis=1)
    activity = points @ arrays["matrix"][nonzero].T
    fits = ((activity >= arrays["low"][nonzero]) & (activity <= arrays["high"][nonzero])).all(axis=1)
    if not fits.any():
        return -math.inf, None
    values = points[fits] @ costs
    return float(values.max()), points[fits][values.argmax()]


def _by_highs(arrays: Mapping[str, Floats], costs: Floats) -> tuple[float, Floats | None]:
    """Solve by HiGHS; by Meyer (1974) a feasible program with rational data is unbounded if its relaxation is."""
    nonzero = arrays["matrix"].any(axis=1)
    rows = optimize.LinearConstraint(arrays["matrix"][nonzero], arrays["low"][nonzero], arrays["high"][nonzero])
    constraints = rows if nonzero.any() else ()

    def run_highs(costs: Floats, is_integer: Floats) -> Any:
        return optimize.milp(
            -costs,
            integrality=is_integer,
            bounds=optimize.Bounds(arrays["lower"], arrays["upper"]),
            constraints=constraints,
            options={"mip_rel_gap": 0.0, "presolve": False, "time_limit": _TRUTH_SECONDS},
        )

    is_integer, nothing = arrays["integer"], np.zeros_like(costs)
    if run_highs(nothing, nothing).status != _OPTIMAL:
        return -math.inf, None
    relaxed = run_highs(costs, nothing)
    solved = run_highs(costs if relaxed.status == _OPTIMAL else nothing, is_integer)
    if solved.status == _INFEASIBLE:
        return -math.inf, None
    if solved.status != _OPTIMAL:
        return math.nan, None
    if relaxed.status != _OPTIMAL:
        return math.inf, None
    x = np.where(is_integer > 0.0, np.rint(solved.x), solved.x)
    return -float(solved.fun), x


# --- shrinking -------------------------------------------------------------------------------------------------------


def simplify(sample: Sample) -> Iterator[Sample]:
    """Yield samples with one variable or row less, without transformations, then with one entry less."""
    arrays = sample.arrays
    width, rows = len(arrays["costs"]), len(arrays["low"])
    for k in range(width if width > 1 else 0):
        less = {name: np.delete(array, k, -1) if name not in _OF_ROWS else array for name, array in arrays.items()}
        if (less["block"] >= 0.0).any():
            yield dataclasses.replace(sample, arrays=less)
    for r in range(rows):
        less = {name: np.delete(arrays[name], r, 0) for name in (*_OF_ROWS, "matrix")}
        yield dataclasses.replace(sample, arrays={**arrays, **less})
    for name, plain in (("outward", 0.0), ("units", 1.0), ("row_scales", 1.0), ("integer", 1.0)):
        if (arrays[name] != plain).any():
            yield dataclasses.replace(sample, arrays={**arrays, name: np.full_like(arrays[name], plain)})
    if sample.settings["zero"]:
        yield sample.with_settings(zero=False)
    if sample.settings["maximize"]:
        yield dataclasses.replace(sample.with_settings(maximize=False), arrays={**arrays, "costs": -arrays["costs"]})
    for name in ("matrix", "costs", "outward"):
        for k in np.flatnonzero(arrays[name]).tolist():
            array = arrays[name].copy()
            array.flat[k] = 0.0
            yield dataclasses.replace(sample, arrays={**arrays, name: array})


_OF_ROWS = ("low", "high", "row_scales")
