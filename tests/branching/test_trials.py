"""Trials of children: their results, and that the master and the run are unchanged afterwards."""

import math

import pytest

from colgen import Method, NodeLimit, OnOriginalVariable, StrongBranching, solve
from colgen.branching.selection import Choice, Chosen
from tests.branching.test_strong_branching import Packing, program, true_optimum


class Looking(Choice):
    """Tries every candidate in every way, and stores the results."""

    def __init__(self):
        self.seen = []

    def choose(self, rule, solution, costs, trials):
        found = rule.candidates(solution)
        assert isinstance(rule, OnOriginalVariable)
        for candidate in found:
            for child in candidate.children:
                tries = trials.linear(child), trials.price(child, 1), trials.price(child)
                self.seen.append(((*trials._node.decisions, *child), trials.objective, trials.gap, tries))
        return Chosen(found[0])


def test_gains_and_bounds_are_those_of_the_children():
    problem, choice = Packing(program(0)), Looking()
    _, optimum = problem.program.solve(integer=True)
    solve(problem, method=Method(choice=choice), stop=NodeLimit(4))
    assert choice.seen
    for decisions, objective, gap, (linear, priced, exact) in choice.seen:
        best = true_optimum(problem, decisions)
        assert linear.bound == math.inf  # no pricing
        for tried in (priced, exact):
            assert tried.bound >= best - 1e-6 or (tried.done and best <= optimum + 1e-6)
        assert exact.done or exact.exact
        if exact.exact and math.isfinite(exact.gain):
            assert objective - exact.gain >= best - 1e-6
            assert linear.gain >= exact.gain - 1e-6  # not all columns are known
        assert gap > 0.0


def test_rounds_of_trials_do_not_change_the_root_bound():
    problem = Packing(program(0))
    plain, strong = solve(problem), solve(problem, method=Method(choice=StrongBranching()))
    assert strong.root_bound == pytest.approx(plain.root_bound)
    assert strong.objective == pytest.approx(plain.objective)
