"""Fuzz decomposed compact models, compared with all points of their blocks, or HiGHS for continuous variables.

A model has blocks of equal shape, ``low_k ≤ A_k x_k ≤ high_k``, linking rows, and a variable outside the blocks.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray
from scipy import optimize

from colgen import Termination, TimeLimit, decompose, solve
from tests.fuzz.judging import UNKNOWN, Claims, Truths, claims_of, single
from tests.fuzz.scores import Rng, Sample, draw_scale

NAME = "decompose"

BINARY, INTEGER, CONTINUOUS = range(3)
"""Types of variables, equal in each block."""

_DOMAINS = (pyo.Binary, pyo.NonNegativeIntegers, pyo.NonNegativeReals)

_SECONDS, _OPEN = 120.0, 5.0
"""Time limits in seconds: of bounded blocks, where reaching it is a failure, and of unbounded ones."""

_TRUTH_SECONDS = 30.0
"""Time limit in seconds of HiGHS as the reference."""

_OUT_OF_TIME = 1
"""Status of scipy at that limit."""

_NEAR = 1e-6
"""Relative tolerance of rows and of continuous objectives."""


def draw(rng: Rng) -> Sample:
    """Draw up to five blocks of up to four variables, identical in 35% of cases, with scaled rows and costs."""
    blocks, size, rows, links = (int(rng.integers(1, most + 1)) for most in (5, 4, 2, 2))
    style = str(rng.choice(["any", "any", "knapsacks", "equalities"]))
    kinds = rng.choice([BINARY, INTEGER, CONTINUOUS], size, p=[0.5, 0.35, 0.15])
    costs = rng.integers(-6, 7, (blocks, size)).astype(float)
    if style == "knapsacks":
        rows, kinds = 1, rng.choice([BINARY, INTEGER], size)
        matrix = rng.integers(0, 7, (blocks, rows, size)).astype(float)
    else:
        matrix = rng.integers(-2, 6, (blocks, rows, size)).astype(float)
    high = rng.integers(0, 10, (blocks, rows)).astype(float)
    low = np.where(rng.random((blocks, rows)) < (0.8 if style != "equalities" else 0.3), -np.inf, high)
    linking = rng.integers(0, 3, (links, blocks, size)).astype(float)
    if rng.random() < 0.35:
        for array in (costs, matrix, low, high):
            array[:] = array[0]
        linking[:] = linking[:, :1]
    if CONTINUOUS not in kinds and rng.random() < 0.3:  # an optimal solution avoids these if it can
        costs[rng.random(costs.shape) < 0.2] = float(rng.choice([-1.0, 1.0])) * 10.0 ** int(rng.integers(5, 10))
    side = rng.integers(0, 2 * blocks + 1, links).astype(float)
    which = rng.integers(0, 3, links)
    upper = np.where(kinds == BINARY, 1.0, rng.integers(1, 4, size)).astype(float)
    upper[(kinds != BINARY) & (rng.random(size) < 0.05)] = np.inf
    arrays = {
        "costs": costs,
        "kinds": kinds.astype(float),
        "upper": upper,
        "matrix": matrix,
        "low": low,
        "high": high,
        "linking": linking,
        "linking_low": np.where(which > 0, side, -np.inf),
        "linking_high": np.where(which < 2, side, np.inf),
        "static": np.append(rng.integers(-3, 4), rng.integers(-1, 2, links)).astype(float),
        "row_scales": 10.0 ** rng.choice([0, 0, 0, -3, 3], rows + links),
    }
    settings = {
        "maximize": bool(rng.random() < 0.5),
        "integer": bool(rng.random() < 0.5 or style == "knapsacks"),
        "aggregate": bool(rng.random() < 0.7),
        "recognize": bool(rng.random() < 0.7),
    }
    return Sample(NAME, arrays, draw_scale(rng), (float(rng.integers(-5, 6)),), settings)


def evaluate(sample: Sample) -> tuple[Truths, Claims]:
    """Return truth and claims, negated if costs are minimised."""
    s = 1.0 if sample.settings["maximize"] else -1.0
    best = sample.scale * _best(sample) + s * sample.constant
    if math.isnan(best):
        return UNKNOWN
    size = sample.scale * max(float(np.abs(sample.arrays["costs"]).max()), 1.0)
    truths = Truths(np.array([best]), size, np.array([s * sample.constant]))
    if (sample.arrays["kinds"] == CONTINUOUS).any() or not sample.settings["integer"]:
        truths = dataclasses.replace(truths, tolerance=5.0 * _NEAR)
    how = {"aggregate": sample.settings["aggregate"], "recognize": sample.settings["recognize"]}
    is_open = _is_open(sample)
    result = solve(decompose(model_of(sample), by="block", **how), stop=TimeLimit(_OPEN if is_open else _SECONDS))
    ended = result.termination
    if (ended is Termination.UNBOUNDED) != math.isinf(max(best, 0.0)):
        raise AssertionError(f"ended with {ended.name}, expected the best objective {best:g}")
    if ended is Termination.UNBOUNDED:
        return dataclasses.replace(truths, best=np.zeros(1)), single(0.0, 0.0, 0.0, True)
    worth = -np.inf if result.answer is None else s * _worth(sample, result.answer)
    if is_open and ended is Termination.TIME_LIMIT:
        # The search over unbounded integers may be infinite, so only the correctness of the claims is judged.
        claimed = worth if math.isnan(worth) else max(worth, best)
        return truths, single(claimed, min(s * result.dual_bound, best), claimed, True)
    return truths, claims_of(result, worth, s)


def simplify(sample: Sample) -> Iterator[Sample]:
    """Yield samples with one block, variable or row less, then without scales and the variable outside blocks."""
    arrays = sample.arrays
    blocks, rows, size = arrays["matrix"].shape
    for k in range(blocks if blocks > 1 else 0):
        less = {name: np.delete(arrays[name], k, 0) for name in ("costs", "matrix", "low", "high")}
        yield dataclasses.replace(sample, arrays={**arrays, **less, "linking": np.delete(arrays["linking"], k, 1)})
    for i in range(size if size > 1 else 0):
        less = {name: np.delete(arrays[name], i, -1) for name in ("costs", "kinds", "upper", "matrix", "linking")}
        yield dataclasses.replace(sample, arrays={**arrays, **less})
    for r in range(rows if rows > 1 else 0):
        less = {name: np.delete(arrays[name], r, 1) for name in ("matrix", "low", "high")}
        yield dataclasses.replace(sample, arrays={**arrays, **less, "row_scales": np.delete(arrays["row_scales"], r)})
    for name, plain in (("row_scales", 1.0), ("static", 0.0)):
        if (arrays[name] != plain).any():
            yield dataclasses.replace(sample, arrays={**arrays, name: np.full_like(arrays[name], plain)})
    for name in ("costs", "matrix", "linking"):
        for k in np.flatnonzero(arrays[name]).tolist():
            array = arrays[name].copy()
            array.flat[k] = 0.0
            yield dataclasses.replace(sample, arrays={**arrays, name: array})


def model_of(sample: Sample) -> pyo.ConcreteModel:
    """Return the compact model: ``x[block, i]``, rows of each block, linking rows."""
    arrays = sample.arrays
    blocks, rows, size = arrays["matrix"].shape
    kinds, upper, scales, static = (arrays[name].tolist() for name in ("kinds", "upper", "row_scales", "static"))
    m = pyo.ConcreteModel()
    m.block = pyo.RangeSet(0, blocks - 1)
    m.i = pyo.RangeSet(0, size - 1)
    m.x = pyo.Var(
        m.block,
        m.i,
        domain=lambda m, k, i: _DOMAINS[int(kinds[i])],
        bounds=lambda m, k, i: (0, None if math.isinf(upper[i]) else upper[i]),
    )
    m.z = pyo.Var(domain=pyo.Integers if sample.settings["integer"] else pyo.Reals, bounds=(-2, 4))

    def row(terms: list[Any], low: float, high: float, scale: float) -> Any:
        terms = [(scale * a) * v for a, v in terms if a]
        if not terms:
            return pyo.Constraint.Skip
        sides = [None if math.isinf(side) else scale * side for side in (low, high)]
        body = pyo.quicksum(terms)
        return body == sides[0] if low == high else pyo.inequality(sides[0], body, sides[1])

    def own(m: Any, k: int, r: int) -> Any:
        terms = [(float(arrays["matrix"][k, r, i]), m.x[k, i]) for i in m.i]
        return row(terms, float(arrays["low"][k, r]), float(arrays["high"][k, r]), scales[r])

    def link(m: Any, r: int) -> Any:
        terms = [(float(arrays["linking"][r, k, i]), m.x[k, i]) for k in m.block for i in m.i]
        terms.append((static[1 + r], m.z))
        return row(terms, float(arrays["linking_low"][r]), float(arrays["linking_high"][r]), scales[rows + r])

    m.own = pyo.Constraint(m.block, range(rows), rule=own)
    m.link = pyo.Constraint(range(len(arrays["linking"])), rule=link)
    costs = sample.scale * arrays["costs"]
    total = pyo.quicksum(float(costs[k, i]) * m.x[k, i] for k in m.block for i in m.i)
    m.total = pyo.Objective(
        expr=total + sample.scale * static[0] * m.z + sample.constant,
        sense=pyo.maximize if sample.settings["maximize"] else pyo.minimize,
    )
    return m


# --- truth -----------------------------------------------------------------------------------------------------------


def _best(sample: Sample) -> float:
    """Return the best objective of the maximisation form, at scale 1 and without the constant.

    -inf if infeasible, inf if unbounded, NaN if unknown because HiGHS may branch on unbounded integers forever.
    """
    integer = sample.settings["integer"] and not (sample.arrays["kinds"] == CONTINUOUS).any()
    return _by_points(sample) if integer and np.isfinite(sample.arrays["upper"]).all() else _by_highs(sample)


def _by_points(sample: Sample) -> float:
    """Enumerate the points block by block, and keep the best value for each activity of the linking rows."""
    arrays, s = sample.arrays, 1.0 if sample.settings["maximize"] else -1.0
    static = arrays["static"]
    reached: dict[tuple[float, ...], float] = {}
    for z in range(-2, 5):
        key, value = tuple((z * static[1:] + 0.0).tolist()), s * z * float(static[0])
        reached[key] = max(reached.get(key, -math.inf), value)
    points = np.array(list(itertools.product(*(range(int(u) + 1) for u in arrays["upper"].tolist()))), dtype=float)
    for k, matrix in enumerate(arrays["matrix"]):
        activity, nonzero = points @ matrix.T, matrix.any(axis=1)
        fits = ((activity >= arrays["low"][k]) & (activity <= arrays["high"][k]) | ~nonzero).all(axis=1)
        counts = points[fits] @ arrays["linking"][:, k].T
        gains = (s * (points[fits] @ arrays["costs"][k])).tolist()
        grown: dict[tuple[float, ...], float] = {}
        for (before, value), (count, gain) in itertools.product(
            reached.items(), list(zip(counts.tolist(), gains, strict=True))
        ):
            key = tuple(a + b for a, b in zip(before, count, strict=True))
            grown[key] = max(grown.get(key, -math.inf), value + gain)
        reached = grown
    nonzero = arrays["linking"].any(axis=(1, 2)) | (static[1:] != 0.0)
    low, high = (np.where(nonzero, arrays[name], side) for name, side in _LINKED)
    return max(
        (value for key, value in reached.items() if (np.array(key) >= low).all() and (np.array(key) <= high).all()),
        default=-math.inf,
    )


_LINKED = (("linking_low", -np.inf), ("linking_high", np.inf))


def _by_highs(sample: Sample) -> float:
    arrays, s = sample.arrays, 1.0 if sample.settings["maximize"] else -1.0
    blocks, rows, size = arrays["matrix"].shape
    matrix, low, high = np.zeros((blocks * rows + len(arrays["linking"]), blocks * size + 1)), [], []
    for k, r in itertools.product(range(blocks), range(rows)):
        matrix[k * rows + r, k * size : (k + 1) * size] = arrays["matrix"][k, r]
        low.append(arrays["low"][k, r])
        high.append(arrays["high"][k, r])
    for r, linking in enumerate(arrays["linking"]):
        matrix[blocks * rows + r] = np.append(linking.ravel(), arrays["static"][1 + r])
        low.append(arrays["linking_low"][r])
        high.append(arrays["linking_high"][r])
    nonzero = matrix.any(axis=1)
    constraints = optimize.LinearConstraint(matrix[nonzero], np.array(low)[nonzero], np.array(high)[nonzero])
    integer = np.append(np.tile(arrays["kinds"] != CONTINUOUS, blocks), sample.settings["integer"])
    upper = np.append(np.tile(arrays["upper"], blocks), 4.0)
    lower = np.append(np.zeros(blocks * size), -2.0)

    def run_highs(costs: NDArray[np.float64], presolve: bool = True) -> Any:
        return optimize.milp(
            costs,
            integrality=integer.astype(int),
            bounds=optimize.Bounds(lower, upper),
            constraints=constraints if nonzero.any() else (),
            options={"mip_rel_gap": 0.0, "presolve": presolve, "time_limit": _TRUTH_SECONDS},
        )

    costs = -s * np.append(arrays["costs"].ravel(), arrays["static"][0])
    solved = run_highs(costs)
    if solved.status == 0:
        return -float(solved.fun)
    if solved.status == _OUT_OF_TIME:
        return math.nan
    # HiGHS does not always distinguish infeasible from unbounded.
    if np.isfinite(upper).all() or run_highs(np.zeros_like(costs)).status != 0:
        return -math.inf
    # HiGHS's presolve has reported feasible bounded models as infeasible.
    again = run_highs(costs, presolve=False)
    if again.status == _OUT_OF_TIME:
        return math.nan
    return -float(again.fun) if again.status == 0 else math.inf


def _is_open(sample: Sample) -> bool:
    """Return whether some block has a ray; linking rows with variables of a single block belong to that block."""
    arrays = sample.arrays
    up = np.isinf(arrays["upper"])
    if not up.any():
        return False
    for k, matrix in enumerate(arrays["matrix"]):
        nonzero = matrix.any(axis=1)
        above = matrix[nonzero & np.isfinite(arrays["high"][k])]
        below = -matrix[nonzero & np.isfinite(arrays["low"][k])]
        alone = arrays["linking"].any(axis=2).sum(axis=1) == arrays["linking"][:, k].any(axis=1)
        alone &= arrays["linking"][:, k].any(axis=1) & (arrays["static"][1:] == 0.0)
        over = arrays["linking"][alone & np.isfinite(arrays["linking_high"]), k]
        under = -arrays["linking"][alone & np.isfinite(arrays["linking_low"]), k]
        rows = np.concatenate([above, below, over, under])
        solved = optimize.linprog(
            -up.astype(float),
            A_ub=rows if len(rows) else None,
            b_ub=np.zeros(len(rows)) if len(rows) else None,
            bounds=[(0.0, 1.0 if each else 0.0) for each in up.tolist()],
        )
        if solved.fun < -0.5:
            return True
    return False


def _worth(sample: Sample, answer: Any) -> float:
    """Return the objective of an answer computed from the data alone; NaN if it is infeasible."""
    arrays = sample.arrays
    blocks, _, size = arrays["matrix"].shape
    x = np.array([[answer[f"x[{k},{i}]"] for i in range(size)] for k in range(blocks)])
    z = answer.get("z", 0.0)
    integer = x[:, arrays["kinds"] != CONTINUOUS]
    fits = (integer == np.rint(integer)).all() and (x >= -_NEAR).all() and (x <= arrays["upper"] * (1.0 + _NEAR)).all()
    fits = fits and -2.0 <= z <= 4.0 and (z == round(z) or not sample.settings["integer"])
    own = np.einsum("kri,ki->kr", arrays["matrix"], x)
    linked = np.einsum("rki,ki->r", arrays["linking"], x) + arrays["static"][1:] * z
    for activity, nonzero, low, high in (
        (own, arrays["matrix"].any(axis=2), arrays["low"], arrays["high"]),
        (
            linked,
            arrays["linking"].any(axis=(1, 2)) | (arrays["static"][1:] != 0.0),
            arrays["linking_low"],
            arrays["linking_high"],
        ),
    ):
        slack = 10.0 * _NEAR
        fits = fits and bool((~nonzero | (activity >= low - slack) & (activity <= high + slack)).all())
    if not fits:
        return math.nan
    return float(sample.scale * (arrays["costs"] * x).sum() + sample.scale * arrays["static"][0] * z + sample.constant)
