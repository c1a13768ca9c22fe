import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from scipy.optimize import linprog

from colgen import InputError
from colgen.model.rows import compile_model
from colgen.problems.coreference.instance import CoreferenceInstance, random, random_signs
from colgen.problems.coreference.model import full, master, members, pricing
from colgen.solvers.linear.lp import LinearProgram, LPStatus
from colgen.solvers.linear.mip import solve_mip
from colgen.solvers.linear.program import Program
from tests.problems.coreference.strategies import instances
from tests.twins.coreference import optimum, partitions, subsets, symmetric, together

FORMULATIONS = ["all_link", "set_partitioning"]


def program(f):
    return Program(f.sense.sign < 0, f.matrix, f.costs, f.lower, f.upper, f.row_lower, f.row_upper, f.offset)


def mip(model):
    f = compile_model(model)
    return solve_mip(program(f), f.integer)


def relaxation(model):
    return LinearProgram(program(compile_model(model))).solve()


# --- complete models -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", FORMULATIONS)
@given(instance=instances(least=2))
def test_complete_models_have_the_optimum_of_enumeration(instance, formulation):
    solution = mip(full(instance, formulation))
    assert solution.status is LPStatus.OPTIMAL
    assert solution.objective == pytest.approx(optimum(instance), abs=1e-6)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("instance", [random(7, 0), random(7, 1, positive=0.6), random_signs(7, 0)], ids=str)
def test_seven_mentions(instance, formulation):
    assert mip(full(instance, formulation)).objective == pytest.approx(optimum(instance))


@pytest.mark.parametrize("seed", range(3))
def test_complete_models_agree_where_enumeration_is_too_long(seed):
    instance = random(11, seed)
    objectives = [mip(full(instance, formulation)).objective for formulation in FORMULATIONS]
    assert objectives[0] == pytest.approx(objectives[1])


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_all_link_has_three_rows_per_triple(n):
    f = compile_model(full(random(n, 0)))
    assert f.matrix.shape == (3 * math.comb(n, 3), math.comb(n, 2))
    rows = {key: f.matrix[[r], :].toarray()[0] for r, key in enumerate(f.row_keys)}
    for (_, (i, j, k)), row in rows.items():
        used = {f.column_keys[c][1]: row[c] for c in np.flatnonzero(row)}
        assert used == {(i, j): -1.0, tuple(sorted((i, k))): 1.0, tuple(sorted((j, k))): 1.0}
    assert (f.row_upper == 1.0).all()
    lazy = compile_model(full(random(n, 0), "lazy"))
    assert lazy.matrix.shape[0] == 0
    assert lazy.column_keys == f.column_keys
    assert (lazy.costs == f.costs).all()


def test_a_cluster_is_numbered_by_its_bits():
    assert members(19) == (0, 1, 4)
    assert [members(c) for c in range(1, 8)] == sorted(subsets(3), key=lambda s: sum(2**i for i in s))


def test_too_many_mentions_to_list_all_clusters():
    with pytest.raises(InputError, match="16 mentions, got 17"):
        full(random(17, 0), "set_partitioning")


def test_unknown_formulations_raise():
    with pytest.raises(ValueError, match="formulation must be 'all_link', 'set_partitioning' or 'lazy'"):
        full(random(3, 0), "pairs")


def test_master_has_one_row_per_mention():
    f = master(3)
    assert f.row_keys == (("cover", 0), ("cover", 1), ("cover", 2))
    assert f.row_lower.tolist() == f.row_upper.tolist() == [1, 1, 1]
    assert f.artificial.all()
    assert f.sense.sign == -1


# --- the pricing problem ---------------------------------------------------------------------------------------------


@given(instance=instances())
def test_pricing_finds_the_best_set_of_mentions(instance):
    duals = np.random.default_rng(instance.num_mentions).normal(size=instance.num_mentions)
    sets = [(), *subsets(instance.num_mentions)]
    best = max(instance.objective([s] if s else []) - duals[list(s)].sum() for s in sets)
    assert mip(pricing(instance, duals)).objective == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("duals", [[1.0, 2.0], [[1.0], [2.0], [3.0]], [1.0, 2.0, math.nan]])
def test_pricing_checks_the_shape_of_duals(duals):
    with pytest.raises(InputError, match="each of 3 mentions"):
        pricing(random(3, 0), duals)


@pytest.mark.parametrize("seed", range(20))
def test_relaxation_of_pricing_is_half_integral(seed):
    rng = np.random.default_rng(seed)
    duals = rng.normal(0.5, 0.7, 6)
    doubled = 2.0 * relaxation(pricing(random(6, seed, positive=0.5), duals)).values
    assert doubled == pytest.approx(np.round(doubled), abs=1e-6)


# --- neither matrix is totally unimodular ----------------------------------------------------------------------------


