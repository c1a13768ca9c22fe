"""Oracles of linear objectives, against enumeration; batches in one call."""

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest
from scipy.optimize import lsq_linear

from colgen import Rows, Sense
from colgen.core.errors import InputError
from colgen.learning import (
    Chains,
    EnumeratedStructures,
    GraphPaths,
    IntegerPrograms,
    Knapsacks,
    ProblemAnswers,
    best_structure,
    cone_aligned,
    sparsemap,
    spo_plus,
)
from colgen.learning.batches import batch_of, best_counts
from colgen.problems.assignment import Assignment, AssignmentInstance
from tests.learning.small_examples import ARCS, HEADS, TAILS, grid_paths, knapsack, programs
from tests.sweeps import seeds


@pytest.mark.parametrize("seed", seeds(6))
def test_structures_are_best(seed):
    rng = np.random.default_rng(seed)
    for oracle, structures in programs(rng):
        scores = rng.normal(size=(4, len(structures[0])))
        scores[rng.uniform(size=scores.shape) < 0.1] = -np.inf
        listed = EnumeratedStructures(structures)
        scores = np.array([own for own in scores if listed.best(own) is not None])
        (counts,) = best_counts(batch_of(oracle, [scores], workers=2))
        for own, together in zip(scores, counts, strict=True):
            expected = best_structure(listed, [own]).score([own])
            assert best_structure(oracle, [own]).score([own]) == pytest.approx(expected, abs=1e-12)
            assert own[together > 0.0].sum() == pytest.approx(expected, abs=1e-12)
        true = rng.normal(size=len(structures[0]))
        own = rng.normal(size=len(true))
        assert spo_plus(oracle, None, own, true=true).value == pytest.approx(
            spo_plus(listed, None, own, true=true).value, abs=1e-9
        )
        np.testing.assert_allclose(sparsemap(oracle, own).marginals, sparsemap(listed, own).marginals, atol=1e-9)


def test_counts_of_batches_without_a_method_for_batches():
    rng = np.random.default_rng(0)
    oracle, structures = knapsack(rng)
    scores = rng.normal(size=(3, 6))
    one, each = (best_counts(batch_of(o, [scores]))[0] for o in (oracle, EnumeratedStructures(structures)))
    np.testing.assert_array_equal(one, each)

    class Short(Knapsacks):
        def best_of_each(self, scores):
            return super().best_of_each(scores)[:, :2]

    class Careless(Knapsacks):
        def best_of_each(self, scores):
            return np.ones(scores.shape)

    forbidden = np.zeros((4, 6))
    forbidden[2, 3] = -np.inf
    with pytest.raises(
        InputError, match=r"instance 2 of the batch: Careless\.best_of_each returned the forbidden part \(3,"
    ):
        best_counts(batch_of(Careless(oracle.sizes, oracle.capacities), [forbidden], workers=2))
    with pytest.raises(InputError, match=r"Short\.best_of_each"):
        best_counts(batch_of(Short(oracle.sizes, oracle.capacities), [scores]))


def test_wrong_arguments():
    paths = GraphPaths([0, 1, 1], [1, 0, 2], sink=2)
    with pytest.raises(InputError, match="no circuit of positive score"):
        best_structure(paths, [np.array([1.0, 1.0, 0.0])])
    with pytest.raises(InputError, match=r"every structure is forbidden: GraphPaths\.best found none"):
        best_structure(paths, [np.array([1.0, -2.0, -np.inf])])
    with pytest.raises(InputError, match="instance 1 of the batch: every path is forbidden"):
        best_counts(batch_of(paths, [np.array([[1.0, -2.0, 0.0], [1.0, -2.0, -np.inf]])]))
    with pytest.raises(InputError, match=r"scores: expected the shape \(3,\)"):
        best_structure(paths, [np.zeros(2)])
    with pytest.raises(InputError, match="heads"):
        GraphPaths([0, 1], [1], sink=1)
    with pytest.raises(InputError, match="sink: expected an integer of at least 0"):
        GraphPaths([0], [1], sink=-1)
    with pytest.raises(InputError, match="capacities"):
        Knapsacks([[1.0, 2.0]], [1.0, 2.0])
    assert best_structure(GraphPaths([0], [1], sink=0), [np.zeros(1)]).parts[0][0].size == 0


