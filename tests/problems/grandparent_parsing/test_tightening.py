"""Raised dual values are optimal and improve fewer parts; fixing keeps every better tree."""

import numpy as np
import pytest

from colgen import Sense, solve
from colgen.core.budget import Budget
from colgen.fixing import ReductionContext
from colgen.master.statement import restricted_master
from colgen.problems.grandparent_parsing import GrandparentParsing, Tightening, random
from colgen.problems.grandparent_parsing.branching import TreeArcFixing, Without
from colgen.problems.grandparent_parsing.model import grandparent_triples
from colgen.problems.grandparent_parsing.separation import arc_values
from tests.problems.grandparent_parsing.trees import all_trees


def solved_master(instance):
    """A restricted master over the parts of a tree, solved, and its problem."""
    problem = GrandparentParsing(instance, start="tree")
    master = restricted_master(problem.master())
    master.add([column for answer in problem.warm_start(Budget()).answers for column, _ in answer.columns])
    return problem, master, master.solve()


@pytest.mark.parametrize("seed", range(8))
def test_raised_values_are_optimal(seed):
    problem, master, solved = solved_master(random(6, seed, siblings=seed % 2 == 1))
    raised = Tightening(master).propose(solved.duals)
    reduced = master.objective.reduced_costs(raised)
    open_now = master.table.upper_now > 0.0
    # Complementary slackness and dual feasibility, with the same dual objective.
    assert (reduced[open_now] <= np.where(solved.values >= 1.0 - 1e-7, np.inf, 1e-7)[open_now]).all()
    assert np.abs(reduced[(solved.values > 1e-7) & (solved.values < 1.0 - 1e-7)]).max(initial=0.0) <= 1e-7
    blocks = {block for (block, _), a, b in zip(raised.keys, raised.values, solved.duals.values, strict=True) if a != b}
    assert blocks <= {"one_gp", "before", "after"}
    assert (raised.values >= solved.duals.values).all()
    assert problem.method().stabilization.complementary


def test_raising_saves_scoring():
    scored = {False: 0, True: 0}
    for seed in range(6):
        objectives = set()
        for tighten in scored:
            problem = GrandparentParsing(random(8, seed), start="tree", tighten=tighten)
            objectives.add(round(solve(problem, relaxation=True).objective, 6))
            scored[tighten] += problem.scored["grandparent"]
        assert len(objectives) == 1
    assert scored[True] < scored[False]


@pytest.mark.parametrize("seed", range(6))
def test_the_certificate_contains_the_values_that_prove_the_bound(seed):
    """The reported dual values give the reported bound; only parts that their arc pays for improve."""
    instance = random(6, seed)
    problem = GrandparentParsing(instance, start="parts")
    result = solve(problem, relaxation=True)
    duals = result.certificate.duals
    bound = sum(value for (block, _), value in duals.items() if block in ("one_head", "cut"))
    for m in range(1, 7):
        for h in range(7):
            if h != m:
                gain = problem.standard.arcs[h, m] - duals["one_head", m] + duals.get(("one_gp", (h, m)), 0.0)
                gain += sum(duals.get(("gp_arc", (h, m, c)), 0.0) for c in range(1, 7))
                gain -= sum(
                    value
                    for (block, inside), value in duals.items()
                    if block == "cut" and m in inside and h not in inside
                )
                bound += max(0.0, gain)  # z is at most 1
    assert bound + problem.offset == pytest.approx(result.certificate.bound)
    gains = np.full((7, 7, 7), -np.inf)
    for g, p, c in grandparent_triples(6):
        paid = duals["one_gp", (p, c)] + duals.get(("gp_arc", (g, p, c)), 0.0)
        gains[g, p, c] = instance.grandparent_scores[g, p, c] - paid
    wanted = np.where(gains > 1e-6, gains, 0.0).sum(axis=2)
    for g, p in np.argwhere(wanted).tolist():
        assert g > 0
        assert gains[:, g, p].max() + wanted[g, p] <= 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_fixing_keeps_all_better_trees(seed):
    instance = random(5, seed, strength=1.5)
    problem = GrandparentParsing(instance, start="tree")
    result = solve(problem, relaxation=True)
    master = problem._master
    solved = master.solve()
    duals = problem.method().stabilization.propose(solved.duals)
    target = max(instance.objective(heads) for heads in all_trees(5)) - 0.3
    fixing = TreeArcFixing(master, problem.rule)
    found = fixing.reduce(ReductionContext(Sense.MAXIMIZE, duals, result.dual_bound, target, ()))
    forbidden = {arc for decision in found for arc in decision.arcs}
    assert all(not decision.exhaustive for decision in found)
    for heads in all_trees(5):
        if instance.objective(heads) > target:
            assert not forbidden & {(head, token) for token, head in enumerate(heads, 1)}


def test_branching_splits_at_an_arc():
    for seed in range(40):
        problem = GrandparentParsing(random(6, seed, strength=2.5), start="tree")
        solution = solve(problem, relaxation=True).solution
        children = problem.rule.branch(solution)
        z = arc_values(solution, 6)
        if np.abs(z - z.round()).max() < 1e-6:
            assert children == ()
            continue
        (inside,), (outside,) = sorted(children, key=lambda child: -len(child[0].arcs))
        assert len(outside.arcs) == 1
        ((h, m),) = outside.arcs
        assert inside.arcs == {(other, m) for other in range(7) if other not in (h, m)}
        assert inside != outside
        assert isinstance(inside, Without)
        break
    else:
        raise AssertionError("no relaxation was fractional")
