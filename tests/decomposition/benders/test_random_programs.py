"""Random two-stage programs by Benders decomposition, compared with HiGHS on the extensive form."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse

from colgen import CompactModel, InputError, Termination, TimeLimit, decompose, solve
from colgen.decomposition.benders import recourse, stages
from colgen.decomposition.reading.compact_model import MASTER, Partition
from colgen.reporting.compared import solve_complete
from colgen.solvers.linear.lp import LPStatus
from colgen.solvers.linear.named import NamedProgram
from colgen.solvers.linear.program import Program
from tests.amounts import examples


def drawn(seed):
    """Scenarios of one matrix W: free variables, ranges, equations, ties, probability zero, odd scales."""
    rng = np.random.default_rng(seed)
    first, own, rows, top = (int(rng.integers(low, high)) for low, high in ((1, 5), (2, 7), (1, 6), (0, 3)))
    count = int(rng.choice([1, 2, 3, 12, 80]))
    kind = rng.choice(["plain", "degenerate", "scaled", "bare"])
    w = np.where(rng.random((rows, own)) < 0.6, rng.integers(-3, 4, (rows, own)), 0).astype(float)
    if kind != "bare":  # complete recourse by slacks, which the others lack
        w = np.hstack([w, np.eye(rows), -np.eye(rows)])
    own = w.shape[1]
    costs = rng.integers(-1 if kind == "bare" else 0, 9, own).astype(float)
    lower = np.where(rng.random(own) < 0.15, -np.inf, 0.0)
    upper = np.where(rng.random(own) < 0.4, rng.integers(1, 9, own), np.inf)
    costs[~np.isfinite(lower)] = 0.0
    t, types = rng.integers(-2, 3, (rows, first)).astype(float), rng.integers(0, 4, rows)
    shares = rng.random(count)
    shares[rng.random(count) < 0.1] = 0.0
    shares = shares / shares.sum() if shares.sum() else np.full(count, 1.0 / count)
    varies = rng.random() < 0.5
    a = rng.integers(-2, 4, (top, first)).astype(float)
    blocks, sides, all_costs, boxes = [[a] + [np.zeros((top, own))] * count], [], [rng.integers(-4, 9, first)], []
    sides.append((np.full(top, -np.inf), rng.integers(2, 12, top) + rng.choice([0.0, 0.5])))
    for s in range(count):
        here = t + (rng.integers(-1, 2, (rows, first)) if varies else 0.0)
        low = rng.integers(-4, 5 if kind != "degenerate" else 1, rows).astype(float)
        high = np.select([types == 0, types == 1, types == 2], [low, low + 3.0, np.inf], low)
        sides.append((np.where(types == 3, -np.inf, low), high))
        blocks.append([here] + [w if k == s else np.zeros((rows, own)) for k in range(count)])
        all_costs.append(shares[s] * costs)
        boxes.append((lower, upper))
    units = 10.0 ** rng.integers(-5, 6, 3) if kind == "scaled" else np.ones(3)
    matrix = sparse.csc_array(np.block(blocks))
    width = first + count * own
    scale = np.ones(width)
    scale[first:] = units[0]
    integer = np.zeros(width, dtype=bool)
    integer[:first] = rng.random(first) < 0.6
    low, high = (np.concatenate(each) for each in zip(*sides, strict=True))
    box = np.append(rng.integers(-2, 1, first), np.tile(lower, count)) / scale
    ends = np.append(rng.integers(1, 6, first), np.tile(upper, count)) / scale
    of_row = np.append(np.full(top, MASTER), np.repeat(np.arange(count), rows))
    program = Program(
        bool(rng.random() < 0.3),
        sparse.csc_array(matrix @ sparse.diags_array(scale)),
        np.concatenate(all_costs) * scale * units[1],
        box.astype(float),
        ends.astype(float),
        low,
        high,
        float(rng.integers(-3, 4)),
    )
    if program.maximize:
        program = program._replace(costs=-program.costs)
    names = tuple(f"x{k}" for k in range(width)), tuple(f"r{k}" for k in range(len(low)))
    model = CompactModel.of_program(NamedProgram(program, integer, *names), "drawn")
    of_column = np.append(np.full(first, MASTER), np.repeat(np.arange(count), own))
    return dataclasses.replace(model, blocks=Partition(tuple(range(count)), of_column, of_row))


@pytest.mark.parametrize("seed", range(examples(60, 3000)))
def test_optima_are_those_of_highs(seed, monkeypatch):
    if seed % 3 == 1:  # few groups
        monkeypatch.setattr(recourse, "_FEWEST", 1)
        monkeypatch.setattr(recourse, "_MOST", 2)
    if seed % 5 == 2:  # HiGHS solves all stages
        monkeypatch.setattr(stages, "_ROWS", 0)
    model = drawn(seed)
    right = solve_complete(model.formulation)
    problem, message = None, ""
    try:
        problem = decompose(model, method="benders")
    except InputError as error:
        message = str(error)
    if problem is None:
        assert "unbounded" in message
        return
    result = solve(problem, stop=TimeLimit(60))
    if right.status is LPStatus.INFEASIBLE:
        assert result.termination is Termination.INFEASIBLE
    else:
        assert right.status is LPStatus.OPTIMAL
        assert result.is_optimal
        scale = np.abs(model.formulation.costs).max()
        assert result.objective == pytest.approx(right.objective, rel=1e-6, abs=1e-6 * scale)