@pytest.mark.parametrize("seed", seeds(8))
def test_cone_aligned_losses_are_cosines_of_projections(seed):
    rng = np.random.default_rng(seed)
    for oracle, structures in programs(rng):
        right = structures[rng.integers(len(structures))]
        scores = rng.normal(size=len(right)) * rng.choice([1.0, 1e-200, 1e200])
        found = cone_aligned(oracle, right, scores)
        unit = scores / np.abs(scores).max()
        normals = oracle.normals(right)
        projection = normals.T @ lsq_linear(normals.T, unit, (0.0, np.inf), method="bvls", tol=1e-14).x
        cosine = unit @ projection / max(np.linalg.norm(unit) * np.linalg.norm(projection), 1e-30)
        assert found.value == pytest.approx(1.0 - cosine, abs=1e-7)
        assert all(normal @ right >= max(normal @ y for y in structures) - 1e-9 for normal in normals)
        if abs(scores).max() < 1e9 and abs(scores).max() > 1e-9:
            along = rng.normal(size=len(right))
            ahead, behind = (cone_aligned(oracle, right, scores + e * along).value for e in (1e-6, -1e-6))
            assert found.gradients[0] @ along == pytest.approx((ahead - behind) / 2e-6, abs=1e-5)


@pytest.mark.parametrize("seed", seeds(8))
def test_scores_are_in_the_cone_only_if_the_path_is_best(seed):
    rng = np.random.default_rng(seed)
    oracle, scores = GraphPaths(TAILS, HEADS, sink=8), rng.normal(size=len(ARCS))
    best = oracle.best(scores)
    for path in grid_paths():
        value = cone_aligned(oracle, path, scores).value
        assert value <= 1e-9 if (path == best).all() else value > 1e-6


def test_what_cone_aligned_refuses():
    oracle = Knapsacks([[1.0, 2.0]], [2.0])
    none = cone_aligned(oracle, np.array([1.0, 0.0]), np.zeros(2))
    assert none.value == 1.0
    assert not none.gradients[0].any()
    assert cone_aligned(oracle, np.array([1.0, 0.0]), [-1.0, 1.0]).value == 1.0  # opposite to the cone
    with pytest.raises(InputError, match="scores: expected finite numbers"):
        cone_aligned(oracle, np.array([1.0, 0.0]), [-np.inf, 1.0])
    with pytest.raises(InputError, match="expected an oracle with a method normals"):
        cone_aligned(Chains(), [0, 1], np.zeros((2, 2)))


def pyomo_knapsack(oracle):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(6), domain=pyo.Binary)
    m.room = pyo.Constraint(
        range(2), rule=lambda m, j: sum(oracle.sizes[j, i] * m.x[i] for i in m.x) <= oracle.capacities[j]
    )
    m.unused = pyo.Objective(expr=m.x[0])
    return m


@pytest.mark.parametrize("seed", seeds(4))
def test_models_are_solved_for_scores(seed):
    rng = np.random.default_rng(seed)
    kernel, sets = knapsack(rng)
    oracle = IntegerPrograms(pyomo_knapsack(kernel))
    assert oracle.variables == tuple(("x", i) for i in range(6))
    for _ in range(3):  # one program in HiGHS, with other bounds and costs
        scores = rng.normal(size=6)
        scores[rng.uniform(size=6) < 0.2] = -np.inf
        expected = best_structure(kernel, [scores]).score([scores])
        assert best_structure(oracle, [scores]).score([scores]) == pytest.approx(expected, abs=1e-9)
    scores, true = rng.normal(size=(2, 6))
    assert spo_plus(oracle, None, scores, true=true).value == pytest.approx(
        spo_plus(kernel, None, scores, true=true).value, abs=1e-9
    )
    right = sets[rng.integers(len(sets))]
    found = cone_aligned(oracle, right, scores)
    assert found.value == pytest.approx(cone_aligned(kernel, right, scores).value, abs=1e-9)


