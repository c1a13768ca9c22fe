"""Random compact models through every door that solves them: decomposed, two-stage, complete, as a Pyomo solver.

A model is a list of variables, each in a block or in none, and rows over them.  Integer variables have integral bounds;
what the model states in their place may be fractional, which must change nothing.  Likewise the model may count
continuous variables in other units, multiply rows, and add a constant that makes the optimum zero.  The truth is found
without any of that: by enumeration where all variables are integer and bounded, otherwise by HiGHS without presolve.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray
from scipy import optimize

from colgen import Termination, TimeLimit, decompose, solve
from colgen.core.errors import InputError
from colgen.model.rows import free_variables
from colgen.reporting.compared import solve_complete
from colgen.solvers.linear.lp import LPStatus
from tests.fuzz.judging import UNKNOWN, Failure, Fault, Said, Truths, one
from tests.fuzz.scores import Drawn, Floats, Rng, draw_scale

NAME = "decompositions"

DANTZIG_WOLFE, BENDERS, COMPLETE, PYOMO = "dantzig-wolfe", "benders", "complete", "pyomo"
"""Doors: ``decompose`` by both methods, the complete models of ``compare``, and ``SolverFactory``."""

_SECONDS = 10.0
"""A run that takes longer has failed."""

_TRUTH_SECONDS = 5.0
"""HiGHS is given so many to find the truth."""

_OPTIMAL, _OUT_OF_TIME, _INFEASIBLE, _UNBOUNDED = range(4)
"""Its statuses in scipy."""

_MOST_POINTS = 30_000
"""Boxes of more points are left to HiGHS."""

_NEAR = 1e-6
"""Within this share of its terms a row holds, and an objective is the same."""

_ALMOST = 1e-11
"""A bound that misses a whole number by this share is one that rounding has moved."""


# --- drawing ---------------------------------------------------------------------------------------------------------


def draw(rng: Rng) -> Drawn:
    """One to three blocks of up to four variables, up to two variables of no block, one or two linking rows."""
    door = str(rng.choice([DANTZIG_WOLFE, BENDERS, COMPLETE, PYOMO], p=[0.6, 0.17, 0.17, 0.06]))
    style = str(rng.choice(list(_BLOCKS))) if door != BENDERS else "any"
    blocks = int(rng.integers(1, 4))
    size, matrix, low, high = _BLOCKS[style](rng)
    equal = bool(blocks > 1 and rng.random() < 0.35)
    statics = int(rng.integers(1, 4) if door == BENDERS else rng.integers(0, 3))
    links = int(rng.integers(1, 3)) if blocks > 1 or statics else int(rng.integers(0, 2))
    integer = _kinds(rng, door, style, size)
    lower, upper = _bounds(rng, style, integer)
    parts = []
    for k in range(blocks):
        if k == 0 or not equal:
            costs = rng.integers(-6, 7, size).astype(float)
            coefficients = rng.integers(0 if rng.random() < 0.5 else -2, 3, (links, size)).astype(float)
            if k and style == "any" and rng.random() < 0.5:
                _, matrix, low, high = _any_rows(rng, size)
        parts.append((costs, coefficients, matrix, low, high))
    arrays = _joined(parts, statics, rng, lower, upper, integer, links, door)
    if rng.random() < 0.8:
        _admit_a_point(rng, arrays, style not in _FIXED, size if equal else 0)
    width = len(arrays["costs"])
    whole = arrays["integer"] > 0.0
    arrays["outward"] = _outward(rng, width, whole, arrays["lower"] > arrays["upper"])
    arrays["units"] = _units(rng, arrays["block"], whole, equal)
    arrays["row_scales"] = 10.0 ** rng.choice([0, 0, 0, -3, 3], len(arrays["low"]))
    if door == BENDERS and rng.random() < 0.3:
        arrays["costs"] *= rng.choice([0.002, 0.05, 1.0, 30.0, 1200.0], width)
    if rng.random() < 0.08:
        k = int(rng.integers(width))
        arrays["costs"][k] *= 10.0 ** int(rng.integers(4, 9))
    settings = {
        "door": door,
        "maximize": bool(rng.random() < 0.5),
        "aggregate": bool(rng.random() < 0.7),
        "recognize": bool(rng.random() < 0.7),
        "zero": bool(rng.random() < 0.2),
    }
    constant = float(rng.integers(-5, 6)) if rng.random() < 0.3 else 0.0
    return Drawn(NAME, arrays, draw_scale(rng) if rng.random() < 0.3 else 1.0, (constant,), settings)


_Rows = tuple[int, Floats, Floats, Floats]
"""How many variables a block has, its matrix, and the sides of its rows."""


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
    """A unit from the first of four vertices to the last, over five arcs."""
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
    """Two periods: made, kept and ready in each; what is made in a period needs it ready."""
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
"""Rows of a block by what it may be recognized as."""


_FIXED = ("paths", "stable sets", "lots")
"""Rows of blocks that are no such thing at other sides."""


def _kinds(rng: Rng, door: str, style: str, size: int) -> NDArray[np.bool_]:
    if door == BENDERS:
        return np.zeros(size, dtype=np.bool_)
    if style == "lots":
        return np.arange(size) >= 3
    share = float(rng.choice([1.0, 1.0, 0.6, 0.0])) if style in ("any", "more") else 1.0
    return np.asarray(rng.random(size) < share)


def _bounds(rng: Rng, style: str, integer: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Zero to a few as a rule; open ends in a quarter of models, and boxes around zero."""
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
    if rng.random() < 0.02 and integer.any():  # an integer variable without any value
        k = int(np.flatnonzero(integer)[0])
        lower[k] = 1.0 if not math.isfinite(lower[k]) else lower[k]
        upper[k] = lower[k] - 1.0  # stated as a fractional interval
    return lower, upper


