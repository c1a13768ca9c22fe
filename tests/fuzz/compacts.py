"""Decomposed compact models against all points of their blocks, or HiGHS where variables are continuous.

A model has blocks of the same shape, ``low_k ≤ A_k x_k ≤ high_k``, rows that link them, and a variable of no block.
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
from tests.fuzz.judging import UNKNOWN, Said, Truths, one
from tests.fuzz.scores import Drawn, Rng, draw_scale

NAME = "decompose"

BINARY, WHOLE, CONTINUOUS = range(3)
"""Kinds of variables, the same ones in each block."""

_DOMAINS = (pyo.Binary, pyo.NonNegativeIntegers, pyo.NonNegativeReals)

_SECONDS, _OPEN = 120.0, 5.0
"""A run that takes longer has failed; where blocks have no end, it has only ended."""

_TRUTH_SECONDS = 30.0
"""HiGHS is given so many to find the truth."""

_OUT_OF_TIME = 1
"""Its status in scipy."""

_NEAR = 1e-6
"""Within this share of its size a row holds, and a continuous objective is the same."""


def draw(rng: Rng) -> Drawn:
    """Up to five blocks of up to four variables, all the same in a third of cases; scales of rows and of costs."""
    blocks, size, rows, links = (int(rng.integers(1, most + 1)) for most in (5, 4, 2, 2))
    style = str(rng.choice(["any", "any", "knapsacks", "equalities"]))
    kinds = rng.choice([BINARY, WHOLE, CONTINUOUS], size, p=[0.5, 0.35, 0.15])
    costs = rng.integers(-6, 7, (blocks, size)).astype(float)
    if style == "knapsacks":
        rows, kinds = 1, rng.choice([BINARY, WHOLE], size)
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
    if CONTINUOUS not in kinds and rng.random() < 0.3:  # no best answer has these, unless each has
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
        "whole": bool(rng.random() < 0.5 or style == "knapsacks"),
        "aggregate": bool(rng.random() < 0.7),
        "recognize": bool(rng.random() < 0.7),
    }
    return Drawn(NAME, arrays, draw_scale(rng), (float(rng.integers(-5, 6)),), settings)


def ask(drawn: Drawn) -> tuple[Truths, Said]:
    """Return the truth and what the template says, mirrored where costs are minimised."""
    s = 1.0 if drawn.settings["maximize"] else -1.0
    best = drawn.scale * _best(drawn) + s * drawn.constant
    if math.isnan(best):
        return UNKNOWN
    size = drawn.scale * max(float(np.abs(drawn.arrays["costs"]).max()), 1.0)
    truths = Truths(np.array([best]), size, np.array([s * drawn.constant]))
    if (drawn.arrays["kinds"] == CONTINUOUS).any() or not drawn.settings["whole"]:
        truths = dataclasses.replace(truths, tolerance=5.0 * _NEAR)
    how = {"aggregate": drawn.settings["aggregate"], "recognize": drawn.settings["recognize"]}
    is_open = _is_open(drawn)
    result = solve(decompose(model_of(drawn), by="block", **how), stop=TimeLimit(_OPEN if is_open else _SECONDS))
    said = result.termination
    if (said is Termination.UNBOUNDED) != math.isinf(max(best, 0.0)):
        raise AssertionError(f"{said.name}, where the best objective is {best:g}")
    if said is Termination.UNBOUNDED:
        return dataclasses.replace(truths, best=np.zeros(1)), one(0.0, 0.0, 0.0, True)
    worth = -np.inf if result.answer is None else s * _worth(drawn, result.answer)
    if is_open and said is Termination.TIME_LIMIT:
        # Whole numbers without end may be looked at without end: what is stated has to be true, and need not be best.
        stated = worth if math.isnan(worth) else max(worth, best)
        return truths, one(stated, min(s * result.dual_bound, best), stated, True)
    return truths, one(s * result.objective, s * result.dual_bound, worth, said.is_proof, said.name)


def smaller(drawn: Drawn) -> Iterator[Drawn]:
    """One block, variable or row less; then without scales and the variable of no block."""
    arrays = drawn.arrays
    blocks, rows, size = arrays["matrix"].shape
    for k in range(blocks if blocks > 1 else 0):
        less = {name: np.delete(arrays[name], k, 0) for name in ("costs", "matrix", "low", "high")}
        yield dataclasses.replace(drawn, arrays={**arrays, **less, "linking": np.delete(arrays["linking"], k, 1)})
    for i in range(size if size > 1 else 0):
        less = {name: np.delete(arrays[name], i, -1) for name in ("costs", "kinds", "upper", "matrix", "linking")}
        yield dataclasses.replace(drawn, arrays={**arrays, **less})
    for r in range(rows if rows > 1 else 0):
        less = {name: np.delete(arrays[name], r, 1) for name in ("matrix", "low", "high")}
        yield dataclasses.replace(drawn, arrays={**arrays, **less, "row_scales": np.delete(arrays["row_scales"], r)})
    for name, plain in (("row_scales", 1.0), ("static", 0.0)):
        if (arrays[name] != plain).any():
            yield dataclasses.replace(drawn, arrays={**arrays, name: np.full_like(arrays[name], plain)})
    for name in ("costs", "matrix", "linking"):
        for k in np.flatnonzero(arrays[name]).tolist():
            array = arrays[name].copy()
            array.flat[k] = 0.0
            yield dataclasses.replace(drawn, arrays={**arrays, name: array})


def model_of(drawn: Drawn) -> pyo.ConcreteModel:
    """The compact model: ``x[block, i]``, rows of each block, rows that link them."""
    arrays = drawn.arrays
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
    m.z = pyo.Var(domain=pyo.Integers if drawn.settings["whole"] else pyo.Reals, bounds=(-2, 4))

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
    costs = drawn.scale * arrays["costs"]
    total = pyo.quicksum(float(costs[k, i]) * m.x[k, i] for k in m.block for i in m.i)
    m.total = pyo.Objective(
        expr=total + drawn.scale * static[0] * m.z + drawn.constant,
        sense=pyo.maximize if drawn.settings["maximize"] else pyo.minimize,
    )
    return m


# --- truth -----------------------------------------------------------------------------------------------------------


def _best(drawn: Drawn) -> float:
    """The best objective, as if maximising, at scale 1 and without the constant.

    -inf if there is no answer, inf if none is best; nan where nobody knows: HiGHS may branch on whole numbers without
    end for ever.
    """
    whole = drawn.settings["whole"] and not (drawn.arrays["kinds"] == CONTINUOUS).any()
    return _by_points(drawn) if whole and np.isfinite(drawn.arrays["upper"]).all() else _by_highs(drawn)


def _by_points(drawn: Drawn) -> float:
    """All points of a block after the other: of what they count in the rows that link them, the best each."""
    arrays, s = drawn.arrays, 1.0 if drawn.settings["maximize"] else -1.0
    static = arrays["static"]
    reached: dict[tuple[float, ...], float] = {}
    for z in range(-2, 5):
        key, value = tuple((z * static[1:] + 0.0).tolist()), s * z * float(static[0])
        reached[key] = max(reached.get(key, -math.inf), value)
    points = np.array(list(itertools.product(*(range(int(u) + 1) for u in arrays["upper"].tolist()))), dtype=float)
    for k, matrix in enumerate(arrays["matrix"]):
        activity, told = points @ matrix.T, matrix.any(axis=1)
        fits = ((activity >= arrays["low"][k]) & (activity <= arrays["high"][k]) | ~told).all(axis=1)
        counts = points[fits] @ arrays["linking"][:, k].T
        gains = (s * (points[fits] @ arrays["costs"][k])).tolist()
        grown: dict[tuple[float, ...], float] = {}
        for (before, value), (count, gain) in itertools.product(
            reached.items(), list(zip(counts.tolist(), gains, strict=True))
        ):
            key = tuple(a + b for a, b in zip(before, count, strict=True))
            grown[key] = max(grown.get(key, -math.inf), value + gain)
        reached = grown
    told = arrays["linking"].any(axis=(1, 2)) | (static[1:] != 0.0)
    low, high = (np.where(told, arrays[name], side) for name, side in _LINKED)
    return max(
        (value for key, value in reached.items() if (np.array(key) >= low).all() and (np.array(key) <= high).all()),
        default=-math.inf,
    )


_LINKED = (("linking_low", -np.inf), ("linking_high", np.inf))


def _by_highs(drawn: Drawn) -> float:
    arrays, s = drawn.arrays, 1.0 if drawn.settings["maximize"] else -1.0
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
    told = matrix.any(axis=1)
    constraints = optimize.LinearConstraint(matrix[told], np.array(low)[told], np.array(high)[told])
    whole = np.append(np.tile(arrays["kinds"] != CONTINUOUS, blocks), drawn.settings["whole"])
    upper = np.append(np.tile(arrays["upper"], blocks), 4.0)
    lower = np.append(np.zeros(blocks * size), -2.0)

    def asked(costs: NDArray[np.float64], presolve: bool = True) -> Any:
        return optimize.milp(
            costs,
            integrality=whole.astype(int),
            bounds=optimize.Bounds(lower, upper),
            constraints=constraints if told.any() else (),
            options={"mip_rel_gap": 0.0, "presolve": presolve, "time_limit": _TRUTH_SECONDS},
        )

    costs = -s * np.append(arrays["costs"].ravel(), arrays["static"][0])
    found = asked(costs)
    if found.status == 0:
        return -float(found.fun)
    if found.status == _OUT_OF_TIME:
        return math.nan
    # HiGHS does not always tell what has no answer from what has no best one.
    if np.isfinite(upper).all() or asked(np.zeros_like(costs)).status != 0:
        return -math.inf
    # Its presolving has called infeasible what has an answer and a best one.
    again = asked(costs, presolve=False)
    if again.status == _OUT_OF_TIME:
        return math.nan
    return -float(again.fun) if again.status == 0 else math.inf


def _is_open(drawn: Drawn) -> bool:
    """Whether some block has a ray; rows over its variables alone are its own."""
    arrays = drawn.arrays
    up = np.isinf(arrays["upper"])
    if not up.any():
        return False
    for k, matrix in enumerate(arrays["matrix"]):
        told = matrix.any(axis=1)
        above = matrix[told & np.isfinite(arrays["high"][k])]
        below = -matrix[told & np.isfinite(arrays["low"][k])]
        alone = arrays["linking"].any(axis=2).sum(axis=1) == arrays["linking"][:, k].any(axis=1)
        alone &= arrays["linking"][:, k].any(axis=1) & (arrays["static"][1:] == 0.0)
        over = arrays["linking"][alone & np.isfinite(arrays["linking_high"]), k]
        under = -arrays["linking"][alone & np.isfinite(arrays["linking_low"]), k]
        rows = np.concatenate([above, below, over, under])
        found = optimize.linprog(
            -up.astype(float),
            A_ub=rows if len(rows) else None,
            b_ub=np.zeros(len(rows)) if len(rows) else None,
            bounds=[(0.0, 1.0 if each else 0.0) for each in up.tolist()],
        )
        if found.fun < -0.5:
            return True
    return False


def _worth(drawn: Drawn, answer: Any) -> float:
    """What an answer is worth by the data alone; NaN if it is none."""
    arrays = drawn.arrays
    blocks, _, size = arrays["matrix"].shape
    x = np.array([[answer[f"x[{k},{i}]"] for i in range(size)] for k in range(blocks)])
    z = answer.get("z", 0.0)
    whole = x[:, arrays["kinds"] != CONTINUOUS]
    fits = (whole == np.rint(whole)).all() and (x >= -_NEAR).all() and (x <= arrays["upper"] * (1.0 + _NEAR)).all()
    fits = fits and -2.0 <= z <= 4.0 and (z == round(z) or not drawn.settings["whole"])
    own = np.einsum("kri,ki->kr", arrays["matrix"], x)
    linked = np.einsum("rki,ki->r", arrays["linking"], x) + arrays["static"][1:] * z
    for activity, told, low, high in (
        (own, arrays["matrix"].any(axis=2), arrays["low"], arrays["high"]),
        (
            linked,
            arrays["linking"].any(axis=(1, 2)) | (arrays["static"][1:] != 0.0),
            arrays["linking_low"],
            arrays["linking_high"],
        ),
    ):
        slack = 10.0 * _NEAR
        fits = fits and bool((~told | (activity >= low - slack) & (activity <= high + slack)).all())
    if not fits:
        return math.nan
    return float(drawn.scale * (arrays["costs"] * x).sum() + drawn.scale * arrays["static"][0] * z + drawn.constant)