def determinant(matrix):
    """Exact, by Laplace's expansion of an integer matrix."""
    whole = [[int(entry) for entry in row] for row in matrix]
    assert whole == [list(row) for row in matrix]

    def expand(rows):
        if not rows:
            return 1
        minors = ([row[:c] + row[c + 1 :] for row in rows[1:]] for c in range(len(rows)))
        return sum((-1) ** c * rows[0][c] * expand(minor) for c, minor in enumerate(minors))

    return expand(whole)


def submatrix(f, rows, columns):
    r = [f.row_keys.index(key) for key in rows]
    c = [f.column_keys.index(key) for key in columns]
    return f.matrix.toarray()[np.ix_(r, c)].tolist()


def test_matrix_of_pricing_is_not_totally_unimodular():
    f = compile_model(pricing(random(3, 0), [0.0, 0.0, 0.0]))
    square = submatrix(f, [("both", p) for p in ((0, 1), (0, 2), (1, 2))], [("b", i) for i in range(3)])
    assert square == [[-1, -1, 0], [-1, 0, -1], [0, -1, -1]]
    assert determinant(square) == 2


def test_relaxation_of_pricing_exceeds_its_optimum():
    # Non-negative dual values, as in a master with all singletons.
    instance = CoreferenceInstance(symmetric(3, [1, 1, -1]))
    duals = [1.0, 0.0, 0.0]
    relaxed = relaxation(pricing(instance, duals))
    assert relaxed.objective == pytest.approx(0.5)
    assert relaxed.values[:3] == pytest.approx([0.5, 0.5, 0.5])
    assert mip(pricing(instance, duals)).objective == pytest.approx(0.0, abs=1e-9)


def test_matrix_of_pricing_for_two_mentions_is_totally_unimodular():
    matrix = compile_model(pricing(random(2, 0), [0.0, 0.0])).matrix.toarray()
    assert matrix.shape == (3, 3)
    for size in (1, 2, 3):
        for rows in itertools.combinations(range(3), size):
            for columns in itertools.combinations(range(3), size):
                assert abs(determinant(matrix[np.ix_(rows, columns)].tolist())) <= 1


def test_matrix_of_set_partitioning_is_not_totally_unimodular():
    f = compile_model(full(random(3, 0), "set_partitioning"))
    square = submatrix(f, [("cover", i) for i in range(3)], [("x", 0b011), ("x", 0b110), ("x", 0b101)])
    assert square == [[1, 0, 1], [1, 1, 0], [0, 1, 1]]
    assert determinant(square) == 2


def pentagon():
    """Score 1 on the sides, -1 on the diagonals."""
    sides = [1.0 if (j - i) % 5 in (1, 4) else -1.0 for i, j in itertools.combinations(range(5), 2)]
    return CoreferenceInstance(symmetric(5, sides))


def test_relaxation_of_set_partitioning_exceeds_its_optimum_on_a_pentagon():
    relaxed = relaxation(full(pentagon(), "set_partitioning"))
    assert relaxed.objective == pytest.approx(2.5)
    halves = {members(c + 1) for c in np.flatnonzero(relaxed.values > 0.25).tolist()}
    assert halves == {(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)}
    assert mip(full(pentagon(), "set_partitioning")).objective == pytest.approx(2.0)
    assert optimum(pentagon()) == 2.0


@pytest.mark.parametrize("n", [2, 3, 4])
def test_relaxation_of_set_partitioning_is_tight_up_to_four_mentions(n):
    """At every vertex, the pair variables are those of a convex combination of clusterings."""
    upper = np.triu_indices(n, 1)
    sets = list(subsets(n))
    covers = np.array([[float(i in s) for s in sets] for i in range(n)])
    pairs = np.array([together([s], n)[upper] for s in sets]).T
    clusterings = np.array([together(p, n)[upper] for p in partitions(n)]).T
    fractional, seen = 0, set()
    for basis in itertools.combinations(range(len(sets)), n):
        square = covers[:, basis]
        if abs(np.linalg.det(square)) < 0.5:  # it is an integer
            continue
        vertex = np.linalg.solve(square, np.ones(n))
        if vertex.min() < -1e-9:
            continue
        fractional += bool((np.abs(vertex - np.round(vertex)) > 1e-9).any())
        hull = np.vstack([clusterings, np.ones(clusterings.shape[1])])
        target = np.append(pairs[:, basis] @ vertex, 1.0)
        if (point := tuple(np.round(target, 9))) in seen:  # a degenerate vertex has many bases
            continue
        seen.add(point)
        found = linprog(np.zeros(hull.shape[1]), A_eq=hull, b_eq=target, method="highs")
        assert found.status == 0, (basis, vertex)
    assert (fractional > 0) == (n > 2)  # fractional vertices exist, but are not better
