"""Random two-stage programs as compact models, and their optima by HiGHS on the extensive form."""

import numpy as np
from scipy import sparse

from colgen import CompactModel
from colgen.core.sense import Sense
from colgen.decomposition.reading.compact_model import MASTER, Names, Partition
from colgen.model.rows import Rows
from colgen.solvers.linear.mip import solve_mip
from colgen.solvers.linear.program import Program


def two_stage(rng):
    """Return a program of two to four scenarios: both stages mixed, infeasible and unbounded ones among them."""
    first, count, second = int(rng.integers(1, 5)), int(rng.integers(2, 5)), int(rng.integers(1, 6))
    own_rows, rows = int(rng.integers(0, 3)), int(rng.integers(1, 4))
    kind = rng.choice(["integer", "mixed", "continuous", "binary"])
    width = second + (rows if rng.random() < 0.8 else 0)  # slacks make every first stage feasible
    columns, height = first + count * width, own_rows + count * rows
    integer, lower, upper = np.zeros(columns, dtype=bool), np.zeros(columns), np.full(columns, np.inf)
    integer[:first] = {"mixed": rng.random(first) < 0.5, "continuous": False}.get(kind, True)
    free = np.inf if kind != "integer" else 9.0
    upper[:first] = 1.0 if kind == "binary" else np.where(rng.random(first) < 0.25, free, rng.integers(1, 6, first))
    lower[:first] = np.where(rng.random(first) < 0.15, -2.0, 0.0)
    costs = np.zeros(columns)
    costs[:first] = rng.integers(-3, 8, first)
    matrix = np.zeros((height, columns))
    matrix[:own_rows, :first] = rng.integers(-2, 4, (own_rows, first))
    row_lower, row_upper = np.full(height, -np.inf), np.full(height, np.inf)
    row_upper[:own_rows] = rng.integers(1, 8, own_rows)
    shares = rng.dirichlet(np.ones(count)) if rng.random() < 0.5 else np.full(count, 1.0 / count)
    technology, recourse = rng.integers(-2, 4, (rows, first)), rng.integers(-1, 5, (rows, second))
    prices = rng.integers(-4 if rng.random() < 0.5 else 0, 9, second)
    is_integer = rng.random(second) < (0.8 if rng.random() < 0.8 else 1.1)
    limits = np.where(rng.random(second) < 0.2, np.inf, rng.integers(1, 5, second))
    for s in range(count):
        mine = slice(own_rows + s * rows, own_rows + (s + 1) * rows)
        begin = first + s * width
        changed = rng.integers(0, 2, (rows, first)) * (rng.random() < 0.3)
        matrix[mine, :first] = technology + changed * (technology != 0)
        matrix[mine, begin : begin + second] = recourse
        row_lower[mine] = rng.integers(0, 10, rows)
        if rng.random() < 0.3:
            row_upper[mine] = row_lower[mine] + rng.integers(0, 9, rows)
        costs[begin : begin + second] = shares[s] * (prices + rng.integers(0, 3, second))
        upper[begin : begin + second], integer[begin : begin + second] = limits, is_integer
        if width > second:
            matrix[mine, begin + second : begin + width] = np.eye(rows)
            costs[begin + second : begin + width] = 20.0 * shares[s]
    sense = Sense.MAXIMIZE if rng.random() < 0.4 else Sense.MINIMIZE
    formulation = Rows.of_arrays(
        sense,
        sparse.csc_array(matrix),
        columns=(tuple(("x", k) for k in range(columns)), sense.sign * costs, lower, upper),
        rows=(tuple(("r", k) for k in range(height)), row_lower, row_upper),
        integer=integer,
        artificial=np.zeros(columns, dtype=bool),
        offset=float(rng.integers(-5, 6)),
    )
    names = Names("plan", tuple(f"x{k}" for k in range(columns)), tuple(f"r{k}" for k in range(height)))
    of_columns = [MASTER] * first + [s for s in range(count) for _ in range(width)]
    of_rows = [MASTER] * own_rows + [s for s in range(count) for _ in range(rows)]
    blocks = Partition(tuple(f"s{k}" for k in range(count)), np.array(of_columns), np.array(of_rows))
    return CompactModel(formulation, names, blocks=blocks)


def optimum(compact):
    """Return the status and objective of the extensive form in HiGHS."""
    f = compact.formulation
    sides = (f.row_lower, f.row_upper, f.offset)
    program = Program(f.sense is Sense.MAXIMIZE, f.matrix, f.costs, f.lower, f.upper, *sides)
    found = solve_mip(program, f.integer)
    return found.status.name, found.objective