def test_threads_take_turns_with_the_program_of_a_model():
    kernel, _ = knapsack(np.random.default_rng(0))
    scores = np.random.default_rng(1).normal(size=(40, 6))
    oracle = IntegerPrograms(pyomo_knapsack(kernel))
    found, expected = (best_counts(batch_of(o, [scores], workers=4))[0] for o in (oracle, kernel))
    np.testing.assert_array_equal(found, expected)


def test_models_with_other_bounds_and_rows():
    rows = Rows(Sense.MINIMIZE)
    x = rows.add_variables("x", range(2), lower=[1.0, -2.0], upper=[3.0, np.inf])
    rows.add_entries(rows.add_rows("sum", [0], lower=[0.0], upper=[4.0]), x, 1.0)
    oracle = IntegerPrograms(rows)
    assert oracle.best(np.array([-1.0, 1.0])).tolist() == [1.0, 3.0]
    assert oracle.best(np.array([1.0, -np.inf])).tolist() == [3.0, 0.0]
    assert oracle.best(np.array([-np.inf, 1.0])) is None
    assert sorted(oracle.normals(np.array([1.0, 3.0])).tolist()) == [[-1.0, -0.0], [1.0, 1.0]]
    free = Rows(Sense.MINIMIZE)
    free.add_variables("x", range(1))
    with pytest.raises(InputError, match="grows without limit"):
        IntegerPrograms(free).best(np.ones(1))
    with pytest.raises(InputError, match="model: expected a linear Pyomo model or Rows"):
        IntegerPrograms(3)
    with pytest.raises(InputError, match="model: expected one variable or more"):
        IntegerPrograms(Rows(Sense.MINIMIZE))


SIZES, CAPACITIES = np.array([[3, 2, 4, 3], [2, 4, 3, 3], [3, 3, 2, 4]]), np.array([6, 5, 5])


def assignments():
    """All assignments of four tasks to three machines within the capacities, as masks (machines, tasks)."""
    for machines in itertools.product(range(3), repeat=4):
        mask = np.equal.outer(np.arange(3), machines)
        if ((SIZES * mask).sum(axis=1) <= CAPACITIES).all():
            yield mask.astype(float)


def test_problems_of_column_generation_start_from_the_columns_of_the_call_before():
    rng = np.random.default_rng(0)
    oracle = ProblemAnswers(
        lambda scores: Assignment(AssignmentInstance(-scores, SIZES, CAPACITIES)),
        lambda answer: np.equal.outer(np.arange(3), answer),
    )
    listed = EnumeratedStructures(list(assignments()))
    scores = rng.normal(size=(3, 4))
    for _ in range(4):
        expected = best_structure(listed, [scores]).score([scores])
        assert best_structure(oracle, [scores]).score([scores]) == pytest.approx(expected, abs=1e-9)
        scores = scores + 0.1 * rng.normal(size=(3, 4))
    assert any("of the pool are of this instance" in note for note in oracle.result.notes)
    np.testing.assert_allclose(sparsemap(oracle, scores).marginals, sparsemap(listed, scores).marginals, atol=1e-8)


def test_problems_without_answers():
    oracle = ProblemAnswers(
        lambda scores: Assignment(AssignmentInstance(-scores, SIZES + 10, CAPACITIES)), lambda answer: answer
    )
    with pytest.raises(InputError, match="every structure is forbidden"):
        best_structure(oracle, [np.zeros((3, 4))])
