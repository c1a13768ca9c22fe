"""The linear programs: their optimum is the best labelling, and messages are optimal dual values."""

import networkx as nx
import numpy as np
import pyomo.environ as pyo
import pytest

from colgen.core.errors import InputError
from colgen.problems.chain_map import ChainInstance, full, random
from colgen.problems.chain_map.master import ChainMaster
from tests.solvers.small_forests import all_messages
from tests.twins.chain_map import best_scores, draw


def optimum(model):
    results = pyo.SolverFactory("appsi_highs").solve(model)
    pyo.assert_optimal_termination(results)
    return pyo.value(model.score)


@pytest.mark.parametrize("formulation", ["marginals", "forward", "both_ways"])
@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5, 6, 8, 9, 10])
def test_optimum_of_the_program_is_the_best_labelling(seed, formulation):
    instance = draw(seed, forbidden=False)
    assert optimum(full(instance, formulation)) == pytest.approx(best_scores(instance).sum())


@pytest.mark.parametrize("seed", [3, 7, 11, 15, 19])
def test_trees_have_integral_optima(seed):
    instance = draw(seed, forbidden=False)
    assert optimum(full(instance)) == pytest.approx(best_scores(instance).sum())


def test_forbidden_labels_and_pairs_have_no_variables():
    scores, tau = np.array([[0.0, -np.inf], [0.0, 3.0]]), np.array([[1.0, -np.inf], [5.0, 5.0]])
    instance = ChainInstance.from_chain(scores, tau)
    for formulation in ("marginals", "forward", "both_ways"):
        assert optimum(full(instance, formulation)) == pytest.approx(1.0)


def full_messages(instance):
    """Messages over all labels, in both directions."""
    master = ChainMaster(instance, start=instance.num_labels)
    duals = master.solve().duals
    return *all_messages(instance.forest, duals.model, duals.messages), master.values


@pytest.mark.parametrize("seed", range(5))
def test_messages_are_feasible_and_optimal_dual_values_of_one_direction(seed):
    """Program (5): α prices no pair as improving, and N = max α_n + θ_n is the optimum."""
    instance = random(seed, length=5, labels=4, evidence=1.0)
    theta, tau, n = instance.scores, instance.pairwise.tables[0], len(instance.scores)
    up, _, values = full_messages(instance)
    alpha = np.vstack([np.zeros(4), up[: n - 1]])
    for i in range(1, n):
        assert (alpha[i - 1][:, None] + theta[i - 1][:, None] + tau - alpha[i][None, :] <= 1e-9).all()
    assert (alpha[n - 1] + theta[n - 1]).max() == pytest.approx(values[0])
    assert values[0] == pytest.approx(optimum(full(instance, "forward")))


@pytest.mark.parametrize("seed", range(5))
def test_messages_are_feasible_and_optimal_dual_values_of_both_directions(seed):
    """Program (10): 2 R ≤ 0 for all pairs, and half the two ends' maxima sum to the optimum."""
    instance = random(seed, length=5, labels=4, evidence=1.0)
    theta, tau, n = instance.scores, instance.pairwise.tables[0], len(instance.scores)
    up, down, values = full_messages(instance)
    alpha, beta = np.vstack([np.zeros(4), up[: n - 1]]), np.vstack([down[: n - 1], np.zeros(4)])
    for i in range(1, n):
        plus = theta[i - 1] + alpha[i - 1] - beta[i - 1]
        minus = theta[i] - alpha[i] + beta[i]
        assert (2 * tau + plus[:, None] + minus[None, :] <= 1e-9).all()
    ends = ((alpha[n - 1] + theta[n - 1]).max() + (beta[0] + theta[0]).max()) / 2
    assert ends == pytest.approx(values[0])
    assert values[0] == pytest.approx(optimum(full(instance, "both_ways")))


def test_formulations_are_named():
    with pytest.raises(InputError, match="formulation must be one of"):
        full(random(0, labels=2), "edges")
    with pytest.raises(InputError, match="chains"):
        full(ChainInstance.from_tree(nx.star_graph(3), {v: [0.0, 1.0] for v in range(4)}, np.eye(2)), "forward")