def _joined(
    parts: list[tuple[Floats, Floats, Floats, Floats, Floats]],
    statics: int,
    rng: Rng,
    lower: Floats,
    upper: Floats,
    integer: NDArray[np.bool_],
    links: int,
    door: str,
) -> dict[str, Floats]:
    """Blocks, the variables of none, and the rows that link them, as one model."""
    blocks, size = len(parts), len(lower)
    width = blocks * size + statics
    rows, low, high = [], [], []
    for k, (_, _, matrix, row_low, row_high) in enumerate(parts):
        for r in range(len(matrix)):
            row = np.zeros(width)
            row[k * size : (k + 1) * size] = matrix[r]
            if door == BENDERS:
                row[blocks * size :] = rng.integers(-2, 3, statics)
            rows.append(row)
            low.append(row_low[r])
            high.append(row_high[r])
    for r in range(links):
        row = np.zeros(width)
        if door != BENDERS:
            for k, (_, coefficients, _, _, _) in enumerate(parts):
                row[k * size : (k + 1) * size] = coefficients[r]
        row[blocks * size :] = rng.integers(-2, 3, statics)
        side, kind = float(rng.integers(-1, 2 * blocks + 2)), rng.random()
        rows.append(row)
        low.append(side if kind < 0.55 else -np.inf)
        high.append(side if kind > 0.4 else np.inf)
    static_integer = rng.random(statics) < (0.8 if door == BENDERS else 0.5)
    static_lower = rng.integers(-2, 1, statics).astype(float)
    static_upper = static_lower + rng.integers(1, 5, statics)
    if door != BENDERS:
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
    """Move sides of rows, those of blocks too if ``own``, so that a random point satisfies them.

    The point is the same in each block of ``equal`` variables, if there are such.
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


def _outward(rng: Rng, width: int, whole: NDArray[np.bool_], empty: NDArray[np.bool_]) -> Floats:
    """By how much stated bounds of integer variables lie outside of their integral ones; both ends, shape (2, width).

    A negative one lies inside, by rounding.
    """
    outward = np.zeros((2, width))
    if rng.random() < 0.6:
        share = rng.choice([0.0, 0.1, 0.5, 0.9, -_ALMOST], (2, width))
        outward[:, whole] = share[:, whole]
    outward[0, empty], outward[1, empty] = 0.7, 0.6  # an interval of 0.3 without an integer
    return outward


def _units(rng: Rng, block: Floats, whole: NDArray[np.bool_], equal: bool) -> Floats:
    """What continuous variables are multiplied by: drawn for those of no block apart from those of blocks."""
    units = np.ones(len(block))
    if rng.random() < 0.25:
        for k in {-1.0, 0.0} if equal else set(block.tolist()):
            mine = block >= 0.0 if equal and k >= 0.0 else block == k
            units[mine & ~whole] = 10.0 ** int(rng.integers(-6, 10)) if rng.random() < 0.6 else 1.0
    return units


# --- judging ---------------------------------------------------------------------------------------------------------


def ask(drawn: Drawn) -> tuple[Truths, Said] | Failure:
    """Return the truth and what is said, mirrored where costs are minimised; a failure where their kinds differ."""
    s = 1.0 if drawn.settings["maximize"] else -1.0
    best, point = truth_of(drawn.arrays, drawn.settings["maximize"])
    if math.isnan(best):
        return UNKNOWN
    constant = drawn.scale * _constant(drawn, best)
    stated = _stated(drawn, constant)
    if stated is None:
        return UNKNOWN
    termination, objective, bound, x = stated
    no_kind = termination is Termination.UNBOUNDED_OR_INFEASIBLE
    if math.isinf(best) and no_kind:
        return _RIGHT
    if (termination is Termination.UNBOUNDED) != (best == math.inf) or no_kind:
        fault = Fault.WRONG_PROOF if termination.is_proof else Fault.FALSE_ALARM
        return Failure(fault, f"{termination.name}, where the best objective is {best:g}")
    if best == math.inf:
        return _RIGHT
    costs = np.abs(drawn.arrays["costs"])
    used = costs[costs > 0.0]
    size = float(np.median(used)) if len(used) else 1.0
    if point is not None:
        size = max(size, float((costs * np.abs(point)).max(initial=0.0)), float(np.abs(drawn.constants).max()))
    worth = -np.inf if x is None else s * (drawn.scale * _worth(drawn.arrays, x) + constant)
    truths = Truths(
        np.array([drawn.scale * best + s * constant]), drawn.scale * size, np.array([s * constant]), 5.0 * _NEAR
    )
    return truths, one(s * objective, s * bound, worth, termination.is_proof, termination.name)


_RIGHT = Truths(np.zeros(1), 1.0, np.zeros(1)), one(0.0, 0.0, 0.0, True)
"""A model without a best objective, of which that was said."""


def _constant(drawn: Drawn, best: float) -> float:
    """What is added to all objectives: in some models, what makes the optimum zero."""
    if drawn.settings["zero"] and math.isfinite(best):
        return -best if drawn.settings["maximize"] else best
    return float(sum(drawn.constants))


def _stated(drawn: Drawn, constant: float) -> tuple[Termination, float, float, Floats | None] | None:
    """How the run ended, its objective and bound, and its answer; None where the model is refused with good reason."""
    model, settings = model_of(drawn, constant), drawn.settings
    if settings["door"] == COMPLETE:
        found = solve_complete(model, _SECONDS)
        ended = {
            LPStatus.OPTIMAL: Termination.OPTIMAL,
            LPStatus.INFEASIBLE: Termination.INFEASIBLE,
            LPStatus.UNBOUNDED: Termination.UNBOUNDED_OR_INFEASIBLE,
        }.get(found.status, Termination.TIME_LIMIT)
        values = None if found.values is None or ended is not Termination.OPTIMAL else found.values
        if values is not None:
            order = [int(variable.local_name[1:]) for variable in free_variables(model)[2]]
            values = values[np.argsort(order)] / drawn.arrays["units"]
        return ended, found.objective, found.bound, values
    how = {"aggregate": settings["aggregate"], "recognize": settings["recognize"]}
    try:
        if settings["door"] == PYOMO:
            return _by_pyomo(drawn, model, how)
        method = "benders" if settings["door"] == BENDERS else "dantzig-wolfe"
        problem = decompose(model, method=method, **how)  # type: ignore[call-overload]
    except InputError as error:
        if _may_be_refused(drawn, str(error)):
            return None
        raise
    result = solve(problem, stop=TimeLimit(_SECONDS))
    values = None if result.answer is None else _values(drawn, model)
    return result.termination, result.objective, result.dual_bound, values


def _may_be_refused(drawn: Drawn, words: str) -> bool:
    """Whether a model is none of those that a door is for."""
    if "cost of" in words and "is unbounded" in words:
        return (
            drawn.settings["door"] == BENDERS and not np.isfinite(drawn.arrays["upper"] - drawn.arrays["lower"]).all()
        )
    return ("no block" in words or "first stage" in words) and len(set(drawn.arrays["block"].tolist())) < 2


def _by_pyomo(drawn: Drawn, model: Any, how: Mapping[str, bool]) -> tuple[Termination, float, float, Floats | None]:
    solver = pyo.SolverFactory("colgen")
    found = solver.solve(model, timelimit=_SECONDS, options=dict(how))
    condition = found.solver.termination_condition
    ended = {
        pyo.TerminationCondition.optimal: Termination.OPTIMAL,
        pyo.TerminationCondition.infeasible: Termination.INFEASIBLE,
        pyo.TerminationCondition.unbounded: Termination.UNBOUNDED,
        pyo.TerminationCondition.infeasibleOrUnbounded: Termination.UNBOUNDED_OR_INFEASIBLE,
    }.get(condition, Termination.TIME_LIMIT)
    bounds = float(found.problem.lower_bound), float(found.problem.upper_bound)
    bound, objective = bounds[::-1] if drawn.settings["maximize"] else bounds
    return ended, objective, bound, _values(drawn, model) if math.isfinite(objective) else None


# --- the model -------------------------------------------------------------------------------------------------------


def model_of(drawn: Drawn, constant: float) -> pyo.ConcreteModel:
    """As a user would state it: each block a ``pyo.Block``, at other units, with bounds that may be fractional."""
    arrays = drawn.arrays
    m = pyo.ConcreteModel()
    m.b = pyo.Block(sorted({int(k) for k in arrays["block"] if k >= 0}))
    units, scales = drawn.arrays["units"], arrays["row_scales"]
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
    costs = drawn.scale * arrays["costs"] / units
    m.total = pyo.Objective(
        expr=pyo.quicksum(float(c) * v for c, v in zip(costs, x, strict=True)) + constant,
        sense=pyo.maximize if drawn.settings["maximize"] else pyo.minimize,
    )
    return m


def _stated_bound(arrays: Mapping[str, Floats], name: str, units: Floats) -> Floats:
    """Bounds as the model states them."""
    outward = -arrays["outward"][0] if name == "lower" else arrays["outward"][1]
    bounds = arrays[name]
    near = np.abs(outward) == _ALMOST
    moved = np.where(near, np.where(np.isfinite(bounds), bounds, 0.0) * (1.0 + outward), bounds + outward)
    return np.where(np.isfinite(bounds), moved, bounds) * units


def _values(drawn: Drawn, model: Any) -> Floats:
    """The values that a run has left in the model, in the units of the truth."""
    found = np.zeros(len(drawn.arrays["costs"]))
    for k, block in enumerate(drawn.arrays["block"].astype(int).tolist()):
        home = model if block < 0 else model.b[block]
        value = home.component(f"x{k}").value
        found[k] = math.nan if value is None else value
    return found / drawn.arrays["units"]


def _worth(arrays: Mapping[str, Floats], x: Floats) -> float:
    """What a point is worth by the data alone, without any constant; NaN if it is not feasible."""
    whole = arrays["integer"] > 0.0
    room = 10.0 * _NEAR * np.maximum(np.abs(x), 1.0)
    fits = (np.abs(x - np.rint(x))[whole] <= _NEAR).all()
    fits = fits and (x >= arrays["lower"] - room).all() and (x <= arrays["upper"] + room).all()
    activity, told = arrays["matrix"] @ x, arrays["matrix"].any(axis=1)
    slack = 10.0 * _NEAR * np.maximum(np.abs(arrays["matrix"]) @ np.abs(x), 1.0)
    held = (activity >= arrays["low"] - slack) & (activity <= arrays["high"] + slack)
    if not (fits and (held | ~told).all()):
        return math.nan
    return float(arrays["costs"] @ x)


# --- truth -----------------------------------------------------------------------------------------------------------


def truth_of(arrays: Mapping[str, Floats], maximize: bool) -> tuple[float, Floats | None]:
    """The best objective, as if maximising, and a point that has it.

    -inf if there is no point, inf if none is best; nan where HiGHS does not end.
    """
    whole = arrays["integer"] > 0.0
    lower, upper = arrays["lower"], arrays["upper"]
    if (lower > upper).any():
        return -math.inf, None
    costs = arrays["costs"] if maximize else -arrays["costs"]
    width = upper - lower + 1.0
    if whole.all() and np.isfinite(width).all() and width.prod() <= _MOST_POINTS:
        return _by_points(arrays, costs)
    return _by_highs(arrays, costs)


def _by_points(arrays: Mapping[str, Floats], costs: Floats) -> tuple[float, Floats | None]:
    ends = zip(arrays["lower"].tolist(), arrays["upper"].tolist(), strict=True)
    grids = np.meshgrid(*(np.arange(low, high + 1.0) for low, high in ends), indexing="ij")
    points = np.array([grid.ravel() for grid in grids]).T
    told = arrays["matrix"].any(axis=1)
    activity = points @ arrays["matrix"][told].T
    fits = ((activity >= arrays["low"][told]) & (activity <= arrays["high"][told])).all(axis=1)
    if not fits.any():
        return -math.inf, None
    values = points[fits] @ costs
    return float(values.max()), points[fits][values.argmax()]


def _by_highs(arrays: Mapping[str, Floats], costs: Floats) -> tuple[float, Floats | None]:
    """By a theorem of Meyer (1974): a program of rational data with a point is unbounded if its relaxation is."""
    told = arrays["matrix"].any(axis=1)
    rows = optimize.LinearConstraint(arrays["matrix"][told], arrays["low"][told], arrays["high"][told])
    constraints = rows if told.any() else ()

    def asked(costs: Floats, whole: Floats) -> Any:
        return optimize.milp(
            -costs,
            integrality=whole,
            bounds=optimize.Bounds(arrays["lower"], arrays["upper"]),
            constraints=constraints,
            options={"mip_rel_gap": 0.0, "presolve": False, "time_limit": _TRUTH_SECONDS},
        )

    whole, nothing = arrays["integer"], np.zeros_like(costs)
    if asked(nothing, nothing).status != _OPTIMAL:
        return -math.inf, None
    relaxed = asked(costs, nothing)
    found = asked(costs if relaxed.status == _OPTIMAL else nothing, whole)
    if found.status == _INFEASIBLE:
        return -math.inf, None
    if found.status != _OPTIMAL:
        return math.nan, None
    if relaxed.status != _OPTIMAL:
        return math.inf, None
    x = np.where(whole > 0.0, np.rint(found.x), found.x)
    return -float(found.fun), x


# --- shrinking -------------------------------------------------------------------------------------------------------


def smaller(drawn: Drawn) -> Iterator[Drawn]:
    """One variable or row less; then without what must change nothing; then with one entry less."""
    arrays = drawn.arrays
    width, rows = len(arrays["costs"]), len(arrays["low"])
    for k in range(width if width > 1 else 0):
        less = {name: np.delete(array, k, -1) if name not in _OF_ROWS else array for name, array in arrays.items()}
        if (less["block"] >= 0.0).any():
            yield dataclasses.replace(drawn, arrays=less)
    for r in range(rows):
        less = {name: np.delete(arrays[name], r, 0) for name in (*_OF_ROWS, "matrix")}
        yield dataclasses.replace(drawn, arrays={**arrays, **less})
    for name, plain in (("outward", 0.0), ("units", 1.0), ("row_scales", 1.0), ("integer", 1.0)):
        if (arrays[name] != plain).any():
            yield dataclasses.replace(drawn, arrays={**arrays, name: np.full_like(arrays[name], plain)})
    if drawn.settings["zero"]:
        yield drawn.with_settings(zero=False)
    if drawn.settings["maximize"]:
        yield dataclasses.replace(drawn.with_settings(maximize=False), arrays={**arrays, "costs": -arrays["costs"]})
    for name in ("matrix", "costs", "outward"):
        for k in np.flatnonzero(arrays[name]).tolist():
            array = arrays[name].copy()
            array.flat[k] = 0.0
            yield dataclasses.replace(drawn, arrays={**arrays, name: array})


_OF_ROWS = ("low", "high", "row_scales")
